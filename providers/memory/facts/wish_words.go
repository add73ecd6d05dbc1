//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"regexp"
	"strings"
)

// wishValues are the values of topics, by word or pair of words. A wish has one value of a topic.
var wishValues = func() map[string]wishWord {
	out := map[string]wishWord{}
	add := func(topic, value, words string) {
		for w := range strings.FieldsSeq(words) {
			out[w] = wishWord{topic, value}
		}
	}
	for value, words := range map[string]string{
		"en": "english englisch anglais ingles", "fr": "french franzosisch francais frances", "de": "german deutsch allemand aleman",
		"es": "spanish spanisch espagnol espanol castellano", "it": "italian italienisch italien italiano",
		"pt": "portuguese portugiesisch portugais portugues", "nl": "dutch niederlandisch neerlandais",
		"pl": "polish polnisch polonais polaco", "ja": "japanese japanisch japonais japones", "sv": "swedish schwedisch suedois sueco",
		"ru": "russian russisch russe ruso", "tr": "turkish turkisch turc turco", "ca": "catalan katalanisch",
		"da": "danish danisch danois", "cy": "welsh walisisch gallois gales", "gl": "galician gallego galicien galicisch",
		"eu": "basque baskisch euskera vasco", "no": "norwegian norwegisch norvegien noruego", "fi": "finnish finnisch finnois finlandes",
		"cs": "czech tschechisch tcheque checo", "el": "greek griechisch grec griego", "uk": "ukrainian ukrainisch ukrainien ucraniano",
		"ar": "arabic arabisch arabe", "zh": "chinese mandarin chinesisch chinois chino", "ko": "korean koreanisch coreen coreano",
		"hi": "hindi", "la": "latein", "ro": "romanian rumanisch roumain rumano", "hu": "hungarian ungarisch hongrois hungaro",
	} {
		add("language", value, words)
	}
	for topic, values := range map[string]map[string]string{
		"length": {
			"short": `short brief briefly concise concisely terse shorter succinct succinctly snappy crisp curt briefer one_liner
				one_liners
				kurz knapp kurze kurzer kurzere kurzen knappe bundig pragnant kurzfassung telegrammstil
				court courte courts courtes bref breve breves brievement concis concise concises succinct succincte
				corto corta cortas cortos escueto escueta conciso concisa concisas sucinto al_grano`,
			"long": `long longer detail details detailed lengthy verbose thorough thoroughly elaborate depth in_depth expand comprehensive
				exhaustive extensive lang lange langer langere ausfuhrlich ausfuhrlicher ausfuhrliche ausfuhrlichere detailliert
				detaillierter
				umfassend grundlich eingehend ausholen detaille detaillee detaillees details longue longues developpe
				developper developpes developpee approfondi approfondie approfondies complet largo larga largas largos detallado detallada
				detalladas detallados detalle detalles extenso extensa extensas extiendete desarrolla enrollate`,
		},
		"tone": {
			"formal": `formal formally professional strict polite siez sieze siezen siezt formlich formell per_sie das_sie sie_zu
				vouvoie vouvoyer vouvoyez
				vouvoiement formel formelle de_usted usted`,
			"casual": `casual informal chatty friendly relaxed duz duze duzen duzt locker lockerer per_du das_du beim_du du_zu sag_du
				ruhig_du tutoie tutoyer
				tutoyez tutoiement informel informelle tutea tuteame tutear tuteo tuteamos de_tu`,
		},
		"candour": {
			"blunt": `blunt bluntly brutal brutally harsh harshly frankly be_direct more_direct sei_direkt sois_direct unfiltered
				sugarcoat sugarcoating sugar_coating schonungslos
				unverblumt klartext knallhart franc franche cash brutale sans_detour sin_rodeos franco crudo`,
			"gentle": `gentle gently gentler kindly kinder tactful tactfully diplomatic diplomatically encouraging sanft sanfter behutsam
				behutsamer schonend schonender rucksichtsvoll diplomatisch doux douce delicat delicatement gentil gentiment menage
				menage_moi
				bienveillant diplomatique suave suavemente amable delicado delicadeza tacto diplomatico`,
		},
		"asking": {
			"ask": `approval confirmation permission confirm go_ahead green_light bestatigung freigabe rucksprache zustimmung erlaubnis
				feu_vert validation autorisation visto_bueno confirmacion permiso aprobacion autorizacion frag_mich frage_mich
				demande_moi demandez_moi preguntame consultame check_with consult ask_me ask_first ask_before`,
			"free": `eigenmachtig selbststandig selbstandig eigenstandig autonomously autonomous your_own own_initiative propre_chef
				sans_demander ta_guise tu_cuenta ohne_ruckfrage ohne_ruckfragen sans_me sin_preguntar without_asking without_checking
				von_dir von_selbst sin_consultar ohne_zu without_confirmation`,
		},
		"units": {
			"metric": "metric metrisch metrische metrique metriques metrico metricas si_units", "imperial": "imperial imperiale imperiaux",
		},
		"units/temperature": {"celsius": "celsius centigrade", "fahrenheit": "fahrenheit", "kelvin": "kelvin"},
		"units/distance": {
			"km": "kilometres kilometers kilometern kilometer km kilometros metres", "miles": "miles meilen millas feet",
		},
		"units/weight": {"gram": "grams grammes gramm gramos", "ounce": "ounces unzen onces onzas cups"},
		"units/volume": {"litre": "litres liters liter litros", "gallon": "gallons gallonen galones"},
		"spelling":     {"british": "british britisch britannique", "american": "american amerikanisch us_spelling uk_spelling americaine"},
		"money": {
			"dollar": "dollar dollars usd dolares", "euro": "euro euros eur", "pound": "pounds sterling gbp pfund livres_sterling libras",
			"franc": "francs swiss_francs franken schweizer_franken chf francos",
			"krona": "kronor kroner kronen", "yen": "yen", "zloty": "zloty",
		},
		"tax":   {"gross": "brutto gross ttc", "net": "netto ht"},
		"clock": {"12": "12_hour 12h 12_h 12_stunden am_pm 12_horas 12_heures", "24": "24_hour 24h 24_h 24_stunden 24_horas 24_heures"},
		"zone": {
			"pacific": "pacific", "eastern": "eastern", "central": "central_time", "utc": "utc gmt", "cet": "cet cest mez mesz",
		},
		"layout": {
			"list": `bullet bullets bulleted stichpunkte stichpunkten stichworten puces vinetas listas_numeradas numbered numbered_lists
				numbered_list nummerierte lista_numerada liste_numerotee numerotees numeradas`,
			"prose": `prose fliesstext texte_suivi texto_seguido texto_corrido flowing_text flowing_paragraphs flowing full_sentences
				full_paragraphs ganze_satze ganzen_satzen phrases_completes frases_completas`,
		},
		"indent": {
			"tabs": "tabs tab tabulations tabulatoren tabuladores", "spaces": "spaces leerzeichen espaces espacios",
		},
		"quotes": {"single": "single_quotes", "double": "double_quotes"},
		"case": {
			"snake": "snake_case snake", "camel": "camelcase camel_case camel", "kebab": "kebab_case kebab",
			"pascal": "pascalcase pascal_case",
		},
		"level": {
			"beginner": `beginner novice layman anfanger laie debutant debutante profane principiante i'm_five im_five`,
			"expert":   "expert advanced experte experten profi experto experta pro",
		},
		"program": {
			"python": "python", "java": "java", "typescript": "typescript", "javascript": "javascript", "rust": "rust", "go": "golang",
			"kotlin": "kotlin", "swift": "swift", "ruby": "ruby", "php": "php", "perl": "perl",
		},
		"form": {
			"first": "first_name first_names vornamen vorname prenom prenoms nombre_de",
			"last":  "last_name last_names surname surnames nachnamen nachname apellido apellidos",
		},
		"person":   {"first": "first_person", "third": "third_person"},
		"citation": {"apa": "apa", "mla": "mla", "chicago": "chicago", "harvard": "harvard", "ieee": "ieee", "vancouver": "vancouver"},
		"at": {
			"start": "at_start start begin beginning anfang fang beginne debut commence inicio principio empieza first zuerst",
			"end":   "end ending ende schluss fin final termina terminer terminar termine last zuletzt hor_auf",
		},
		"frame": {
			"as": "as als comme como", "in": "in en im", "with": "with mit avec con by",
		},
		"verb": {
			"sign":   "sign signing sign_off unterschreib unterschreibe unterschreiben signe signez firma firmar beenden unterzeichne",
			"treat":  "treat behandle behandel traite trata tratame trateme",
			"format": "format formatting formatiere", "run": "run starte lance ejecuta", "gender": "gendern gendere",
		},
	} {
		for value, words := range values {
			add(topic, value, words)
		}
	}
	for topic, names := range map[string]string{
		"packages/js": "npm pnpm yarn bun", "packages/py": "pip uv poetry conda pipenv pixi", "tests/js": "jest vitest mocha jasmine ava",
		"tests/py": "pytest unittest nose", "tests/browser": "playwright cypress selenium puppeteer", "tests/ruby": "rspec minitest",
		"containers": "docker podman nerdctl", "editor": "vim neovim helix emacs vscode nano intellij zed sublime",
		"browser": "firefox chrome brave safari vivaldi chromium", "shell": "bash zsh powershell nushell",
		"search":    "duckduckgo google bing kagi ecosia startpage qwant",
		"forge":     "github gitlab bitbucket gitea codeberg forgejo",
		"styles":    "tailwind bootstrap bulma",
		"bundler":   "webpack vite rollup esbuild parcel turbopack",
		"framework": "react vue svelte angular solidjs",
		"ci":        "jenkins travis circleci buildkite teamcity",
		"infra":     "terraform pulumi opentofu",
		"mailer":    "outlook thunderbird gmail",
		"maps":      "osmand",
	} {
		for w := range strings.FieldsSeq(names) {
			add(topic, w, w)
		}
	}
	return out
}()

