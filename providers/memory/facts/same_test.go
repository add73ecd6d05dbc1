package facts

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
)

// matched are pairs of an earlier and a newer statement, which replaces or ends it, or does not.
var matched = []struct {
	older, newer string
	same         bool
}{
	{"The user lives in Bergen.", "The user has relocated to Turin.", true},
	{"The user is based in Lyon.", "The user is based in Nantes.", true},
	{"The user eats fish twice a week.", "The user no longer eats fish.", true},
	{"The user's backups run on Borg.", "The user says: “we replaced Borg with Restic in March”", true},
	{"Lena is the release manager.", "Omar took over from Lena as release manager.", true},
	{"The board meeting is on 4 March.", "The board meeting was pushed to the 9th.", true},
	{"The user's standup is at 9:30.", "From next week the user's standup is at 10:15.", true},
	{"The build server is on 10.1.0.9.", "The build server moved to 10.1.0.22.", true},
	{"The user works at Pellworm Analytics.", "The user quit the user's job yesterday.", true},
	{"The user has a husband called Rasmus.", "The user says: “we got divorced in spring”", true},
	{"The user plays squash with Dirk.", "The user gave up squash.", true},
	{"The user says: “answer in French”", "The user says: “from now on answer in English”", true},
	{"Der Nutzer sagt: „ich wohne in Kiel“", "Der Nutzer sagt: „Inzwischen wohne ich in Rostock“", true},
	{"Der Nutzer sagt: „Ich esse gern Fleisch“", "Der Nutzer sagt: „Ich esse kein Fleisch mehr“", true},
	{"Der Nutzer sagt: „wir deployen mit Ansible“", "Der Nutzer sagt: „statt Ansible nehmen wir jetzt Terraform“", true},
	{"Der Nutzer sagt: „Der Workshop ist am 12. März“", "Der Nutzer sagt: „Der Workshop wurde auf den 26. März verschoben“", true},
	{"L'utilisateur dit : « je fume un paquet par jour »", "L'utilisateur dit : « je ne fume plus »", true},
	{"L'utilisateur dit : « la CI tourne sur Jenkins »", "L'utilisateur dit : « On est passés de Jenkins à GitLab CI »", true},
	{"L'utilisateur dit : « j'habite à Lille »", "L'utilisateur dit : « Depuis avril je vis à Grenoble »", true},
	{"El usuario dice: «como carne casi a diario»", "El usuario dice: «ya no como carne»", true},
	{"El usuario dice: «vivo en Zaragoza»", "El usuario dice: «Me he mudado a Vigo»", true},
	{"El usuario dice: «mi portátil es un Lenovo»", "El usuario dice: «cambié el Lenovo por un Framework»", true},
	{"The user's dentist is Dr Faure.", "Dr Faure retired, the user sees Dr Anand now.", true},
	{"The wiki runs on MediaWiki.", "The wiki has moved to BookStack.", true},
	{"The office opens at 8.", "The office opens at 9 from Monday.", true},
	{"The deadline is 3 May.", "The deadline has slipped to 17 May.", true},
	{"The default region is eu-west-1.", "The default region is eu-north-1.", true},
	{"The user's rent is 700 euros.", "Rent is 760 now.", true},
	{"Kira is the team lead.", "Marek is the team lead.", true},
	{"Kira is the team lead.", "The user says: “our team lead is now Marek”", true},
	{"The user's CTO is Lena.", "Omar has become CTO.", true},
	{"The user drives a Volvo.", "The user sold the Volvo.", true},
	{"The user has a subscription to Audible.", "The user cancelled Audible.", true},
	{"The user takes ibuprofen.", "The user is off ibuprofen.", true},
	{"The user's gym is Fitpark.", "The user swapped Fitpark for a climbing hall.", true},
	{"The user writes Java at work.", "The user says: “at work we write Kotlin instead of Java”", true},
	{"The user says: “We use Slack”", "The user says: “Slack is gone, we're on Zulip”", true},
	{"The user is treasurer of the club.", "The user stepped down as treasurer.", true},
	{"The user's daughter goes to Hillview School.", "The user's daughter goes to Parkside School now.", true},
	{"The user's son is 7.", "The user's son turned 8.", true},
	{"The user's phone number ends in 44.", "The user's new phone number ends in 91.", true},
	{"The release is planned for June.", "The release was postponed to September.", true},
	{"The user studies physics.", "The user switched from physics to chemistry.", true},
	{"The user's landlord is Mr Pohl.", "The user's landlord is Ms Akande.", true},
	{"The rent is 1,150 a month.", "It's 1,240 from August.", true},
	{"The user says: “we meet on 14 October”", "It is on the 21st instead.", true},
	{"The user has four coffees a day.", "The user is down to one coffee.", true},
	{"L'utilisateur dit : « On utilise Figma pour les maquettes »", "L'utilisateur dit : « On a pris Penpot en plus »", false},
	{"The user says: “we open at 7”", "The cafe next door changed its hours, they open at 9 now.", false},
	{"The lease runs until March 2028.", "1,240 from August.", false},
	{"The user says: “no merges in the shop until further notice”", "The shop is back to normal.", true},
	{"The user is vegetarian.", "The user eats chicken and fish again.", true},
	{"The user is vegetarian.", "The user's sister eats chicken and fish again.", false},
	{"The user says: “We use Travis for CI”", "Moved to Buildkite last week.", true},
	{"The user's rent is 1,150 a month.", "The user says: “We spent 1,240 on the holiday instead”", false},
	{"The user's rent is 1,150 a month.", "The user won 1,000 euros in the lottery.", false},
	{"Der Nutzer sagt: „Die Miete kostet 800 Euro“", "Der Nutzer sagt: „Das Fitnessstudio kostet jetzt 45 Euro“", false},
	{"El usuario dice: «El alquiler cuesta 800 euros»", "El usuario dice: «El gimnasio cuesta ahora 45 euros»", false},
	{"The gym is 29 euros a month.", "Got a new phone contract, 19 euros a month from August.", false},
	{"The user says: “We use Signal in the family”", "The user says: “We're on Slack at work now”", false},
	{"The user works at the bakery on Fridays.", "The user is off on Friday.", false},
	{"The user has physio on Friday.", "The user is off on Friday.", false},
	{"My gym is 39 euros a month.", "Insurance is 61 euros from August.", false},
	{"Die Miete kostet 800 Euro.", "Ab August zahle ich 35 Euro fürs Internet.", false},
	{"Le loyer est de 800 euros.", "Internet, 35 euros à partir d'août.", false},
	{"El alquiler es de 800 euros.", "El gimnasio ahora cuesta 45 euros.", false},
	{"We fly to Lisbon on 3 June.", "On 14 September we fly to Oslo.", false},
	{"I play golf on Sundays.", "I just bought a Skoda.", false},
	{"We host on AWS.", "We fly to Oslo in May now.", false},
	{"The fee is 53 euros.", "At number 14 the fee is 48 euros.", false},
	{"Blue has six nodes.", "Green has been scaled to twelve nodes.", false},
	{"The user says: “keep answers short”", "The user says: “longer answers from now on, please”", true},
	{"The user says: “sign my mails with Cheers”", "The user says: “stop signing my mails with Cheers”", true},
	{"The user lives with Anna.", "The user moved out of Anna's flat.", true},
	{"Der Nutzer sagt: „Unser Chef ist Herr Brandt“", "Der Nutzer sagt: „Unser Chef ist jetzt Frau Yilmaz“", true},
	{"Der Nutzer sagt: „Das Treffen ist am 4. Mai“", "Der Nutzer sagt: „Das Treffen ist doch erst am 11. Mai“", true},
	{"Der Nutzer sagt: „ich arbeite bei Siemens“", "Der Nutzer sagt: „ich arbeite seit April bei Bosch“", true},
	{"Der Nutzer sagt: „ich gehe dienstags schwimmen“", "Der Nutzer sagt: „schwimmen geh ich nicht mehr“", true},
	{"Der Nutzer sagt: „die Miete kostet 800 Euro“", "Der Nutzer sagt: „die Miete ist auf 850 Euro gestiegen“", true},
	{"Der Nutzer sagt: „Unsere Datenbank ist Oracle“", "Der Nutzer sagt: „Oracle haben wir abgeschafft“", true},
	{"Der Nutzer sagt: „mein Hausarzt ist Dr. Kern“", "Der Nutzer sagt: „Dr. Kern hat die Praxis an Dr. Wolf übergeben“", true},
	{"L'utilisateur dit : « mon médecin est le docteur Petit »", "L'utilisateur dit : « mon nouveau médecin est la docteure Diallo »", true},
	{"L'utilisateur dit : « la réunion est le lundi à 9 h »", "L'utilisateur dit : « la réunion est le jeudi à 14 h »", true},
	{"L'utilisateur dit : « on utilise Trello »", "L'utilisateur dit : « Trello, c'est fini, on a pris Notion »", true},
	{"L'utilisateur dit : « je travaille chez Orange »", "L'utilisateur dit : « je travaille chez Bouygues depuis mars »", true},
	{"L'utilisateur dit : « mon vélo est un Gitane »", "L'utilisateur dit : « j'ai vendu mon Gitane »", true},
	{"L'utilisateur dit : « le loyer est de 700 euros »", "L'utilisateur dit : « le loyer a augmenté à 740 euros »", true},
	{"El usuario dice: «mi banco es Caja Sur»", "El usuario dice: «mi banco ahora es Openbank»", true},
	{"El usuario dice: «la reunión es los martes»", "El usuario dice: «la reunión pasa a los jueves»", true},
	{"El usuario dice: «voy al gimnasio Atlas»", "El usuario dice: «he dejado el gimnasio Atlas»", true},
	{"El usuario dice: «trabajo en Repsol»", "El usuario dice: «desde enero trabajo en Iberdrola»", true},
	{"El usuario dice: «mi jefe es Ramón»", "El usuario dice: «mi jefa es Lucía»", true},
	{"El usuario dice: «usamos Jenkins»", "El usuario dice: «hemos sustituido Jenkins por Drone»", true},
	{"El usuario dice: «el alquiler cuesta 600 euros»", "El usuario dice: «el alquiler cuesta 650 euros desde julio»", true},

	{"The user lives in Porto.", "The user's sister relocated to Turin.", false},
	{"The user lives in Porto.", "The user might move to Ghent next year.", false},
	{"The mail server is on 10.1.0.4.", "The build server moved to 10.1.0.22.", false},
	{"The user flies to Oslo on 3 March.", "The Lisbon conference was moved to June.", false},
	{"The user's office is in York.", "The user lives in Leeds now.", false},
	{"The user uses vim for everything.", "Piet switched to Emacs.", false},
	{"The user is allergic to nuts.", "The user no longer eats fish.", false},
	{"The user says: “we use Buildkite agents in Frankfurt”", "The user says: “we replaced Travis with Buildkite”", false},
	{"The user says: “write code comments in English”", "The user says: “answer in French”", false},
	{"The user has a dog called Mops.", "The user adopted a cat called Tilda.", false},
	{"The user's manager is Petra.", "The user's sister is Anna.", false},
	{"The user works at Pellworm Analytics.", "The user's brother quit his job.", false},
	{"The user drinks tea.", "The user stopped drinking coffee.", false},
	{"The user's sister lives in Faro.", "The user's sister works for Siemens.", false},
	{"Der Nutzer sagt: „ich wohne in Kiel“", "Der Nutzer sagt: „Vielleicht ziehe ich nach Rostock“", false},
	{"Der Nutzer sagt: „Ich fahre einen Skoda“", "Der Nutzer sagt: „Mein Bruder fährt jetzt einen Polestar“", false},
	{"L'utilisateur dit : « j'habite à Lille »", "L'utilisateur dit : « ma sœur vit maintenant à Grenoble »", false},
	{"L'utilisateur dit : « je bois du café »", "L'utilisateur dit : « je ne fume plus »", false},
	{"El usuario dice: «vivo en Sevilla»", "El usuario dice: «estoy pensando en mudarme a Málaga»", false},
	{"El usuario dice: «uso Firefox»", "El usuario dice: «ya no fumo»", false},
	{"The user uses Firefox.", "The user also uses Chrome at work.", false},
	{"The user has a cat called Mia.", "The user has a second cat called Leo.", false},
	{"The user's flight to Rome is on 3 May.", "The user's flight to Oslo is on 9 June.", false},
	{"The user lives in Porto.", "The user lived in Faro as a student.", false},
	{"The user works at Siemens.", "The user almost quit the user's job.", false},
	{"The office is in York.", "The office is not moving to Leeds.", false},
	{"The user's brother drives a Fiat.", "The user drives a Tesla now.", false},
	{"The user's mother lives in Kiel.", "The user's father moved to Bremen.", false},
	{"Staging runs Redis 7.", "Production was upgraded to Redis 8.", false},
	{"The staging server is on port 8080.", "The test server is now on port 9090.", false},
	{"The sales meeting is on Monday.", "The design meeting was moved to Friday.", false},
	{"The user has a dog called Biscuit.", "Biscuit gets new food now.", false},
	{"The user has a daughter called Ida.", "Ida goes to school now.", false},
	{"The user's son Teo plays handball.", "Teo is at Northgate School now.", false},
	{"The user's project is called Heron.", "The deadline of Heron is now 9 May.", false},
	{"The user's team uses Kotlin.", "The mobile team is switching to Dart.", false},
	{"The user plays chess on Mondays.", "The user plays tennis on Fridays.", false},
	{"The user likes coffee.", "The user likes tea, too.", false},
	{"The user is allergic to nuts.", "The user is allergic to penicillin.", false},
	{"The user's sister Bea is a nurse.", "The user's friend Cleo is a pilot now.", false},
	{"Lena owns the billing service.", "Lena owns the search service as well.", false},
	{"The budget is 3,000 euros.", "The hotel costs 400 euros.", false},
	{"The user reads crime novels.", "The user bought new running shoes.", false},
	{"Production lives on host marram.", "Backups run at 04:30 now.", false},
	{"The user says: “answer in French”", "The user says: “commit messages in English”", false},
	{"The user says: “use bullet points”", "The user says: “no emojis from now on”", false},
	{"The user's wife is called Ines.", "The user's wife started a new job.", false},
	{"The user lives in Bergen.", "The user's office moved to Oslo.", false},
	{"The user's salary is paid by Northgate Bank.", "The user cut up the Halden card.", false},
	{"Der Nutzer sagt: „Unser Hund heißt Bolle“", "Der Nutzer sagt: „Wir haben jetzt auch eine Katze“", false},
	{"Der Nutzer sagt: „Der Mailserver heißt Iltis“", "Der Nutzer sagt: „Der Druckserver heißt jetzt Dachs“", false},
	{"Der Nutzer sagt: „ich wohne in Jena“", "Der Nutzer sagt: „Tomma wohnt jetzt in Gera“", false},
	{"Der Nutzer sagt: „ich trinke Tee“", "Der Nutzer sagt: „ich trinke keinen Kaffee mehr“", false},
	{"Der Nutzer sagt: „mein Hausarzt ist Dr. Kern“", "Der Nutzer sagt: „früher war ich bei Dr. Knopp“", false},
	{"Der Nutzer sagt: „die Sitzung ist am Montag“", "Der Nutzer sagt: „die Sitzung wurde nicht verschoben“", false},
	{"L'utilisateur dit : « j'ai un chat, Réglisse »", "L'utilisateur dit : « on a aussi pris un chien »", false},
	{"L'utilisateur dit : « la réunion d'équipe est le lundi »", "L'utilisateur dit : « la réunion compta passe au vendredi »", false},
	{"L'utilisateur dit : « je travaille à Lyon »", "L'utilisateur dit : « ma femme travaille maintenant à Lille »", false},
	{"L'utilisateur dit : « la réunion est le 9 juin »", "L'utilisateur dit : « la réunion n'a pas été déplacée »", false},
	{"El usuario dice: «tengo un coche rojo»", "El usuario dice: «tengo también una moto»", false},
	{"El usuario dice: «en agosto voy a Menorca»", "El usuario dice: «en octubre voy a Praga»", false},
	{"El usuario dice: «trabajo en Soria»", "El usuario dice: «mi hermano trabaja ahora en Vigo»", false},
	{"El usuario dice: «la oficina abre a las 8»", "El usuario dice: «la tienda abre a las 10 desde mayo»", false},
	{"Tickets live in Redmine.", "Tickets went over to Linear as well, so forget Redmine.", true},
	{"The user eats eggs for breakfast every day.", "The user doesn't eat eggs.", true},
	{"The user's rent is 840 euros.", "Rent went up to 910 in April.", true},
	{"Der Nutzer sagt: „die Abgabe ist am 30. September“", "Der Nutzer sagt: „die Abgabe ist jetzt am 15. Oktober“", true},
	{"Der Nutzer sagt: „Mein Freund heißt Jannis“", "Der Nutzer sagt: „Jannis und ich haben uns getrennt“", true},
	{"L'utilisateur dit : « On a une Mazda 3 »", "L'utilisateur dit : « On a échangé la Mazda contre un RAV4 »", true},
	{"El usuario dice: «tomo ibuprofeno para la espalda»", "El usuario dice: «dejé el ibuprofeno»", true},
	{"El usuario dice: «Mi novio se llama Dani»", "El usuario dice: «Dani y yo lo hemos dejado»", true},
	{"The user rides an old Peugeot.", "The user changed the chain on the Peugeot.", false},
	{"The user's standup is at 9.", "This week the standup is at 11.", false},
	{"The user lives in Cardiff.", "In 2011 the user moved to Swansea for a year.", false},
	{"The user lives in Leeds.", "The user says: “We moved from Travis to Buildkite”", false},
	{"The user lives in Leeds.", "The user moved from Leeds to Cardiff.", true},
	{"The user banks with Santander.", "The user says: “Kev also left Santander”", false},
	{"The user has a husband called Anselm.", "The user says: “Anselm doesn't drive trains any more”", false},
	{"L'utilisateur dit : « je suis au chômage depuis mars »", "L'utilisateur dit : « je ne suis plus au chômage »", true},
	{"El usuario dice: «hago natación los lunes»", "El usuario dice: «la natación la han pasado a los viernes»", true},
	{"El usuario dice: «Fumo desde los veinte»", "El usuario dice: «He dejado de fumar, tres meses ya»", true},
	{
		"L'utilisateur dit : « le président c'est Gilles »",
		"L'utilisateur dit : « Gilles laisse la place à Samira comme présidente »", true,
	},
	{"L'utilisateur dit : « on est 4 »", "L'utilisateur dit : « Jules est parti donc on est 3 »", true},
	{"The user says: “We have a beagle called Biscuit”", "The user says: “We had to say goodbye to Biscuit on Thursday”", true},
	{"There's a status call with Crane every Monday at 16:00.", "The Monday call with Crane has been abolished, hooray.", true},
	{"The user has a boat.", "The user gave the boat up.", true},
	{"The user lives in Kendal.", "Mum's sold her house and moved to Ambleside.", false},
	{"The user banks with Santander.", "The user says: “Kev also left Santander and went to Monzo”", false},
	{"The user owns a Volvo.", "The user left the Volvo at the station.", false},
	{"The user plays in a band called Loose Change.", "The user left the band in May.", true},
	{"El usuario dice: «tengo un coche rojo»", "El usuario dice: «he dejado el coche en el taller»", false},
	{"Ana is the reviewer of the API.", "Mia is also the reviewer of the API.", false},
	{"The user is a roofer.", "The user has quit smoking.", false},
	{"The user is on sertraline.", "Doctor said the user could stop the sertraline so the user is off it since monday.", true},
	{"Der Nutzer sagt: „meine freundin sandra mag Tee“", "Der Nutzer sagt: „sandra und ich sind nicht mehr zusammen“", true},
	{"L'utilisateur dit : « ma copine s'appelle Inès »", "L'utilisateur dit : « Inès m'a quitté »", true},
	{"L'utilisateur dit : « j'ai un scooter »", "L'utilisateur dit : « mon scooter, je l'ai vendu »", true},
	{"L'utilisateur dit : « on a une clio de 2009 »", "L'utilisateur dit : « on a remplacé la clio par une dacia »", true},
	{"Der Nutzer sagt: „Ich bin Verkäuferin bei Edeka“", "Der Nutzer sagt: „hab ne neue stelle“", true},
	{"The user works at a barber shop.", "Started at the post office this week.", true},
	{"The user works at a barber shop.", "The user's brother has a new job.", false},
	{"The user has a part-time job at the town library.", "The user took a job at the museum.", true},
	{"The user works at a barber shop.", "The user is looking for a new job.", false},
	{"The user rents a flat in Leeds.", "The user says: “we moved to Bradford at the weekend”", true},
	{"El usuario dice: «mi jefa se llama Nuria»", "El usuario dice: «desde hoy mi jefe es Paco»", true},
	{"The user's daughter Ellie is 3.", "Ellie turned 4 yesterday.", true},
	{"The user is studying french with duolingo.", "Gave up on duolingo.", true},
}

