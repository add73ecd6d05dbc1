package redact

import "strings"

// wordSet returns the set of the words in lists.
func wordSet(lists ...string) map[string]bool {
	set := make(map[string]bool)
	for _, l := range lists {
		for w := range strings.FieldsSeq(l) {
			set[w] = true
		}
	}
	return set
}

var (
	// copulas are verbs before a value.
	copulas = wordSet(`is was are were equals will shall should must be been has becomes remains reads goes isn't wasn't had became
	become turned`,
		`ist sind war lautet lauten heißt heisst lautete wäre wurde wird bleibt müsste sollte dürfte könnte`,
		`es era será son están sido sigue debería podría`, `est était sera reste sont été devrait pourrait`, `é это`)
	// fillers may stand between a copula and the value.
	fillers = wordSet(`now currently actually still just be been set changed updated reset always called simply really
		literally also probably again equal basically apparently obviously as usual follows maybe something like e.g example code
		number spelled spelt out`,
		`jetzt nun aktuell noch derzeit immer geändert gesetzt einfach nach wie vor mal ja übrigens halt seit gestern heute
		früher inzwischen mittlerweile weiterhin immernoch vermutlich wohl nämlich bestimmt bitte`,
		`ahora actualmente siempre todavía antes aún sigue siendo simplemente ser sido cambiada cambiado`,
		`maintenant actuellement toujours encore désormais avant simplement juste donc être été changé`)
	// becomes are words before a new value: "changed to".
	becomes  = wordSet(`to into in pour auf zu a à en por par`)
	changing = wordSet(`set sets setting change changes changed changing update updated reset make made switch switched
		rotate rotated turn turned equal equals`, `geändert gesetzt setze setz ändere ändern gewechselt stelle stell gestellt
		umgestellt zurückgesetzt`,
		`cambié cambia cambiar cambio cambiado cambió puse cambiada`, `changé change changer mis remplacé remplace`)
	pronouns = wordSet(`it that this these those she he they we you i what which who whose someone es das dies er sie ihn ihr
		wir ich man was wer welches ça cela ce il elle on nous vous je tu ils lo eso esto ella él nosotros yo qué cuál qui que`)
	articles = wordSet(`the a an my your his her its our their this that der die das den dem des ein eine einen einem einer
		mein meine meinem meiner dein deine deinem unser unsere unserem sein seine ihr ihre le la les un une mon ma mes ton ta tes son
		sa ses notre votre leur el los las una mi mis tu su sus nuestra nuestro vuestra tú same usual gleiche gleichen übliche
		üblichen`)
	// owners are things and people that have a secret.
	owners = wordSet(`wifi wi-fi wlan admin root user guest account email e-mail mail gmail netflix router server database db
		laptop phone vault disk computer bank work home office login ssh sudo vpn nas test master main other new old default
		current temporary
		temp shared common team family spotify amazon apple google windows system device backup zip screen konto gast rechner handy`)
	prepositions = wordSet(`for to of on at from in with used that which i we you she he they everyone everybody my number
		code value inside behind over there here again itself`,
		`für fürs vom von zum zur des der im beim am an auf bei in nummer meiner meines unserer unseres das den dem die ich wir`,
		`de del para en mi al la el`, `du d pour des à au aux le les sur chez mon ma notre dans`)
	conjunctions = wordSet(`and but or because so if when while until unless then than though although`,
		`und aber oder weil dass wenn falls sodass damit sondern denn`, `y e pero o porque si cuando aunque`,
		`et mais ou parce car quand lorsque donc puis`)
	// stops end a value of plain words.
	stops = wordSet(`for on at in to if when since please so but because just thanks now still again everywhere here there
		till until unless which that i you we it they as from by is was are btw also too right ok okay lol though anyway always`,
		`für auf bei im in am wenn seit bitte aber weil ich du wir sie es das dass und oder ist war gilt geht nicht auch danke
		jetzt noch zum zur beim überall falls als damit sein um`, `para en por si cuando desde pero porque que gracias ahora
		siempre es no y`,
		`pour sur chez dans si quand depuis mais parce car que merci maintenant toujours est et ne je tu il`)
	adverbs = wordSet(`currently now again actually also still usually always`, `jetzt aktuell übrigens bitte`, `ahora`,
		`actuellement`)
	interjections = wordSet(`oh ah well hm hmm uh um sure yes yeah yep ok okay right easy sorry fine haha hey guess think ja
		 klar na naja ach also moment oui ben bah alors euh sí claro pues bueno eh a ver afraid believe`)
	// entering are verbs of typing a secret, using those of choosing one.
	entering = wordSet(`press keyed type typed types typing enter entered enters entering tried try tippe tipp tippte getippt eingetippt
		tape tapé tapez escribe escribí escribo pon ingresa`)
	using = wordSet(`use uses used using set sets pick picked choose chose chosen take took want wanted have had has put
		try tried went go need keep kept made make gave`,
		`nimm nehme nehmen nahm nutze nutzen benutze benutzen verwende verwenden hab habe hatte haben probier probiere setze
		setz gib gebe wähle`,
		`puesto usa uso usé usar usamos pon puse pongo poner tengo prueba puso elegí`, `mets mis met mettre prends pris prend
		utilise utilisé utiliser
		j'utilise j'ai choisi essaie choisis`)
	with = wordSet(`with using mit con avec als como comme per`)
	// asking begin a question for a secret, supposing one for a judgement; proposing stand before a proposal.
	asking    = wordSet(`what what's which wie welches quel cuál cual war es`)
	proposing = wordSet(`of with try about mit de con avec mal maybe perhaps vielleicht how`)
	giving    = wordSet(`has hat tiene make remember save store note add rejects rejected reject refuses refused accepts accept
	denies write give gave gives got get use used try tried enter entered type typed set have took take received
		assigned`,
		`nimm nehme nutze benutze merk merke`, `usa uso recuerda`, `utilise prends retiens note`)
	// accounts are words before the name that goes with a password.
	keeping   = wordSet(`remind store save note remember keep merk merke notiere speichere retiens note recuerda guarda apunta`)
	each      = wordSet(`each every all any both jede jeden jedes alle chaque cada todos`)
	purposes  = wordSet(`for of to für fürs vom von der des zum zur de du del d' pour`)
	negations = wordSet(`not no never n't don't doesn't isn't wasn't won't can't without nicht kein keine keinen nie ohne pas jamais
		aucun aucune sans no nunca ningún ninguna sin`)
	accounts = wordSet(`network ssid netzwerk réseau red user username usr login account acc acct accnt gamertag nickname handle id
		email mail benutzer benutzername
	user-id nutzer nutzername konto
		kennung anmeldename usuario cuenta correo utilisateur identifiant compte uid userid nick ssh root admin`, `connecte-toi
		connexion melde anmelden einloggen entra conéctate inicia
		signin log logged sign`)
	linking = wordSet(`as is als ist como es comme est en de for was`)
	// passwordAdjectives are adjectives of a good password.
	passwordAdjectives = wordSet(`strong enough good safe secure ok okay fine valid too stark genug sicher gut segura buena
		suficientemente bastante assez sûr bon fort`)
	// compounds follow a word for a secret and make another word of it.
	compounds = wordSet(`field fields reset resets policy policies manager managers hash hashes hashing hint hints prompt
		prompts protection protected protect protects rotation rule rules strength length generator file files vault box screen page
		form input inputs check checker mail mails email emails link links expiry expiration change changes requirement requirements
		database dialog toggle column columns entry entries list history recovery security format table reuse sharing book safe based
		auth authentication login logins request requests cushion board store storage settings setting dump cracker guess guesses
		attempt attempts leak leaks breach confirmation update updates text label expired expires flow app tool option options
		parameter argument variable limit limits count size type less problem problems puzzle door question questions questionnaire santa
		sauce ingredient review base holder keeper number service hygiene complexity encryption key keys manager's rate`)

	types = wordSet(`string str text varchar char nvarchar securestring any object var let const option optional none nil
		null`,
		`secretstr secretstring pscredential bool boolean int integer byte bytes`)

	// placeholders stand in place of a value.
	placeholders = wordSet(`password passwd pass pwd passphrase passwort kennwort contraseña secret token key pin code apikey
		api-key api_key api_token your-password changeme change-me change_me value string str text null nil none true false undefined
		unset empty todo tbd n/a na yes no on off default optional required redacted removed hidden masked secure varchar bytes byte
		object any int integer bool boolean securestring pscredential prompt env stdin file keyring vault xxx foo bar user username
		void const let var auto char self this new return await function def func lambda async static public private`)

	// adjectives describe a secret, unless a phrase begins with one: "correct horse battery".
	adjectives = wordSet(`wrong broken incorrect invalid valid correct right bad good weak strong stronger long longer short
		shorter easy hard simple complex safe unsafe secure insecure important necessary mandatory optional empty blank unknown known
		missing present absent available unavailable new old current previous next last first unique random sensitive plain visible
		invisible public private secret confidential ready fine okay ok gone lost different similar identical equal greater smaller
		temporary permanent specific generic static dynamic slow fast flaky down laggy buggy unstable mobile desktop tablet stupid
		silly ridiculous weird odd funny terrible horrible awful great nice cool lame dumb crazy insane strange obvious complicated
		difficult tricky tough sacred worthless useless pointless common standard regular normal usual typical personal legal official
		original final initial local global internal external fresh recent outdated stale dead live active inactive open closed
		readable unreadable guessable memorable trivial clean dirty hot cold big small huge tiny clear unclear full free busy due late
		early online offline ambiguous bent red green grey blue-ish uncommon solid sound poor lousy ancient legacy universal mine
		yours hers ours theirs alphanumeric numeric case-sensitive plaintext plain-text cleartext clear-text vertraulich tabu egal
		dasselbe derselbe dieselbe falsch richtig ungültig gültig geheim sicher unsicher schwach stark leer lang länger kurz kürzer
		alt neu unbekannt bekannt erforderlich notwendig nötig wichtig einfach schwer schwierig kompliziert simpel blöd doof komisch
		lustig fällig schlecht gut besser weg kaputt veraltet anders gleich unlesbar lesbar vierstellig sechsstellig mehrstellig
		fünfstellig achtstellig pflicht privat öffentlich persönlich temporär leicht incorrecta incorrecto inválida inválido válida
		válido correcta correcto débil fuerte segura seguro insegura larga corta nueva nuevo vieja vacía secreta obligatoria
		obligatorio necesaria requerida importante fácil difícil desconocida desconocido misma mismo igual distinta diferente limpio
		limpia ilegible bonito bonita floja flojo complicada sencilla temporal buena bueno mala malo pública privada única propia rara
		ridícula incorrecte invalide valide correcte faible fort forte sûr sûre sécurisé court courte longue nouveau nouvelle ancien
		ancienne vide obligatoire nécessaire facile difficile inconnu inconnue erroné bon bonne mauvais mauvaise identique pareil même
		propre compliqué compliquée ridicule bizarre périmé périmée manquant manquante temporaire privé publique bloqué bloquée refusé
		refusée faux fausse`)
	// predicates describe a secret instead of giving its value, or begin a description.
	predicates = wordSet(`forgot twelve ten eight sixteen done later thanks nobody however though sadly unfortunately luckily
	therefore a an the this that these those it its not no never always only also still very too so such as at in
		on of to for from by with without within under about after before between during until unless if when while because since per
		via and or but nor then than same my your his her our their one two some any all each every both either neither what which who
		whose where how why being been be have has had do does did can could may might must shall should will would way pretty kinda
		kind sort bit quite rather super extremely somewhat case lost there here up out off back down used set sent kept held met
		written read put stolen forgotten hidden given shown taken found made left worn chosen typed entered really already just now
		currently actually usually cut built bought broken typically often sometimes generally probably likely perhaps maybe mostly
		nearly almost at-least more less most least enough something nothing anything everything nowhere somewhere anywhere everywhere
		everyone anyone whatever whatsoever hash another different idea aucune idée ni werden werde weiß description type notes
		required needed expired stored hashed encrypted compromised leaked saved managed protected supposed meant
		printed rotated shared synced locked blocked gone yes nope none null nil true false undefined unset default n/a part access
		data information person human email name user username users number numbers string strings text value values field fields
		characters letters digits words example sample account login admin root mystery nightmare mess pain joke history trash garbage
		rubbish crap nonsense gibberish overkill policy yesterday's today's nobody's everyone's company hashing up-to-date below above
		twice together correctly yesterday today tomorrow tonight recently monday tuesday wednesday thursday friday saturday sunday
		ask see look check click contact tell know idea sorry please hopefully better worse ok'd capital lower upper lowercase
		uppercase company-wide sticky over longer forever none-of-your-business mandatory inside behind next tbd getting working
		not-working n't ain't`,
		`gestern heute morgen alle montag dienstag mittwoch donnerstag freitag samstag sonntag der die das den dem des ein eine
		einen einem einer kein keine keinem keinen nicht nie niemals immer nur auch noch schon sehr zu so wie als abgelaufen vergessen
		verloren zurückgesetzt geändert gespeichert verschlüsselt im in am an auf bei mit ohne nach vor für von hinter unter über mein
		meine dein sein ihr unser und oder aber wenn falls weil dass mindestens höchstens jetzt hier dort wieder gesperrt mir dir uns
		ihm leider ziemlich echt total nirgends irgendwo überall siehe beim zum zur nirgendwo weder eigentlich besonders viel wenig
		etwas nichts alles entfallen bereits dasselbe derselbe gleiche vom gar doch mal bitte frag wer was wo`,
		`ayer hoy mañana el la los las un una unos unas no nunca siempre solo sólo también muy más menos tan como mi tu su
		nuestra y o pero si cuando porque que de del en con sin por para a al demasiado olvidada caducada expirada guardada cambiada
		bloqueada bloqueado cifrada compartida equivocada apuntada escrita perdida vencida comprometida robada repetida usada
		configurada almacenada protegida anotada encriptada desactivada restablecida borrada bastante algo nada lo ya ninguna ningún
		tener ver pulsa haz dos cuatro ocho doce`,
		`hier aujourd'hui demain le la les un une des ne pas jamais toujours seulement aussi très trop plus moins si comme mon
		ton son notre nos votre leur et ou mais quand parce que qui de du en dans avec sans par pour à au expiré oublié perdu inconnu
		assez tellement vraiment plutôt déjà encore stocké chiffré enregistré changé sous sur chez celui celle rien tout cliquez
		clique voir demande quelque deux quatre huit douze`)
)