// toolTopics are topics that need no object: another package manager, another style of citation.
var toolTopics = wordSet(`packages/js packages/py tests/js tests/py tests/browser tests/ruby containers editor browser shell search forge
	styles bundler framework ci infra mailer citation indent spelling zone clock date closing`)

// concepts maps the stems of words for the same thing or deed, in all languages, to one name.
var concepts = func() map[string]string {
	out := map[string]string{}
	for name, words := range map[string]string{
		"calendar": `calendar calendars appointment appointments meeting meetings slot slots kalender termin termine termins agenda
			calendrier
			rendez-vous reunion reuniones calendario citas`,
		"delete": `delete deleting remove removing erase erasing wipe trash loschen losche loscht geloscht papierkorb supprimer supprime
			supprimes effacer efface corbeille borrar borra borres eliminar elimina papelera`,
		"buy": `buy buying purchase purchases spend spending kaufen kaufe kauf bestellen bestelle acheter achete achat achats commander
			commande comprar compra compras pedir pedido`,
		"merge": `merge merging deploy deploying mergen mergst deployen fusionner fusionne deployer fusionar fusiones desplegar
			despliegues`,
		"source": `source sources citation citations reference references quelle quellen quellenangabe beleg belege fuente fuentes
			referencia referencias`,
		"emoji": "emoji emojis smiley smileys emoticon emoticons emoticono emoticonos",
		"diet":  `diet gluten glutenfrei lactose laktose laktosefrei regime dieta dairy milchfrei vegan veganer vegane vegetarian`,
	} {
		for w := range wordSet(words) {
			out[stem(w)] = "#" + name
		}
	}
	return out
}()