// rare finds that no word is common.
func rare(string) bool { return false }

// TestMatcher measures the matcher by itself, and holds its precision and recall on these pairs.
func TestMatcher(t *testing.T) {
	var right, wrong, missed int
	for _, p := range matched {
		read := func(s string) *Statements { return ReadStatements(s, false, "") }
		why, rest, same := Supersedes(read(p.newer), read(p.older), rare)
		switch {
		case same && p.same:
			right++
		case same:
			wrong++
			t.Logf("%q does not change %q, but: %s; left %q", p.newer, p.older, why, rest)
		case p.same:
			missed++
			t.Logf("%q changes %q", p.newer, p.older)
		}
	}
	precision, recall := float64(right)/float64(right+wrong), float64(right)/float64(right+missed)
	t.Logf("precision %.3f, recall %.3f of %d pairs", precision, recall, len(matched))
	if precision < 0.95 || recall < 0.9 {
		t.Error("the least precision is .95, the least recall .90")
	}
}

// TestMatcherLeavesTheRest checks that only a part of a content becomes obsolete.
func TestMatcherLeavesTheRest(t *testing.T) {
	for _, p := range [...]struct{ older, newer, rest string }{
		{
			"The user's CI runs on Travis, releases are cut every second Thursday and Lena is the product manager.",
			"Omar took over from Lena as product manager.",
			"The user's CI runs on Travis, releases are cut every second Thursday.",
		},
		{"The user has netflix and spotify.", "Cancelled netflix.", "The user has spotify."},
		{"The user has netflix and spotify.", "The user cancelled Spotify.", "The user has netflix."},
		{"We have a tortoise named Socrates and a guinea pig.", "Socrates died last night.", "We have a guinea pig."},
		{"The user plays bass and guitar in the Paper Lanterns.", "The user gave up the guitar.", "The user plays bass in the Paper Lanterns."},
		{
			"L'utilisateur dit : « on a une clio et un chien »", "L'utilisateur dit : « la clio est vendue »",
			"L'utilisateur dit : « on a un chien »",
		},
		{
			"Der Nutzer sagt: „ich hab ein rennrad und eine playstation“", "Der Nutzer sagt: „die playstation hab ich verkauft“",
			"Der Nutzer sagt: „ich hab ein rennrad“",
		},
		{
			"L'utilisateur dit : « je fais de la poterie le mardi et je garde mes petits-enfants le mercredi »",
			"L'utilisateur dit : « la poterie j'ai laissé tomber »",
			"L'utilisateur dit : « je garde mes petits-enfants le mercredi »",
		},
		{"El usuario dice: «Zoom para las llamadas y Python 3.9»", "El usuario dice: «Python está en la 3.12»", "El usuario dice: «Zoom para las llamadas»"},
		{"The user is learning Portuguese with a tutor called Rita.", "The user's tutor is Duarte now.", "The user is learning Portuguese."},
		{"The user plays tennis with Omar on Mondays.", "Omar moved away.", "The user plays tennis."},
		{"The user works as a nurse at St Olave's.", "The user works at Mercy now.", "The user works as a nurse."},
		{"The user is a nurse at St Olave's.", "The user left St Olave's and joined Mercy.", "The user is a nurse."},
		{
			"L'utilisateur dit : « mon fils Théo est allergique aux œufs »",
			"L'utilisateur dit : « le médecin dit que Théo n'est plus allergique aux œufs »", "",
		},
		{"The user rents a flat in Leeds, 780 a month.", "The user moved to Bradford.", ""},
	} {
		_, rest, ok := Supersedes(ReadStatements(p.newer, false, ""), ReadStatements(p.older, false, ""), rare)
		if !ok || rest != p.rest {
			t.Errorf("%q leaves %q of %q (%v), want %q", p.newer, rest, p.older, ok, p.rest)
		}
	}
}

