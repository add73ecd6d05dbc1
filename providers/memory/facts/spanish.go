//nolint:misspell // the words are Spanish
package facts

import "github.com/ragctx/ragctx"

// spanish is the rule table of Spanish. Its patterns are folded: á is a, ñ is n.
var spanish = language{
	code: "es", user: "El usuario", says: "El usuario dice: ", quotes: [2]string{"«", "»"},
	rules: []rule{
		{
			name: "siempre", kind: ragctx.FactInstruction, heads: "siempre nunca debes responde contestame respondeme no",
			standing: true, keep: true, attribute: "instruction",
			re: `(?:siempre|nunca|debes (?:siempre|nunca)|(?:responde|contestame|respondeme) siempre|no (?:uses|` +
				`utilices|pongas|me llames|me hables|incluyas|escribas)(?: nunca| mas)?) {rest}`,
			conf: .84, imp: .9, reason: `says "siempre" or "nunca"`,
			check: not(`mas$|he |habia|me (?:ha|gusta)|quise|supe|fui|voy|es\b|jamas`),
			yes: []string{
				"Siempre responde en español.", "nunca uses mi apellido en los correos, por favor",
				"No uses emojis.",
			}, no: []string{"nunca he estado allí", "siempre me gusta"},
		},
		{
			name: "que me", kind: ragctx.FactInstruction, heads: "quiero prefiero me quisiera necesito",
			re: `(?:quiero|prefiero|me gustaria|quisiera|necesito) que (?:me|siempre|nunca|no|tus|uses|` +
				`respondas|hables|escribas) {rest}`, attribute: "instruction", keep: true, conf: .76, imp: .85,
			reason: "says what the assistant is to do", yes: []string{"Prefiero que me respondas en español."},
			no: []string{"quiero que funcione"},
		},
		{
			name: "a partir de ahora", kind: ragctx.FactInstruction, heads: "a de en cada siempre cuando", standing: true,
			keep: true, attribute: "instruction",
			re: `(?:a partir de (?:ahora|hoy|este momento)|de ahora en adelante|de aqui en adelante|en (?:el ` +
				`)?futuro|en adelante|cada vez que [^,]{3,80}|siempre que [^,]{3,80}|cuando te (?:pida|pregunte|` +
				`mande) [^,]{2,60}),? {rest}`,
			conf: .88, imp: .9, reason: `says "a partir de ahora"`, check: not(`(?:sera|habra|todo|va a|es)\b`),
			yes: []string{"A partir de ahora, tutéame.", "de ahora en adelante usa el sistema métrico"},
			no:  []string{"en el futuro todo será caro"},
		},
		{
			name: "en adelante", kind: ragctx.FactInstruction, heads: "*", has: "partir adelante siempre nunca",
			standing: true, keep: true, attribute: "instruction",
			re: `(?P<v>(?:puedes|podrias|puede|podria) [^,]{0,120}?(?:{adelante}|siempre)\b.*|` +
				`(?:respond[ea]|responde[dm]e|contesta|contestame|habla|hablame|escribe|escribeme|usa|utiliza|evita|pon|ponme|dame|` +
				`muestra|muestrame|cita|explica|explicame|llamame|haz|no [a-z]+s)(?: [^, ]+){0,8}? {adelante}\b.*)`,
			conf: .84, imp: .9, reason: `says "en adelante"`,
			yes: []string{
				"Explícame las cosas con ejemplos de ahora en adelante.", "¿Puedes citar siempre las fuentes?",
				"¿Podrías usar el sistema métrico de ahora en adelante?",
			}, no: []string{"Trabajo en Lugo a partir de ahora", "¿Puedes corregir este texto?"},
		},
		{
			name: "responde", kind: ragctx.FactInstruction,
			heads: "responde respondeme contesta hablame habla escribe llamame usa utiliza prefiero tuteame " +
				"sin", keep: true, attribute: "answers",
			re: `(?:(?:responde|respondeme|contesta|hablame|habla|escribe|escribeme)(?: siempre| solo)? (?:en|` +
				`con|sin)|llamame|usa|utiliza|sin) (?P<v>(?:espanol|ingles|frances|aleman|catalan|castellano|` +
				`emojis?|metric|el sistema|unidades|celsius|frases cortas|un lenguaje|listas|vinetas|tu\b|usted|euros|[a-z]+$).*)`,
			conf: .74, imp: .85, reason: "says how to answer", check: not(`(?:duda|problema|embargo|el siguiente|esto|eso)`),
			yes: []string{"Respóndeme en español.", "llámame Quique", "usa euros en los precios"},
			no:  []string{"sin duda", "¿Puedes responder en español?"},
		},
		{
			name: "nombre", kind: ragctx.FactIdentity, heads: "me mi soy",
			re: `(?:me llamo|mi nombre(?: completo)? es) (?P<v>[^,;:.]{1,50})`, attribute: "name", exclusive: true, profile: true,
			content: "El usuario se llama {v}", conf: .92, imp: .85, reason: "states a name", check: nameLike,
			yes: []string{"Me llamo Lucía.", "hola, mi nombre es Andrés Gil"}, no: []string{"¿Cómo me llamo?"},
		},
		{
			name: "edad", kind: ragctx.FactIdentity, heads: "tengo cumplo cumpli",
			re: `(?:tengo|cumplo|cumpli|acabo de cumplir) (?P<v>\d{1,3}|veint[a-z]+|treinta(?: y [a-z]+)?|` +
				`cuarenta(?: y [a-z]+)?|cincuenta(?: y [a-z]+)?) anos`, attribute: "age", exclusive: true, profile: true,
			conf: .87, imp: .8, reason: "states an age",
			yes: []string{"Tengo 34 años.", "tengo treinta y dos años y vivo sola"}, no: []string{"tengo 3 preguntas"},
		},
		{
			name: "hogar", kind: ragctx.FactIdentity, heads: "vivo vivimos yo nosotros",
			re: `(?:yo |nosotros )?(?:vivo|vivimos|resido|residimos)(?: ahora| actualmente| desde hace [a-z0-9 ` +
				`]+?)* (?P<v>(?:en|cerca de|a las afueras de) .+)`, attribute: "home", exclusive: true,
			profile: true, conf: .88, imp: .85,
			reason: "says where they live", check: not(`en (?:paz|un mundo|una sociedad|el pasado)`),
			yes: []string{"Vivo en Sevilla.", "actualmente vivimos cerca de Bilbao"},
			no:  []string{"Si viviera en Sevilla...", "¿Vivo en Sevilla?"},
		},
		{
			name: "mudanza", kind: ragctx.FactIdentity, heads: "me nos",
			re: `(?:me|nos) (?:he |hemos |acabo de |acabamos de )?(?:mude|mudamos|mudado|mudar|traslade|` +
				`trasladado|trasladamos)(?:me|nos)?(?: hace [a-z0-9 ]+?| recientemente)?(?: de (?P<o>[a-z ` +
				`]{2,30}?))? a {rest}`, attribute: "home", exclusive: true, profile: true,
			conf: .87, imp: .85, reason: "says where they moved", check: isOver,
			yes: []string{"Me mudé a Valencia el mes pasado.", "nos hemos mudado a Lisboa"}, no: []string{"me muero"},
		},
		{
			name: "ya no", kind: ragctx.FactIdentity, heads: "ya yo",
			re: `(?:yo )?ya no (?P<v>(?:vivo|trabajo|uso|como|bebo|fumo|estudio|tengo|vivimos|trabajamos|` +
				`usamos|me gusta|soporto) .+)`, attribute: "past", value: "not {v}", profile: true, conf: .84,
			imp: .78, reason: `says "ya no"`,
			yes: []string{"Ya no vivo en Madrid.", "ya no trabajo en Telefónica"}, no: []string{"ya no funciona"},
		},
		{
			name: "origen", kind: ragctx.FactIdentity, heads: "soy naci vengo yo",
			re: `(?:yo )?(?:soy de|naci en|vengo de|me crie en) {rest}`, attribute: "origin", profile: true,
			conf: .84, imp: .8, reason: "says where they are from",
			check: not(`(?:los que|las que|esos|aquellos|acuerdo|ti\b)`),
			yes:   []string{"Soy de Oaxaca.", "nací en Rosario en 1990"}, no: []string{"soy de los que dudan"},
		},
		{
			name: "trabajo", kind: ragctx.FactIdentity, heads: "trabajo yo estudio doy",
			re: `(?:yo )?(?:trabajo|estudio|doy clases)(?: actualmente| ahora| desde hace [a-z0-9 ]+?)* ` +
				`(?P<v>(?:como|en|para|de|con|desde) .+|(?:derecho|medicina|ingenieria|biologia|fisica|` +
				`historia|arquitectura|psicologia|enfermeria|economia|informatica|filosofia)\b.*)`,
			attribute: "work", profile: true, conf: .85, imp: .8,
			reason: "says what they work or study",
			check:  not(`en (?:ello|esto|eso|un proyecto)|con (?:esto|ello)|de noche`),
			yes: []string{
				"Trabajo como enfermera.", "estudio derecho en Granada",
				"trabajo en una panadería",
			}, no: []string{"trabajo en ello"},
		},
		{
			name: "profesión", kind: ragctx.FactIdentity, heads: "soy yo",
			re: `(?:yo )?soy (?:un |una )?(?P<v>(?:[a-z]*(?:ero|era|ista|ora?|ogo|oga|ico|ica|nte|ador|adora|` +
				`ado|ada)|vegan[oa]|vegetarian[oa]|medic[oa]|madre|padre|alergic[oa]|celiac[oa]|diabetic[oa]|` +
				`zurd[oa]|solter[oa]|viud[oa]|autonom[oa]|mexican[oa]|espanola?|argentin[oa]|chilen[oa]|` +
				`colombian[oa]|peruan[oa]|aleman[a]?|frances[a]?|ingles[a]?|ciega?o?|sord[oa]|intolerante)\b.*)`,
			attribute: "trait", profile: true, conf: .84, imp: .82, reason: "says what they are",
			check: not(`(?:consciente|capaz|bueno|mala?|malo|el|la|yo|nuevo|nueva|primero|primera|fanatic|` +
				`sincer|buena?|cap|honest|manera|mejor|importante|era)\b`),
			yes: []string{"Soy enfermera en un hospital.", "soy vegetariano", "Soy alérgica a los cacahuetes."},
			no:  []string{"soy consciente", "¿Soy vegetariano?"},
		},
		{
			name: "salud", kind: ragctx.FactIdentity, heads: "tengo no estoy padezco sufro yo",
			re: `(?:tengo (?:una? )?(?P<a>(?:alergia|intolerancia|asma|diabetes|migranas|celiaquia|` +
				`hipertension|tdah|ansiedad)\b)|no (?:puedo )?(?:como|comer|bebo|beber|tomo|tomar)|estoy ` +
				`(?P<n>casad[oa]|embarazad[oa]|divorciad[oa]|prometid[oa]|jubilad[oa]|en paro)|padezco|sufro de) ?(?P<v>.*)`,
			attribute: "health", profile: true, conf: .86, imp: .88, reason: "states what they do not bear or are",
			value: "{a} {n} {v}", check: not(`(?:esto|eso|nada|nunca|en serio|decisiones)\b`), keep: true,
			yes: []string{"Tengo alergia a los frutos secos.", "no como carne", "estoy casada con Pablo"},
			no:  []string{"tengo una pregunta", "no como nada"},
		},
		{
			name: "idioma", kind: ragctx.FactIdentity, heads: "hablo estoy mi",
			re: `(?:hablo|estoy aprendiendo|mi lengua materna es el|mi idioma materno es el)(?: un poco de|` +
				` bien)? (?P<v>.*(?:espanol|ingles|frances|aleman|italiano|portugues|catalan|gallego|euskera|` +
				`vasco|chino|japones|arabe|ruso|quechua|guarani|polaco|coreano).*)`,
			attribute: "languages", profile: true, conf: .85, imp: .75, reason: "says which languages they speak",
			yes: []string{"Hablo catalán e inglés."}, no: []string{"¿Hablas catalán?"},
		},
		{
			name: "familia", kind: ragctx.FactRelation, heads: "mi mis nuestro nuestra nuestros",
			re: `(?P<p>(?:mi|mis|nuestr[oa]s?) (?P<a>(?:herman[oa]|hij[oa]|padre|madre|mama|papa|mujer|marido|` +
				`espos[oa]|novi[oa]|pareja|abuel[oa]|ti[oa]|prim[oa]|jef[ea]|companer[oa]|amig[oa]|perr[oa]|` +
				`gat[oa]|veci[a-z]+|sobrin[oa]|suegr[oa]|cunad[oa]|padres|hijos|hermanos|medic[oa]|` +
				`profesora?)(?: mayor| menor| pequen[oa])?))(?:,? (?P<n>[a-z]+),?)?? ` +
				`(?P<v>(?:se llama|se llaman|vive|viven|trabaja|trabajan|es (?:alergic|medic|enfermer|profesor|` +
				`vegan|vegetarian|abogad|ingenier|de|celiac|arquitect|music|cociner)|tiene|cumple|cumplio|` +
				`habla|estudia|toca|juega|odia|prefiere|le gusta|murio|se caso|se caso|nacio|viene|se muda|se mudo) ?.*)`,
			attribute: "{a}", value: "{n} {v}", profile: true, conf: .84, imp: .7,
			reason: "describes a relative or friend", keep: true, check: not(`tiene (?:razon|que|hambre|sueno)`),
			yes: []string{"Mi hermana se llama Elena.", "mi perro se llama Toby", "Mi marido Javier trabaja en " +
				"Renfe"}, no: []string{"mi jefe tiene razón", "mi hermana está cansada"},
		},
		{
			name: "hijos", kind: ragctx.FactRelation, heads: "tengo tenemos",
			re: `(?:tengo|tenemos) (?P<v>(?:una?|dos|tres|cuatro) (?:hij[oa]s?|herman[oa]s?|perr[oa]s?|` +
				`gat[oa]s?|niet[oa]s?|gemel[oa]s?|mellizos|nin[oa]s?|sobrin[oa]s?|caball[oa]s?|loro|` +
				`conej[oa]s?|tortuga)\b.*)`, attribute: "family", profile: true, conf: .85, imp: .75,
			reason: "describes the family", yes: []string{"Tengo dos hijas, Inés y Vega."}, no: []string{"tengo dos dudas"},
		},
		{
			name: "favorito", kind: ragctx.FactPreference, heads: "mi mis",
			re: `(?:mi|mis) (?P<a>[a-z ]{2,40}?) (?:favorit[oa]s?|preferid[oa]s?)(?: ahora| siempre)? (?:es|` +
				`son|ha sido)(?: ahora| siempre)* {rest}`, attribute: "favourite {a}", exclusive: true,
			profile: true, conf: .9, imp: .72, reason: "says what their favourite is",
			yes: []string{"Mi color favorito es el verde.", "mi editor preferido ahora es Helix"},
			no:  []string{"¿Cuál es mi color favorito?"},
		},
		{
			name: "gustos", kind: ragctx.FactPreference, heads: "me no prefiero preferimos odio detesto adoro nos yo soy a",
			re: `(?:(?:a mi )?(?:yo )?(?:no )?(?:me|nos) (?:gustan?|encantan?|apasionan?|fascinan?|` +
				`molestan?|interesan?|chiflan?|flipan?)(?: mucho| mas| nada| bastante| muchisimo)?|(?:yo ` +
				`)?(?:prefiero|preferimos|odio|detesto|adoro|no soporto|no aguanto|amo|no trago)|soy (?:muy ` +
				`)?(?:fan de|aficionad[oa] a)) {rest}`,
			attribute: "opinion of {v}", profile: true, conf: .83, imp: .68,
			reason: "says what they like or dislike",
			check:  not(`(?:esto|eso|este|esa|ese|tu|tus|como|que|la idea|lo|la primera|el segundo|saber|una pizza)\b`),
			yes: []string{
				"Me gusta el café solo.", "prefiero viajar en tren", "no me gustan las multitudes",
				"Odio el cilantro.",
			}, no: []string{"me gusta tu idea", "me gusta eso", "me gustaría una pizza"},
		},
		{
			name: "uso", kind: ragctx.FactPreference, heads: "uso usamos utilizo utilizamos yo nosotros en programo conduzco " +
				"suelo siempre", re: `(?:en (?:el trabajo|casa|mi equipo) )?(?:yo |nosotros )?(?:uso|usamos|` +
				`utilizo|utilizamos|programo en|programamos en|conduzco|suelo)(?: siempre| normalmente)? ` +
				`{rest}`, attribute: "uses", profile: true,
			conf: .74, imp: .64, reason: "says what they use",
			check: not(`(?:este|esto|el siguiente|la siguiente|lo|la funcion|el codigo)\b`),
			yes:   []string{"Uso Neovim en Arch.", "usamos GitLab para todo", "suelo correr por las mañanas"},
			no:    []string{"uso este código"},
		},
		{
			name: "decisión", kind: ragctx.FactDecision, heads: "hemos he decidimos decidi al acordamos la vamos nos elegimos", keep: true,
			re: `(?:(?:hemos|he) (?:decidido|acordado|elegido|optado por|quedado en)|decidimos|decidi|` +
				`acordamos|optamos por|elegimos|al final (?:hemos decidido|decidimos|elegimos|vamos con)|` +
				`la decision(?: final)? es|nos quedamos con|vamos a usar) {rest}`,
			attribute: "decision", conf: .86, imp: .8, reason: "says it is decided",
			yes: []string{"Hemos decidido usar Postgres.", "decidí dejar el trabajo", "al final elegimos la " +
				"cocina azul"}, no: []string{"¿Hemos decidido algo?", "vamos a usar esto"},
			check: not(`(?:esto|eso|este|esta|preguntarte)\b`),
		},
		{
			name: "cambio", kind: ragctx.FactDecision, heads: "hemos he cambiamos cambie migramos pasamos nos me deje dejamos",
			re: `(?:(?:hemos|he) (?:cambiado|migrado|pasado)|cambiamos|cambie|migramos|pasamos|nos cambiamos|` +
				`me cambie|me pase|nos pasamos|deje|dejamos)(?: todo)? (?P<v>(?:de .{2,50}? a|a) .+|(?:de ` +
				`)?(?:fumar|beber|comer|usar)\b.*)`, attribute: "switch",
			conf: .82, imp: .76, reason: "says what they changed",
			yes: []string{"Hemos migrado de Jenkins a GitHub Actions.", "me pasé a Linux", "dejé de fumar"},
			no:  []string{"pasamos a otra cosa"}, check: not(`a (?:otra cosa|otro tema|la siguiente)`),
		},
		{
			name: "plan", kind: ragctx.FactPlan, heads: "voy vamos tengo tenemos viajo viajamos empiezo empezamos me nos " +
				"quiero queremos salgo salimos ire iremos planeo pienso vuelo lanzamos celebramos estare",
			tense: future, keep: true, timed: true,
			re: `(?P<v>(?:voy|vamos|tengo|tenemos|viajo|viajamos|empiezo|empezamos|me (?:[a-z]+o|operan|` +
				`voy)|nos (?:mudamos|casamos|vamos)|quiero|queremos|salgo|salimos|ire|iremos|planeo|pienso|vuelo|` +
				`lanzamos|celebramos|estare|corro) .+)`,
			attribute: "plan", conf: .77, imp: .62, reason: "says what is planned, and when", check: inFuture(`cansad\w|enferm\w`),
			yes: []string{
				"Mañana tengo cita con el dentista.", "la semana que viene nos mudamos a Vigo",
				"El próximo lunes empiezo en Indra",
			}, no: []string{"voy a dormir", "ayer fui al cine"},
		},
		{
			name: "meta", kind: ragctx.FactPlan, heads: "mi nuestro estoy planeo estamos planeamos", tense: future, keep: true,
			re: `(?:(?:mi|nuestro) (?:objetivo|meta|plan|sueno)(?: para [a-z0-9 ]+?)? es|estoy (?:planeando|` +
				`ahorrando para|entrenando para|preparando)|estamos (?:planeando|ahorrando para|esperando|` +
				`preparando)|planeo|planeamos) {rest}`,
			attribute: "plan", conf: .76, imp: .62, reason: "says what is planned",
			yes: []string{"Mi objetivo es correr un maratón.", "estamos planeando un viaje a Perú"}, no: []string{"¿es mi objetivo?"},
		},
		{
			name: "suceso", kind: ragctx.FactEvent, heads: "me nos fui fuimos compre compramos mi nuestro el la tuve tuvimos " +
				"hice murio nacio empece terminamos lanzamos publicamos conoci perdi gane estuve estuvimos hemos " +
				"he se", tense: past, keep: true, timed: true,
			re: `(?P<v>(?:(?:me|nos|se) (?:[a-z]+e|[a-z]+o|[a-z]+mos|[a-z]+on|rompi|cai)|[a-z]{2,}(?:e|i|o|mos|` +
				`aron|ieron)|(?:mi|nuestr[oa]|el|la) [a-z]+ (?:se )?[a-z]+(?:o|eron|aron)|(?:he|hemos) ` +
				`[a-z]+(?:ado|ido|to|cho)) .+|(?:mi|nuestr[oa]) [a-z]+ (?:murio|nacio|se caso).*)`,
			attribute: "event", conf: .74, imp: .55, reason: "tells what happened, and when",
			check: all(inPast, not(`.*\b(?:te pregunte|te dije|intente|pense|dormi mal|estuve cansad\w|tengo|`+
				`puedo|quiero|necesito|voy|como|hago|trabajo|uso|vivo)\b`)),
			yes: []string{
				"Ayer me rompí el brazo.", "El viernes pasado compramos una furgoneta",
				"Mi abuela vendió la casa en marzo.",
			}, no: []string{"ayer dormí mal", "ayer te pregunté algo"},
		},
		{
			name: "fecha", kind: ragctx.FactPlan, heads: "el la mi nuestro nuestra", tense: future, timed: true, keep: true,
			re: `(?P<s>(?:el|la|mi|nuestr[oa]) (?:fecha limite|plazo|entrega|examen|boda|vuelo|cita|reunion|` +
				`lanzamiento|cumpleanos|demo|mudanza|contrato|operacion|viaje|presentacion|concierto|` +
				`entrevista)(?: [a-z ]{2,30}?)?) (?:es|sera|vence|termina|empieza|sale|acaba)(?: el)? {rest}`,
			subject: "{s}", attribute: "deadline", exclusive: true, conf: .84, imp: .7,
			reason: "states when something is due",
			yes:    []string{"La entrega es el 15 de enero.", "mi vuelo sale mañana"}, no: []string{"la reunión fue larga"},
		},
		{
			name: "proyecto", kind: ragctx.FactIdentity, heads: "el la los las nuestro nuestra",
			re: `(?P<s>(?:el|la|los|las|nuestr[oa]s?) (?:servidor|cluster|base de datos|repositorio|repo|api|` +
				`proyecto|rama|entorno|servicio|aplicacion|app|backend|frontend|staging|produccion|web|` +
				`presupuesto|empresa|equipo|scripts?|copias|wifi|impresora|llaves?|documentacion|codigo|` +
				`wiki)(?: (?:de|en|principal)[a-z ]{0,25}?)?)(?P<v> (?:se llaman?|corre|corren|esta en|` +
				`estan en|vive en|escucha en|usa|tiene|es de|es \d|son \d|pertenece|la lleva|lo lleva) .+)`,
			subject: "{s}", attribute: "property", conf: .8, imp: .68, reason: "states a property",
			check: func(m *match) bool { return isSpecific(m.value) },
			yes:   []string{"Nuestro clúster de staging se llama Garza.", "la API escucha en el puerto 8443"},
			no:    []string{"el servidor está caído"},
		},
		{
			name: "responsable", kind: ragctx.FactRelation, heads: "*", has: "responsable encargad mi nuestr",
			re: `(?P<v>[a-z]+(?: [a-z]+)?) es (?:(?:la|el) (?:responsable|encargad[oa]) de (?P<s>.+)|(?:mi|` +
				`nuestr[oa]) (?:nuev[oa] )?(?P<a>jef[ea]|herman[oa]|mujer|marido|novi[oa]|pareja|companer[oa]|` +
				`hij[oa]|medic[oa]|vecin[oa]|amig[oa]|prim[oa]|profesora?))`, attribute: "responsible {a}",
			conf: .84, imp: .7, reason: "names a role or a responsible person", check: properName, value: "{v}",
			yes: []string{"Marta es la responsable de las copias.", "Diego es mi primo"}, no: []string{"Este es mi jefe"},
		},
		{
			name: "recordar", kind: ragctx.FactInstruction, heads: "*", re: `{rest}`, attribute: asksToRemember, conf: .72,
			imp: .85, reason: "asks to remember it", check: askedToRememberIn("es"), standing: true, keep: true,
			yes: []string{"Recuerda que la caja fuerte cierra a las seis."}, no: []string{"Recuerda esto."},
		},
	},
}