// foodKinds are kinds of food by their words. diets are the kinds of food that a diet excludes.
var (
	foodKinds = func() map[string]string {
		out := map[string]string{}
		for kind, words := range map[string]string{
			"fish": "fish tuna salmon prawns fisch lachs thunfisch poisson thon saumon pescado atun salmon gambas seafood marisco",
			"meat": `meat chicken beef pork steak sausage sausages ham bacon turkey lamb fleisch huhn hahnchen rind schwein wurst schinken
				speck viande poulet boeuf porc jambon saucisse dinde carne pollo ternera cerdo jamon pavo`,
			"dairy": `dairy milk cheese butter yoghurt yogurt cream lactose milch kase joghurt sahne laktose lait fromage beurre yaourt
				creme
				laitages leche queso mantequilla lacteos lactosa nata`,
			"egg":    "egg eggs ei eier oeuf oeufs huevo huevos",
			"gluten": "gluten bread wheat pasta brot weizen nudeln pain ble pates pan trigo",
		} {
			for w := range wordSet(words) {
				out[w] = kind
			}
		}
		return out
	}()
	diets = func() map[string]string {
		out := map[string]string{}
		for left, words := range map[string]string{
			"meat fish dairy egg": "vegan veganer veganerin vegane vegano vegana vegetalien vegetalienne animal",
			"meat fish": `vegetarian veggie vegetarier vegetarierin vegetarisch vegetarien vegetarienne vegetariano
				vegetariana`,
			"meat":   "pescatarian pescetarian pescetarier pescetarierin",
			"dairy":  "laktosefrei milchfrei lactosefree",
			"gluten": "glutenfrei coeliac celiac zoliakie coeliaque celiaco celiaca",
		} {
			for w := range wordSet(words) {
				out[w] = left
			}
		}
		return out
	}()
)