// BenchmarkMatcher compares a statement with 500 others.
func BenchmarkMatcher(b *testing.B) {
	newer := ReadStatements("The user has relocated to Turin.", false, "")
	for b.Loop() {
		for i := range 500 {
			Supersedes(newer, ReadStatements(matched[i%len(matched)].older, false, ""), rare)
		}
	}
}

// TestMatcherReadsTheOldValue checks sentences that name the old value, or its thing and another value.
func TestMatcherReadsTheOldValue(t *testing.T) {
	for _, x := range []struct {
		older, newer string
		gone         bool
	}{
		{"Der Nutzer sagt: „Zahnarzt am 14. April“", "Der Nutzer sagt: „Der Zahnarzt hat mich auf den 28. April geschoben“", true},
		{"El usuario dice: «La perra Luna pesa 18 kilos»", "El usuario dice: «En el veterinario Luna ha dado 21 kilos»", true},
		{"The user takes 50 mg of sertraline.", "Doctor put the sertraline up to 75 mg.", true},
		{"El usuario dice: «Mi jefa es Lourdes Pineda»", "El usuario dice: «Han puesto a Andrés Molina en lugar de Lourdes»", true},
		{"The user's investor demo is on the 4th of March.", "They shoved the demo back to the 19th of March.", true},
		{"Production is on hetzner.", "Staging is on ovh now.", false},
		{"El usuario dice: «Tengo un perro»", "El usuario dice: «Es quite bueno»", false},
		{"The user plays the piano.", "Lena sold her piano stool.", false},
		{"The user smokes about ten a day.", "The user quit smoking three weeks ago, not one since.", true},
		{"The user smokes a pipe.", "Gave up the pipe six weeks ago.", true},
		{"The user drinks tea.", "The user stopped drinking coffee.", false},
		{"El usuario dice: «Tenemos una perra, Luna»", "El usuario dice: «Luna murió el domingo de vieja»", true},
		{"The user has a rehearsal on Thursdays.", "This Thursday's rehearsal is cancelled because the hall is flooded.", false},
		{"The user has a rehearsal on Thursdays.", "The Thursday rehearsal is cancelled for good.", true},
		{"The user's book club meets on Tuesday.", "This week only, the club meets on Thursday.", false},
		{"L'utilisateur dit : « Les vacances sont en août »", "L'utilisateur dit : « J'ai failli annuler les vacances »", false},
		{"El usuario dice: «Soy camarero en el bar Tejo»", "El usuario dice: «Me hicieron encargado del bar Tejo»", true},
		{"Der Nutzer sagt: „Ich bin Pflegerin im Altenheim“", "Der Nutzer sagt: „Man hat mich befördert“", true},
		{"The user is a roofer.", "They promoted the user's brother.", false},
		{"The user lives in Brixton with the user's partner Marcus.", "Dele is the user's partner now.", true},
		{"The user lives in Brixton with the user's partner Marcus.", "Dele is the user's accountant now.", false},
		{"Der Nutzer sagt: „wir fahren einen Touran“", "Der Nutzer sagt: „Den Touran haben wir gegen einen Jogger getauscht“", true},
		{"El usuario dice: «estoy casado con Inés»", "El usuario dice: «Inés ha dejado su puesto»", false},
		{"Der Nutzer sagt: „Ich habe eine Stute namens Wolke“", "Der Nutzer sagt: „Wolke hat einen neuen Sattel bekommen“", false},
	} {
		if _, _, gone := Supersedes(ReadStatements(x.newer, false, ""), ReadStatements(x.older, false, ""), rare); gone != x.gone {
			t.Errorf("%q after %q: obsolete is %v", x.newer, x.older, gone)
		}
	}
}

