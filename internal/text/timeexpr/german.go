//nolint:misspell // the words are German
package timeexpr

import "strings"

var germanTable = table{
	language: german,
	months: "januar jan janner jaenner, februar feb feber, marz maerz mrz, april apr, mai, juni jun juno, juli jul julei, " +
		"august aug, september sep sept, oktober okt, november nov, dezember dez",
	weekdays: "montag montags, dienstag dienstags, mittwoch mittwochs, donnerstag donnerstags, freitag freitags, " +
		"samstag sonnabend samstags, sonntag sonntags",
	units: "minute minuten, stunde stunden, tag tage tagen tages, woche wochen, -, wochenende wochenenden, " +
		"monat monate monaten monats, quartal quartale quartalen quartals, jahr jahre jahren jahres",
	parts:   "morgen fruh frueh vormittag morgens, mittag mittags, nachmittag nachmittags, abend abends, nacht nachts",
	seasons: "fruhling fruehling fruhjahr fruehjahr, sommer, herbst, winter",
	cardinals: "ein eins eine einer einem einen, zwei zwo, drei, vier, funf fuenf, sechs, sieben, acht, neun, zehn, elf, " +
		"zwolf zwoelf, dreizehn, vierzehn, funfzehn fuenfzehn, sechzehn, siebzehn, achtzehn, neunzehn, zwanzig, dreissig, " +
		"vierzig, funfzig fuenfzig, sechzig, siebzig, achtzig, neunzig, hundert",
	roles: []words{
		{leadIn, "in im wahrend waehrend"},
		{leadOn, "am vom zum den dem des"},
		{lead, "der die das des an bei beim zu zur unsere unserer unserem unseren unser unseres meine meiner von uber ueber aus"},
		{between, "zwischen"},
		{from, "von vom"},
		{and, "und"},
		{to, "bis"},
		{since, "seit ab"},
		{lasting, "seit"},
		{after, "nach"},
		{before, "vor"},
		{until, "bis"},
		{onward, "an"},
		{last, "letzte letzten letzter letztes letztem vorige vorigen voriger voriges vergangene vergangenen vergangener " +
			"vergangenes vorherige vorherigen vorheriger vorheriges"},
		{this, "diese dieser diesem diesen dieses aktuelle aktuellen aktueller aktuelles laufende laufenden"},
		{ago, "zuvor her"},
		{agoFirst, "vor"},
		{of, "im des der vom in"},
		{earlier, "fruher frueher"},
		{early, "anfang anfangs beginn"},
		{mid, "mitte"},
		{late, "ende"},
		{penult, "vorletzte vorletzten vorletzter vorletztes vorletztem"},
		{few, "paar einige einigen wenige wenigen"},
		{several, "mehrere mehreren"},
		{session, "sitzung sitzungen gesprach gesprache gesprachen gespraech gespraeche gespraechen gesprachs " +
			"unterhaltung unterhaltungen konversation konversationen session sessions chat chats dialog dialoge " +
			"dialogen diskussion diskussionen"},
		{weakly, "treffen austausch"},
		{plural, "sitzungen gesprache gesprachen gespraeche gespraechen unterhaltungen konversationen sessions chats dialoge " +
			"dialogen diskussionen tage tagen wochen monate monaten quartale quartalen jahre jahren wochenenden stunden"},
		{numero, "nummer nr"},
		{today, "heute"},
		{yesterday, "gestern"},
		{twoAgo, "vorgestern"},
		{coming, "nachste nachsten nachster nachstes naechste naechsten naechster naechstes kommende kommenden jede jeden " +
			"jeder jedes"},
		{our, "unsere unserer unserem unseren unser unseres"},
		{their, "seine seiner seinem seinen ihre ihrer"},
		{occasion, "mal"},
		{generic, "was woruber worueber wovon worum wann wo wer wie welche welches welcher welchen haben hab habe hast hat hatten " +
			"hatte wir uns ich du ihr man mit dir mir mich dich sie es um uber ueber davon daruber daruber war waren ist sind " +
			"hier so denn eigentlich noch alles etwas genau nochmal bitte doch mal da dort dabei auch das die der den dem ein eine " +
			"und oder zu auf aus kannst konntest koenntest kann konnen wurde wurden worden wird"},
		{generic, "besprochen besprachen besprechen gesprochen sprachen sprechen geredet redeten reden diskutiert diskutierten " +
			"gesagt sagte erzahlt erzaehlt unterhalten gechattet gequatscht erwahnt erwaehnt behandelt ging gings " +
			"gegangen geht handelte handelt " +
			"passiert geschehen los gemacht"},
		{generic, "thema themen sache sachen dinge inhalt inhalte punkte zusammenfassung fasse fass zusammen zeig zeige gib sag " +
			"nenne liste erinnere erinnerst weisst weiss uberblick ueberblick tag tagen woche monat jahr datum"},
	},
}

// germanCompounds adds the weekdays joined with a part of the day: "Freitagabend".
func (b builder) germanCompounds() {
	for weekday := range strings.FieldsSeq("montag dienstag mittwoch donnerstag freitag samstag sonntag") {
		n := 0
		for part := range strings.SplitSeq("morgen vormittag,mittag,nachmittag,abend,nacht", ",") {
			n++
			for word := range strings.FieldsSeq(part) {
				e := b.entry(weekday+word, german)
				e.weekday, e.part, e.roles = b[weekday].weekday, uint8(n), calendar
			}
		}
	}
}

// germanNumerals adds the numbers that German writes as one word ("einundzwanzig") and all
// inflected ordinals.
func (b builder) germanNumerals() {
	names := make(map[int][]string)
	n := 0
	for meaning := range strings.SplitSeq(germanTable.cardinals, ",") {
		n++
		for word := range strings.FieldsSeq(meaning) {
			names[int(scale(n))] = append(names[int(scale(n))], word)
		}
	}
	names[1] = names[1][:1]
	for ten := 20; ten <= 90; ten += 10 {
		for one := 1; one <= 9; one++ {
			for _, o := range names[one] {
				for _, t := range names[ten] {
					word := o + "und" + t
					names[ten+one] = append(names[ten+one], word)
					b.entry(word, german).cardinal = int16(ten + one)
				}
			}
		}
	}
	for n, words := range names {
		for _, word := range words {
			b.germanOrdinal(word, n)
		}
	}
	for n, stem := range map[int]string{1: "ers", 3: "drit", 7: "sieb"} {
		b.germanOrdinal(stem, n)
	}
}

// germanOrdinal adds the inflected ordinals of a stem.
func (b builder) germanOrdinal(stem string, n int) {
	suffix := "te"
	if n >= 20 {
		suffix = "ste"
	}
	if n == 8 {
		suffix = "e" // achte
	}
	for _, ending := range []string{"", "n", "r", "s", "m"} {
		b.entry(stem+suffix+ending, german).ordinal = int16(n)
	}
}