var (
	// told finds facts that have words of a wish. They state an amount, the habit of another person, or something past.
	told = pattern(`^ (?:the|my|our|der|die|das|meine?|unsere?|le|la|mon|ma|el|mi) (?:[a-z]+ ){1,2}(?:is|was|` +
		`ist|war|est|etait|es|era) [0-9]|` +
		`^ (?:mein|meine|my|mon|ma|mi) (?:[a-z]+ )?(?:chef|chefin|boss|kollege|kollegin|colleague|friend|freund|freundin|` +
		`collegue|ami|amie|jefe|jefa|` +
		`companero|companera|amigo|amiga) |` +
		`^ (?:[a-z]+ ){1,4}(?:were|waren|etaient|eran) |` +
		` (?:arrives?|kommen|arrivent|llegan) (?:at|on|um|am|a) `)
	// stated finds the verb of a statement in a phrase on texts or values.
	stated = pattern(` (?:is|are|was|were|arrives?|comes?|gibt|gab|ist|sind|war|waren|kommen|est|sont|etai(?:t|ent)|arrivent|` +
		`es|son|era|eran|hay|llegan) `)
	// listsValues finds values behind a colon.
	listsValues = pattern(`:\s*-?[0-9]+, ?-?[0-9]`)
)

// aroundName are the words of politeness, and of a change, behind a name.
var aroundName = wordSet("please bitte s'il te vous plait por favor from now on ab jetzt sofort desormais ahora en adelante instead lieber")

// titles stand before a name.
var titles = wordSet("mr mrs ms dr prof professor herr frau monsieur madame senor senora don dona")

// wantsName begins a wish with a name in it.
var wantsName = pattern(`^(?:(?:call|address) (?:me|the user) (?:as |by )?|my name is |(?:nenne?|nennt|` +
	`nennen sie) mich (?:bitte |lieber |einfach )?|` +
	`sag |ich heisse |(?:appelle|appelez) moi (?:plutot )?|je m'appelle |llamame |me llamo )`)