// TestMatcherLeavesOtherStatements checks what stays of a memory when a part of it is obsolete.
func TestMatcherLeavesOtherStatements(t *testing.T) {
	for _, x := range []struct{ older, newer, rest string }{
		{
			"L'utilisateur dit : « j'habite à Lille avec ma fille Zoé »", "L'utilisateur dit : « Depuis avril je vis à Grenoble »",
			"L'utilisateur dit : « ma fille Zoé »",
		},
		{"The user lives in Bergen with the user's daughter Ida.", "The user has relocated to Turin.", "The user's daughter is Ida."},
		{
			"Der Nutzer sagt: „mein Bruder einen Volvo, und meine Tochter Lotte geht in die dritte Klasse“",
			"Der Nutzer sagt: „Mein Bruder hat seinen Volvo verkauft“", "Der Nutzer sagt: „meine Tochter Lotte geht in die dritte Klasse“",
		},
		{
			"L'utilisateur dit : « On utilise Jira et je suis abonné au Monde »", "L'utilisateur dit : « J'ai résilié mon abonnement au Monde »",
			"L'utilisateur dit : « On utilise Jira »",
		},
		{
			"L'utilisateur dit : « j'habite à Lille avec mes deux fils »", "L'utilisateur dit : « Depuis avril je vis à Grenoble »",
			"L'utilisateur dit : « mes deux fils »",
		},
		{
			"The user lives in Bergen with the user's two daughters.", "The user has relocated to Turin.", "The user has two daughters.",
		},
		{
			"He gets two units at 8, and wet food only.", "He gets three units now.", "He gets wet food only.",
		},
		{"The user plays bass in the Paper Lanterns.", "The user left the Paper Lanterns.", "The user plays bass."},
		{
			"The user has been learning Portuguese on Duolingo.", "The user has moved on from Duolingo to Pimsleur.",
			"The user has been learning Portuguese.",
		},
		{
			"The user's laptop is a ThinkPad X230 with Debian 11.", "Upgraded the laptop to Debian 13 too.",
			"The user's laptop is a ThinkPad X230.",
		},
		{
			"The user's sister Nell lands at 17:35 at Gatwick on the 8th.", "Nell gets in at 19:05.",
			"The user's sister Nell lands at Gatwick on the 8th.",
		},
		{
			"L'utilisateur dit : « Je prends du Levothyrox 75 le matin et du Tardyferon le soir »",
			"L'utilisateur dit : « L'endocrino m'a passée à 100 pour le Levothyrox »",
			"L'utilisateur dit : « Je prends du Tardyferon le soir »",
		},
		{
			"El usuario dice: «Tengo un seguro dental y un seguro de hogar»", "El usuario dice: «No renové el seguro dental»",
			"El usuario dice: «Tengo un seguro de hogar»",
		},
		{
			"Der Nutzer sagt: „Dienstags habe ich Volleyball, donnerstags Chorprobe“",
			"Der Nutzer sagt: „Volleyball findet jetzt am Freitag statt“", "Der Nutzer sagt: „donnerstags Chorprobe“",
		},
		{
			"The user trains at 6 am with the user's gym buddy Hal.", "Hal dropped out on the user.", "The user trains at 6 am.",
		},
		{
			"The jubilee dinner is on 14 May in the town hall, with about fifty guests.", "The dinner was pushed back a week, it's 21 May now.",
			"The jubilee dinner is in the town hall, with about fifty guests.",
		},
		{
			"L'utilisateur dit : « Mon cours de yoga a lieu le lundi soir, avec Solène »",
			"L'utilisateur dit : « À partir de mars, le yoga passe au jeudi soir »",
			"L'utilisateur dit : « Mon cours de yoga a lieu, avec Solène »",
		},
		{
			"El usuario dice: «Juego al frontón los martes con Iker»", "El usuario dice: «Desde esta semana el frontón es los jueves»",
			"El usuario dice: «Juego al frontón con Iker»",
		},
		{
			"El usuario dice: «Estoy escribiendo una novela ambientada en Vigo, con Ulysses»",
			"El usuario dice: «He trasladado la novela a Lisboa»",
			"El usuario dice: «Estoy escribiendo una novela ambientada, con Ulysses»",
		},
		{
			"The user's main database is PostgreSQL 13 in eu-west-1.", "The user upgraded it to PostgreSQL 17.",
			"The user's main database is in eu-west-1.",
		},
		{
			"The user pays £39 a month for the desk and £17.99 for Spotify.", "The desk went up to £49.", "£17.99 for Spotify.",
		},
	} {
		_, rest, ok := Supersedes(ReadStatements(x.newer, false, ""), ReadStatements(x.older, false, ""), rare)
		if !ok || rest != x.rest {
			t.Errorf("%q leaves %q of %q (%v), want %q", x.newer, rest, x.older, ok, x.rest)
		}
	}
}

