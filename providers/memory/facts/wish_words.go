//nolint:misspell // many words are German, French and Spanish
package facts

import "strings"

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