// rejects finds a rejection, also in the words of a permission: "you can stop".
var rejects = pattern(` (?:not|never|don't|dont|doesn't|needn't|no|stop|quit|skip|drop|avoid|leave (?:out|` +
	`off)|scrap|scratch|forget|enough with|` +
	`nicht|nie|niemals|kein|keine|keinen|keinem|keiner|weglassen|weg|hor auf|aufhoren|verzichte|spar dir|vermeide|schluss mit|` +
	`pas|plus besoin|ne [a-z]+ plus|jamais|arrete|arretez|evite|evitez|inutile|aucun|aucune|laisse tomber|` +
	`nunca|jamas|nada de|deja de|dejes|evita|ya no|hace falta|quita|omite|tampoco) `)

// lacking finds a rejection in words that also a permission may have: "you may commit without asking".
var lacking = pattern(` (?:without|ohne|sans|sin) `)

// conditional begins the condition of a wish.
var conditional = pattern(` (?:when|whenever|if|unless|because|since|wenn|falls|weil|quand|lorsque|si|` +
	`parce que|cuando|porque) `)

// allows finds a permission.
var allows = pattern(` (?:can|may|welcome|okay|ok|fine|allowed|again|feel free|kannst|darfst|durfen|ruhig|` +
	`wieder|erlaubt|peux|pouvez|` +
	`puedes|puede|vuelve) `)

// restOnly finds a wish about what no other wish is about.
var restOnly = pattern(` (?:else|otherwise|sonst|ansonsten|ubrigen|le reste|sinon|lo demas) `)

// dateForms find the orders of a date's parts: those that begin with the year, with the day, with the month.
var dateForms = [...]func() *regexp.Regexp{
	pattern(` (?:iso|year first|jahr zuerst|(?:yy|yyyy|jj|jjjj|aa|aaaa|ano|jahr|annee) (?:mm|mes|monat|mois) (?:dd|tt|` +
		`jj|dia|tag|jour)) `),
	pattern(` (?:day first|tag zuerst|british dates?(?: order)?|(?:dd|tt|jj|dia|tag|jour) (?:mm|mes|monat|mois) (?:yy|` +
		`yyyy|jj|jjjj|aa|aaaa|ano|jahr|annee)) `),
	pattern(` (?:month first|american dates?(?: order)?|us dates?|(?:mm|mes|monat|mois) (?:dd|tt|jj|dia|tag|` +
		`jour)(?: (?:yy|yyyy|jj|jjjj|aa|aaaa|ano|jahr))?) `),
}

// closing finds the words with which a letter ends, asideOfClosing those behind them.
var (
	closing = pattern(` (?:cheers|(?:kind|best|warm) regards|regards|sincerely|yours|warmly|best wishes|` +
		`(?:mit )?(?:liebe[nm]?|freundliche[nm]?|beste[nm]?|viele[nm]?|herzliche[nm]?|schone[nm]?) gruss?e?n?|gruss?e?|` +
		`hochachtungsvoll|lg|mfg|` +
		`bien a (?:vous|toi)|cordialement|amicalement|sincerement|bises|salutations|` +
		`saludos|atentamente|(?:un )?(?:abrazo|saludo)|cordialmente|besos) `)
	asideOfClosing = pattern(` (?:from|now|please|instead|ab|beenden|unterschreiben|bitte|desormais|a partir|desde|to the) `)
)

// withdrawn finds words that take an earlier wish back.
var withdrawn = pattern(` (?:forget (?:about |what |the |that |my |everything )|never mind|scrap|scratch|` +
	`drop (?:the|that|this|all|my)|no (?:more )?need|no more [a-z]+|no (?:\S+ ){1,2}mas|kein(?:e|en)? [a-z]+ mehr|ne \S+ plus de|` +
	`(?:not|n't|isn't|aren't) (?:necessary|needed|required)|needn't|(?:don't|needn't|not) (?:have|need) to|no longer|any ?more|` +
	`is over|are over|lifted|` +
	`vergiss|nicht mehr notig|nicht langer|nimmer|musst du nicht|brauchst du nicht|brauche ich nicht mehr|kannst du weglassen|` +
	`ist vorbei|aufgehoben|` +
	`laisse tomber|oublie|plus besoin|plus la peine|plus necessaire|inutile|` +
	`olvida|olvidate|dejalo|ya no|no hace falta|no hacen falta) `)