// TestPasses checks which contents hold from now on.
func TestPasses(t *testing.T) {
	for content, want := range map[string]bool{
		"The user's standup is at 11.":                    true,
		"From this week the standup is at 11.":            true,
		"This week the standup is at 11.":                 false,
		"The user used to live in Bristol.":               false,
		"The user moved to Turin.":                        true,
		"Der Nutzer sagt: „diese Woche ist es um elf“":    false,
		"El usuario dice: «desde esta semana es a las 8»": true,
	} {
		if got := !ReadStatements(content, false, "").parts[0].passes(); got != want {
			t.Errorf("%q lasts: %v", content, got)
		}
	}
}

// TestEverydayLookalikes checks that nothing becomes obsolete by the pairs that share only a person, a time or a way to ask.
func TestEverydayLookalikes(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/memory/pairs/reviewed.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) (out []*Statements) {
		turn := ragctx.Turn{Messages: []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, text)}}
		for _, x := range Explain(turn, testTime).Facts {
			out = append(out, ReadStatements(x.Content, x.Kind == ragctx.FactInstruction, ""))
		}
		return out
	}
	for line := range strings.Lines(string(data)) {
		var p struct{ Old, New, Label string }
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		for _, o := range read(p.Old) {
			for _, n := range read(p.New) {
				if why, _, gone := Supersedes(n, o, rare); gone && p.Label == "none" {
					t.Errorf("%q changes %q: %s", p.New, p.Old, why)
				}
			}
		}
	}
}