// Numbers in words, and what may stand between the groups of a code.
//
//nolint:misspell // words of other languages
var (
	numerals = wordSet(`eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty
		seventy eighty ninety hundred elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig
		fünfzig sechzig siebzig achtzig neunzig onze douze treize quatorze quinze seize vingt trente quarante cinquante soixante cent
		once doce trece catorce quince veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien dieciséis diecisiete
		dieciocho diecinueve dix-huit dix-neuf dix-sept veintiuno veintidós zero oh nought one two three four five six seven
		eight nine ten double triple`,
		`null eins ein zwei zwo drei vier fünf fuenf sechs sieben acht neun zehn`,
		`cero uno dos tres cuatro cinco seis siete ocho nueve`, `zéro zero un deux trois quatre cinq six sept huit neuf`)
	codeFillers = wordSet(`left right links rechts then dann and und puis luego izquierda derecha gauche droite hash star
		pound raute stern dash minus dièse étoile almohadilla mal`)
)

// namesSecret reports whether w has a word for a secret in it: my-password, 1Password.
func namesSecret(w string) bool {
	for _, p := range [...]string{
		"password", "passwd", "secret", "token", "credential", "passphrase", "passwort", "kennwort",
		"contraseña",
	} {
		if strings.Contains(w, p) {
			return true
		}
	}
	return false
}