// repoWords stand before or behind the name of a repository or project.
var repoWords = wordSet("repo repository project projekt projet proyecto service app codebase")

// lengthUnit finds a bound of the length of an answer.
var lengthUnit = pattern(` (?:words?|wort|worter|worten|mots|palabras|sentences?|satze?|satzen|phrases|` +
	`frases|lines?|zeilen?|lignes?|` +
	`lineas?|paragraphs?|absatze?|absatzen|paragraphes?|parrafos?|pages?|seiten?|paginas?|characters|zeichen) `)

// small are more numbers in words, by their digits.
var small = map[string]string{
	"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"zwei": "2", "drei": "3", "vier": "4", "funf": "5", "sechs": "6", "deux": "2", "trois": "3", "quatre": "4", "cinq": "5",
	"una": "1", "sola": "1", "dos": "2", "tres": "3", "cuatro": "4", "cinco": "5", "seis": "6",
}

// mannerStems are the stems of the words for a tone or a length, for their other forms: "duzen", "longest".
var mannerStems = func() map[string]wishWord {
	out := map[string]wishWord{}
	several := map[string]bool{}
	for w, x := range wishValues {
		if (x.topic != "tone" && x.topic != "length") || len(stem(w)) < 3 || strings.Contains(w, "_") {
			continue
		}
		if old, ok := out[stem(w)]; ok && old != x {
			several[stem(w)] = true
		}
		out[stem(w)] = x
	}
	for s := range several {
		delete(out, s)
	}
	return out
}()

// plainWish are words that most wishes have, and what stands for the assistant's answers.
var plainWish = wordSet(`give show use make put add include set provide want like need may can you'd feel free
	welcome again enough max maximum
	most least only just ever any anything everything everyone all each from here onwards on now please thanks instead
	rather also strictly address tell
	answer answers reply replies response responses output text texts message messages respond write format formats units unit
	time times style tone number limit stop skip drop avoid leave allowed okay fine time being future going forward
	price prices amount amounts sums quote preis preise betrage prix montants precios importes
	antwort antworten gib zeig zeige verwende nutze nutz nimm benutze setz schreib schreibe schreiben text texte ruhig
	kannst darfst wieder konnen sollten uns podemos pouvons peut nos
	lieber einfach bitte immer ab jetzt kunftig heute hochstens maximal gern lass brauchst musst mehr sag mach mache
	prefererais plait laisse tomber oublie olvida vergiss wanted heute hoy today aujourd'hui compte suisses halte dich weglassen thing
	things stuff business rule rules request sache regel histoire truc regle cosa lo tema once act habit talk
	mind changed uberlegt anders avis idea opinion angeben jede jeder jedes einzelnen
	reponse reponses donne mets mettez utilise utilisez fais fait ecris texte textes veuillez peux tu toi moi chaque maintenant partir
	desormais dorenavant plutot toujours besoin inutile format
	respuesta respuestas pon ponme dame usa utiliza haz escribe texto textos siempre puedes ahora partir adelante mejor favor hoy
	hace falta formato solo cada prefiero prefer prefers prefiere bevorzuge user usar remettre remets`)

// plainStems are the stems of [plainWish].
var plainStems = stems(plainWish)

// wishObject are short words, or words without content elsewhere, that a wish may be about.
var wishObject = wordSet("go plan iva tva mwst")

// dateWords are words for the parts of a date's order.
var dateWords = wordSet("iso yy yyyy jj jjjj aaaa dd mm tt dia mes ano tag monat jahr")
