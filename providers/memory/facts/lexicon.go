//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"strings"
	"sync"
)

// verbs maps the finite forms of frequent verbs of all four languages to their first forms. Words are folded.
var verbs = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for w := range strings.FieldsSeq(englishVerbs) {
		lemma, past, irregular := strings.Cut(w, "/")
		for _, form := range englishForms(lemma) {
			out[form] = lemma
		}
		if irregular {
			for p := range strings.SplitSeq(past, "/") {
				out[p] = lemma
			}
		}
	}
	for _, list := range []string{germanVerbs, frenchVerbs, spanishVerbs} {
		for line := range strings.Lines(list) {
			forms := strings.Fields(line)
			for _, f := range forms {
				if _, ok := out[f]; !ok {
					out[f] = forms[0]
				}
			}
		}
	}
	for w := range copulas {
		out[w] = "be"
	}
	return out
})

// verbsOf has the finite forms of the verbs of a language.
var verbsOf = sync.OnceValue(func() map[string]map[string]bool {
	return map[string]map[string]bool{"de": wordSet(germanVerbs), "fr": wordSet(frenchVerbs), "es": wordSet(spanishVerbs)}
})

// englishLemmas are the first forms of the English verbs.
var englishLemmas = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(englishVerbs) {
		lemma, _, _ := strings.Cut(w, "/")
		out[lemma] = true
	}
	return out
})

// englishForms returns the forms of a regular verb.
func englishForms(w string) []string {
	stem, s := w, w+"s"
	switch {
	case hasAnySuffix(w, "s", "sh", "ch", "x", "z", "o"):
		s = w + "es"
	case strings.HasSuffix(w, "y") && !strings.ContainsRune("aeiou", rune(w[len(w)-2])):
		stem, s = w[:len(w)-1]+"i", w[:len(w)-1]+"ies"
	}
	if strings.HasSuffix(w, "e") {
		return []string{w, s, w + "d"}
	}
	return []string{w, s, stem + "ed", w + w[len(w)-1:] + "ed"} // stopped
}

// copulas are the forms of "to be" and of "to become".
var copulas = wordSet(`is are was were am i'm im we're they're he's she's it's 's isn't aren't wasn't become becomes became
	ist sind bin war waren sei wurde wird werde
	est sont suis etait etais c'est sommes devient deviens sera
	es soy son somos era esta estoy estan fue sera estamos`)

const englishVerbs = `live work love hate like prefer use run/ran drive/drove eat/ate drink/drank play teach/taught study train commute
	carry
	go/went have/has/had own need want keep/kept take/took make/made do/does/did get/got speak/spoke know/knew read write/wrote wear/wore
	sleep/slept walk bake cook sing/sang swim/swam ride/rode fly/flew travel visit meet/met call deploy host store ship release build/built
	test review chat track manage lead/led handle maintain support sell/sold buy/bought pay/paid rent collect grow/grew raise volunteer
	rehearse practise practice attend follow watch listen enjoy avoid dislike move relocate switch start stop quit leave/left join move
	open close sit/sat stand/stood stay smoke garden paint draw/drew knit code program develop design report owe belong
	cost come/came arrive depart begin/began end finish plan think/thought hope say/said tell/told ask feel/felt give/gave put set turn
	hand replace rename upgrade migrate push postpone cancel change hold/held become serve contain weigh measure expire allow require
	cover celebrate marry divorce adopt lose/lost win/won hurt suffer see/saw find/found look seem split break/broke fix plays
	renew sign book schedule share touch wake/woke graduate drop wash earn spend/spent work own tend dance ski surf climb hike knit sew
		fish hunt
	 land let rehearse bring/brought pick send/sent subscribe freeze/froze log sync bill charge`