// predicate reports whether w describes a secret.
func predicate(w string) bool {
	w = strings.Trim(w, ".,;:!?*_()")
	return predicates[w] || adjectives[w] || passwordAdjectives[w] || endsWith(w, "n't", "n’t", "tionally", "mente", "ment", "ly") &&
		!strings.HasSuffix(w, "fly")
}

// participle reports whether w has the form of a participle, or of an adjective made of a verb.
func participle(w string) bool {
	return endsWith(w, "ed", "ing", "able", "ible", "less", "ous", "ierte", "iert", "isiert") && !nominal[w] || (strings.HasPrefix(w,
		"ge") || strings.HasPrefix(w, "unge")) && endsWith(w, "t", "en") ||
		strings.HasSuffix(w, "é") && len(w) > 5 && !nominal[w] || endsWith(w, "ée", "és", "ées") && !nominal[w]
}

// endsWith reports whether w ends with one of endings, after three letters or more.
func endsWith(w string, endings ...string) bool {
	for _, e := range endings {
		if len(w) > len(e)+2 && strings.HasSuffix(w, e) {
			return true
		}
	}
	return false
}

// nominal are nouns that end like participles.
var nominal = wordSet(`pudding darling dumpling viking lightning starling duckling sterling wedding evening morning spring
		string sibling ceiling building dragonfly hundred vegetable table cable sunbed seabed seaweed tumbleweed weed speed hayseed
		linseed kindred sacred wireless café canapé purée musée fée cliché consommé velouté dragée orchidée marée soirée araignée
		bouée poupée fumée idée gelee gespenst gewitter gesicht geschenk gehirn getreide gebirge gedicht geist geheimnis`)