// TestNamedSpeakers checks that a statement of a named speaker is matched as one of a user is, and that what a person
// says changes nothing that is known of another one.
func TestNamedSpeakers(t *testing.T) {
	by := func(name, content string) (string, bool) {
		for _, l := range languages() {
			if quote, ok := strings.CutPrefix(content, l.says); ok {
				return name + ": " + quote, true
			}
		}
		rest, ok := strings.CutPrefix(content, "The user")
		return name + rest, ok && !strings.Contains(rest, "the user")
	}
	gone := func(newer, older string, speakers ...string) bool {
		_, _, ok := Supersedes(ReadStatements(newer, false, SpeakerOf(newer, speakers)), ReadStatements(older, false, SpeakerOf(older, speakers)), rare)
		return ok
	}
	compared := 0
	for _, p := range matched {
		older, ok := by("Mara", p.older)
		newer, also := by("Mara", p.newer)
		if !ok || !also {
			continue
		}
		compared++
		if got, want := gone(newer, older, "Mara"), gone(p.newer, p.older); got != want {
			t.Errorf("%q makes %q obsolete: %v, by a user: %v", newer, older, got, want)
		}
		if other, _ := by("Piet", p.newer); gone(other, older, "Piet") && strings.HasPrefix(p.older, "The user ") && strings.HasPrefix(other, "Piet ") {
			t.Errorf("%q makes %q obsolete", other, older)
		}
	}
	if compared < 80 {
		t.Errorf("only %d pairs compared", compared)
	}
	for _, p := range [][2]string{
		{"Mara's heron is called Otto.", "Mara moved to Bergen."},
		{"Lena's car is a Golf.", "Lena bought a house in Lyon."},
		{"Lena drives a Volvo.", "Piet sold the Volvo."},
		{"Mara: „ich wohne in Kiel“", "Piet: „Inzwischen wohne ich in Rostock“"},
		{"Mara: « je travaille chez Orange »", "Piet: « je travaille chez Bouygues depuis mars »"},
		{"Mara: «mi banco es Caja Sur»", "Piet: «mi banco ahora es Openbank»"},
		{"Mara's son is 7.", "Piet's son turned 8."},
	} {
		for _, speakers := range [][]string{nil, {"Piet"}, {"Mara", "Piet"}} {
			if gone(p[1], p[0], speakers...) {
				t.Errorf("%q makes %q obsolete (speakers %v)", p[1], p[0], speakers)
			}
		}
	}
	for _, names := range [][2]string{{"Maria", "Mario"}, {"Mary", "Marie"}, {"Ann Lee", "Ann Marie"}, {"Andrea", "Andreas"}, {"Anna", "Anne"}} {
		a, b := names[0], names[1]
		if gone(b+" moved to Turin.", a+" lives in Oslo.", a, b) || gone(a+" moved to Turin.", b+" lives in Oslo.", a, b) {
			t.Errorf("%s and %s are one person", a, b)
		}
		if !gone(a+" moved to Turin.", a+" lives in Oslo.", a, b) || !gone(b+" moved to Turin.", b+" lives in Oslo.", a, b) {
			t.Errorf("%s or %s cannot move", a, b)
		}
	}
	older := ReadStatements("Mara lives in Bergen with Mara's daughter Ida.", false, "Mara")
	_, rest, ok := Supersedes(ReadStatements("Mara has relocated to Turin.", false, "Mara"), older, rare)
	if want := "Mara's daughter is Ida."; !ok || rest != want {
		t.Errorf("left is %q (%v), want %q", rest, ok, want)
	}
}

// TestReasonsEndWithWishes checks what is left of a content when a wish in it is overruled. The reason of the wish ends with
// it; another fact beside the wish stays.
func TestReasonsEndWithWishes(t *testing.T) {
	for _, c := range [...]struct{ older, newer, left string }{
		{
			"El usuario dice: «Responde en español y mi código va sin comentarios»", "El usuario dice: «a partir de ahora responde en inglés»",
			"mi código va sin comentarios",
		},
		{
			"The user says: “answer in French, it's my sister who pays the bills”", "The user says: “answer in English from now on”",
			"it's my sister who pays the bills",
		},
		{
			"L'utilisateur dit : « Réponds-moi en anglais et de façon brève »", "L'utilisateur dit : « réponds désormais en français »",
			"Réponds-moi de façon brève",
		},
		{"The user says: “answer in French because I'm learning it”", "The user says: “answer in English from now on”", ""},
	} {
		_, rest, ok := Supersedes(ReadStatements(c.newer, true, ""), ReadStatements(c.older, true, ""), rare)
		if !ok || (rest != "") != (c.left != "") || !strings.Contains(rest, c.left) {
			t.Errorf("%s | %s: left is %q (%v), want %q", c.older, c.newer, rest, ok, c.left)
		}
	}
}