const germanVerbs = `wohn wohne wohnt wohnen wohnte
leb lebe lebt leben lebte
arbeit arbeite arbeitet arbeiten arbeitete
spiel spiele spielt spielen
mach mache macht machen machte
hab habe hat haben hatte hatten
heiss heise heisst heist heisen heis
studier studiere studiert studieren
trink trinke trinkt trinken trank
ess esse isst esst essen
mag magst mogen mochte
lieb liebe liebt lieben
hass hasse hasst hassen
nutz nutze nutzt nutzen benutze benutzt benutzen verwende verwendet verwenden
fahr fahre fahrt fahren fuhr
geh gehe geht gehen ging
komm komme kommt kommen kam
nehm nehme nimmt nehmen nahm
trainier trainiere trainiert trainieren
sprech spreche spricht sprechen
lern lerne lernt lernen
lauf laufe lauft laufen lief
koch koche kocht kochen
les lese liest lesen
schreib schreibe schreibst schreibt schreiben
brauch brauche braucht brauchen
vertrag vertrage vertragt
leit leite leitet leiten
betreu betreue betreut betreuen
such suche sucht suchen
zieh ziehe zieht ziehen zog
steh stehe steht stehen
lieg liege liegt liegen
find finde findet
kauf kaufe kauft kaufen
rauch rauche raucht rauchen
deploy deploye deployt deployen deployed
lauft laufen
kost koste kostet kosten
find findet finden stattfindet
beginnt beginnen startet starten
schlaf schlafe schlaft
sammel sammle sammelt
sing singe singt
pendel pendle pendelt
programmier programmiere programmiert programmieren
besuch besuche besucht
antwort antworte antwortest antwortet antworten
duz duze duzt duzen
siez sieze siezt siezen
kann kannst konnen
will wollen
muss mussen musste mussten
darf durfen
ubernimmt ubernehmen
kundig kundige kundigt`

const frenchVerbs = `habite habites habitent habitons j'habite
vis vit vivons vivent
travaille travaillons travaillent bosse bosses bossons bossent
utilise utilisons utilisent j'utilise
ai avons ont j'ai avait n'ai n'a
aime aimons aiment j'aime
adore adorons j'adore
deteste detestons
prefere preferons
bois boit buvons
mange mangeons mangent
fume fumons
fais fait faisons font
joue jouons jouent
parle parlons
lis lit lisons
prends prend prenons
vais va allons
etudie j'etudie
apprends apprend
roule roulons
tourne tournent
deploie deployons deploient
s'appelle m'appelle s'appellent appelle
dors dort
cours court
conduis conduit
cherche cherchons
ecris ecrit
dirige
passe passent
part partent
commence commencent
cout coute coutent
enseigne j'enseigne
collectionne
chante
nage
cuisine
tiens tient
rentre rentrent
gere gerons`

const spanishVerbs = `vivo vive vivimos viven
trabajo trabaja trabajamos trabajan curro
uso usa usamos usan
tengo tiene tenemos tienen
llamo llama llaman
toco toca tocamos
juego juega jugamos
como come comemos
bebo bebe bebemos tomo toma
fumo fuma
estudio estudia
hablo habla hablamos
odio odia
prefiero prefiere preferimos
gusta gustan encanta encantan
voy va vamos
hago hace hacemos
doy da damos
salgo sale salen
colaboro colabora
ensayo ensaya ensayamos
leo lee
corro corre
nado nada
canto canta
cocino cocina
busco busca buscamos
conduzco conduce
duermo duerme
enseno ensena
aprendo aprende
escribo escribe
llevo lleva llevan llevara
desplegamos despliego
programo programa
pinto pinta
sigo sigue
recojo recoge
cuest cuesta cuestan
empieza empiezan
pasa pasan
revisa
quedo queda
necesito necesita
vendo vende
compro compra
viajo viaja
quiero quiere queremos
puedo puede podemos
reside resido
cuido cuida`