// references are words for what has a number that opens nothing.
//
//nolint:misspell // words of other languages
var references = wordSet(`order orders invoice bill receipt room floor page pages chapter line version release flight train platform bus
		tram seat row table ticket tickets case issue bug article item product model serial plate postal postcode zip phone telephone
		fax extension helpline street avenue road lane birthday year years born price cost costs dollars euro euros weighs kilo kilos kg
		km miles minutes minute hours hour percent degrees channel port ports error exit status commit branch sha sha256 hash build tag
		tracking bisect revert merge module shipment score points temperature size passport film movie song book title band
		poem novel story headline restaurant
		meters metres litres gb mb fps likes`,
	`bestellung rechnung zimmer stock seite kapitel zeile flug zug gleis sitz reihe tisch artikel modell kennzeichen postleitzahl plz
		telefonnummer hausnummer straße geburtstag jahr geboren preis kostet grad kanal fehler rufnummer minuten stunden prozent meter
		größe buch lied titel überschrift roman raum uhr`,
	`commande facture chambre salle étage chapitre ligne vol voie quai siège rang modèle plaque téléphone rue anniversaire année né née
		prix coûte degrés erreur heure heures mètres taille livre chanson titre roman poème réunion`,
	`pedido factura habitación sala planta página capítulo línea versión vuelo tren vía andén asiento fila mesa artículo modelo
		matrícula teléfono calle cumpleaños año años nació precio cuesta grados hora horas metros talla libro canción título novela
		poema reunión`)

