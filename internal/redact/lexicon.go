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
	copulas = wordSet(`is was are were equals will shall should must be been has becomes`,
		`ist war lautet lauten heißt heisst lautete wäre wurde wird`,
		`es era será son`, `est était sera`, `é is:`, `это`)
	// fillers may stand between a copula and the value.
	fillers = wordSet(`now currently actually still just be been set to changed updated reset always called simply really literally
		also probably again equal called`,
		`jetzt nun aktuell noch derzeit immer auf geändert gesetzt einfach`,
		`ahora actualmente siempre todavía`, `maintenant actuellement toujours encore désormais`)
	prepositions = wordSet(`for to of on at from in with used that i we you my number code value`,
		`für vom von zum zur des der im beim am nummer`,
		`de del para en mi al la`, `du pour des à au le sur d mon`)
	types = wordSet(`string str text varchar char nvarchar securestring any object var let const option optional none nil null`,
		`secretstr secretstring pscredential bool boolean int integer byte bytes`)

	// placeholders stand in place of a value.
	placeholders = wordSet(`password passwd pass pwd passphrase passwort kennwort contraseña secret token key pin code apikey api-key
		api_key api_token your-password changeme change-me change_me value string str text null nil none true false undefined unset
		empty todo tbd n/a na yes no on off default optional required redacted removed hidden masked secure varchar bytes byte
		object any int integer bool boolean securestring pscredential prompt env stdin file keyring vault xxx foo bar user username
		void const let var auto char self this new return await function def func lambda async static public private`)

	// predicates describe a secret instead of giving its value.
	predicates = wordSet(`a an the this that these those it its not no never always only also still very too so such as at in on of to
		for from by with without within under over about after before between during until unless if when while because since per via
		and or but nor then than same different my your his her our their one two some any all each every both either neither what which
		who whose where how why being been be have has had do does did can could may might must shall should will would
		wrong broken incorrect invalid valid correct right bad good weak strong stronger long longer short shorter easy hard simple
		complex safe unsafe secure insecure important necessary mandatory optional empty blank unknown known missing present absent
		available unavailable new old current previous next last first unique random case sensitive case-sensitive alphanumeric numeric
		plain plaintext plain-text cleartext clear-text clear visible invisible public private secret confidential ready fine okay ok
		gone lost there here okay up out off back down used set sent kept held met written read put okay stolen forgotten hidden given known
		shown taken found made left lost worn chosen typed entered rather quite really already just now currently actually usually
		typically often sometimes generally probably likely perhaps maybe mostly nearly almost almost at-least more less most least enough
		something nothing anything everything someone anyone required needed expired stored hashed encrypted compromised leaked
		none null nil true false undefined unset default optional blank n/a temporary permanent specific generic static dynamic different
		similar identical equal greater smaller part access data information person human email name user username users number numbers
		string strings text value values field fields characters letters digits words example sample account login admin root`,
		`der die das den dem des ein eine einen einem einer kein keine nicht nie niemals immer nur auch noch schon sehr zu so wie als
		falsch richtig ungültig gültig abgelaufen vergessen verloren geheim sicher unsicher schwach stark leer lang kurz alt neu unbekannt
		bekannt erforderlich notwendig nötig zurückgesetzt geändert gespeichert verschlüsselt im in am an auf bei mit ohne nach vor für von
		mein dein sein ihr unser und oder aber wenn falls weil dass mindestens höchstens wichtig jetzt hier dort wieder gesperrt`,
		`el la los las un una unos unas no nunca siempre solo sólo también muy más menos tan como incorrecta incorrecto inválida inválido
		válida válido correcta correcto débil fuerte segura seguro insegura larga corta nueva nuevo vieja vacía secreta obligatoria
		necesaria requerida mi tu su nuestra y o pero si cuando porque que de del en con sin por para a al demasiado importante fácil
		difícil desconocida olvidada caducada expirada la`,
		`le la les un une des ne pas jamais toujours seulement aussi très trop plus moins si comme incorrect incorrecte invalide valide
		correct correcte faible fort forte sûr sécurisé long court nouveau ancien vide secret obligatoire nécessaire requis mon ton son
		notre et ou mais quand parce que qui de du en dans avec sans par pour à au expiré oublié perdu important facile difficile inconnu
		stocké chiffré erroné bon mauvais`)
)

// predicate reports whether w describes a secret. Participles do in general.
func predicate(w string) bool {
	w = strings.ToLower(strings.Trim(w, ".,;:!?*_()"))
	if predicates[w] {
		return true
	}
	for _, ending := range []string{"ed", "ing", "able", "ible", "ive", "ly", "ent", "ary", "ory", "ous", "ful", "less", "n't"} {
		if len(w) > len(ending)+2 && strings.HasSuffix(w, ending) {
			return true
		}
	}
	return false
}

// Words before and after "key" or "code" that make it a secret.
var (
	keyWords = []string{
		"api", "access", "secret", "private", "account", "encryption", "decryption", "signing", "auth", "master", "storage",
		"shared", "subscription", "service", "application", "app", "deploy", "webhook", "recovery", "integration", "hmac",
		"client", "consumer", "publishable", "live", "license", "security", "wifi", "wi-fi", "network", "openai", "anthropic",
		"stripe", "aws", "zugriffs", "lizenz",
	}
	codeWords = []string{
		"access", "door", "gate", "alarm", "entry", "security", "verification", "recovery", "backup", "safe", "vault", "garage", "lock",
		"locker", "unlock", "mfa", "2fa", "auth", "authentication", "one-time", "time", "otp", "login", "sms", "pin", "lockbox",
		"zugangs", "tür", "sicherheits", "bestätigungs", "activation", "pairing", "building", "house", "keypad",
	}
	placesOfCodes = []string{
		"door", "gate", "alarm", "safe", "lock", "locker", "garage", "building", "house", "vault", "entrance", "tür", "tresor", "haustür",
		"alarmanlage", "tor", "haus", "portail", "porte", "immeuble", "coffre", "puerta", "portal", "edificio", "casa", "garaje",
	}
	keyPhrases = []string{
		" d'api", " d’api", " api", " secrète", " secrete", " d'accès", " d’accès", " privée", " de api",
		" de acceso", " secreta", " privada",
	}
	codePhrases = []string{
		" de acceso", " de verificación", " de la puerta", " de la alarma", " de seguridad", " d'accès", " d’accès", " secret",
		" pin", " de la porte", " d'entrée", " d’entrée", " de l'alarme", " de l’alarme", " de vérification",
	}
)