// topicWords maps words to what they are about: attributes that a person, or an agent's instructions, have one
// value of at a time.
var topicWords = topics(map[string]string{
	"home": `settled address street gelandet anschrift adresse installe installes installee installees direccion instalado instalada calle
		live lives lived living reside based relocate relocated relocating moved home hometown apartment
		wohne wohn wohnt wohnen lebe leb lebt leben wohnort umgezogen gezogen zuhause
		habite j'habite habitons vis vivons demenage emmenage domicile
		vivo vive vivimos resido mudado mude mudamos mudada domicilio`,
	"work": `quit resigned fired retired unemployed gekundigt arbeitslos entlassen rente demissionne chomage retraite licencie licenciee
		despedido despidieron paro jubilado jubilada
		work works worked employer employed job joined hired position
		arbeite arbeit arbeitet angestellt job stelle arbeitgeber beschaftigt
		travaille bosse embauche poste emploi employeur boulot
		trabajo trabaja curro empleo puesto contratado contratada`,
	"partner": `divorced separated split single widowed wedding geschieden getrennt scheidung verwitwet heirat geheiratet divorce divorcee
		divorces separe separee separes pacse pacsee celibataire divorciado divorciada divorciamos separado separada separamos rompimos
		casamos boda bf gf hubby mec meuf verlobte verlobter
		husband wife girlfriend boyfriend fiance fiancee spouse married marriage engaged dating
		ehemann ehefrau mann frau verheiratet verlobt freundin freund partnerin
		mari femme epoux epouse marie mariee copain copine compagne compagnon fiance
		marido mujer esposo esposa novio novia casado casada pareja`,
	"language": `english french german spanish italian portuguese dutch polish japanese chinese russian turkish arabic swedish
		englisch deutsch franzosisch spanisch italienisch polnisch
		anglais francais allemand espagnol italien
		ingles frances aleman espanol italiano catalan`,
	"length": `line lines words zeile zeilen worter ligne lignes mots linea lineas palabras sentence sentences paragraph paragraphs
		satz satze satzen absatz absatze phrase phrases paragraphe paragraphes frase frases
		parrafo parrafos shorter longer briefly kurze lange
		short brief concise terse long detailed lengthy verbose length
		kurz knapp ausfuhrlich lang kurzer langer ausfuhrlicher detailliert
		court courte courtes courts bref breve breves concis concise detaille detaillee longue longues
		corto corta cortas cortos largo largas detallado detallada`,
	"tone": `formal informal casual polite friendly tone
		duz duze duzen sie siez sieze siezen formlich formell locker
		tutoie tutoyer vouvoie vouvoyer formel informel
		tutea tutear usted formal tutees`,
	"units":    `metric imperial celsius fahrenheit kilometres kilometers miles metrisch metrique metrico`,
	"spelling": `british american spelling rechtschreibung orthographe ortografia`,
	"indent":   `tabs spaces indentation leerzeichen einruckung tabulations espaces tabuladores espacios`,
	"emoji":    `emoji emojis emoticons smileys`,
	"format": `bullet bullets bulleted prose table tables markdown list lists
		tabelle tabellen liste listen tableau tableaux listes tabla tablas
		lista listas stichpunkte stichpunkten fliesstext puces vinetas`,
})

func topics(of map[string]string) map[string]string {
	out := map[string]string{}
	for topic, words := range of {
		for w := range strings.FieldsSeq(words) {
			out[w] = topic
		}
	}
	return out
}

// personal topics belong to a person; the other ones to instructions.
var personal = wordSet("home work partner")

// kin are people of whom somebody has a certain one: "my sister".
var kin = wordSet(`sister brother mother mom mum father dad wife husband partner girlfriend boyfriend son daughter kid kids child children
	aunt uncle cousin nephew niece grandma grandmother grandpa grandfather boss manager colleague coworker friend roommate flatmate mate pal
	neighbour neighbor landlord landlady parents brother-in-law sister-in-law ex buddy team
	bf gf hubby fiance fiancee spouse
	schwester bruder mutter vater mama papa frau mann freundin freund sohn tochter kinder tante onkel cousin cousine oma opa
	chef chefin kollege kollegin nachbar nachbarin vermieter vermieterin eltern verlobte verlobter
	mitbewohner mitbewohnerin schwager schwagerin
	soeur sour frere mere pere mari femme copain copine fils fille tante oncle cousin cousine mamie papi patron patronne collegue ami amie
	voisin voisine proprietaire parents coloc mec meuf
	hermana hermano madre padre mama papa marido mujer novio novia hijo hija tia tio primo prima abuela abuelo jefe jefa companero
	companera amigo amiga vecino vecina casero casera padres pareja cunado cunada`)

// stopWords carry no content of their own, beyond those of [function].
var stopWords = wordSet(`user nutzer nutzerin utilisateur utilisatrice usuario usuaria
	says sagt dit dice called said a's the's user's l'utilisateur
	anymore longer finally really quite also too just even well way thing things stuff kind
	mehr nicht kein keine keinen auf bei seine seinen seinem ihre ihren ihrem neue neuen unserem unseren meinen jetzt inzwischen mal nen
	plus pas ne n' d' l' qu' leur leurs chez mon tout tous toute
	ya no nada mas muy todo toda todos nuestros sin cada lo les nos
	hier gestern ayer anoche now this that last next week month year today yesterday tomorrow since until every`)