// Words before and after "key" or "code" that make it a secret.
var (
	keyWords = []string{
		"api", "access", "secret", "private", "account", "encryption", "decryption", "signing", "auth", "master", "storage",
		"shared", "subscription", "service", "application", "app", "deploy", "webhook", "recovery", "integration", "hmac",
		"client", "consumer", "publishable", "live", "license", "security", "wifi", "wi-fi", "network", "openai", "anthropic",
		"stripe", "aws", "zugriffs", "lizenz",
	}
	codeWords = []string{
		"pass", "mon", "mi", "mein", "access", "door", "gate", "alarm", "entry", "security", "verification", "recovery", "backup",
		"safe", "vault", "garage", "lock",
		"locker", "unlock", "mfa", "2fa", "auth", "authentication", "one-time", "time", "otp", "login", "sms", "pin", "lockbox",
		"voicemail",
		"zugangs", "tür", "sicherheits", "bestätigungs", "activation", "pairing", "building", "house", "keypad",
	}
	placesOfCodes = []string{
		"2fa", "voicemail", "cadenas", "candado", "padlock", "door", "gate", "alarm", "safe", "lock", "texted", "sms", "carte",
		"tarjeta", "karte", "lift", "elevator", "office", "room", "gym", "cellar", "basement", "shed", "flat",
		"apartment", "keypad", "tablet", "phone", "cabin", "mailbox", "lobby", "parking", "garagentor", "lager", "keller", "büro",
		"aufzug",
		"cave", "ascenseur", "bureau", "caja", "oficina", "ascensor", "alarma", "locker", "garage", "building", "house", "vault",
		"entrance", "tür", "tresor", "haustür",
		"alarmanlage", "tor", "haus", "portail", "porte", "immeuble", "coffre", "puerta", "portal", "edificio", "casa", "garaje",
	}
	keyPhrases = []string{
		" d'api", " d’api", " api", " secrète", " secrete", " d'accès", " d’accès", " privée", " de api",
		" de acceso", " secreta", " privada",
	}
	codePhrases = []string{
		" de acceso", " de verificación", " de la puerta", " de la alarma", " de seguridad", " d'accès", " d’accès", " secreto",
		" secret",
		" pin", " de la porte", " d'entrée", " d’entrée", " de l'alarme", " de l’alarme", " de vérification",
	}
)
