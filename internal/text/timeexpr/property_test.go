package timeexpr_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// seeds returns the questions of testdata.
func seeds(t testing.TB) (questions []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no questions: %v", err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != '"' && line != "-" {
				questions = append(questions, line)
			}
		}
	}
	return questions
}

// check verifies the invariants of a reading.
func check(t interface{ Errorf(string, ...any) }, question string, now time.Time) {
	r, ok := timeexpr.Read(question, now)
	if !ok {
		if r != (timeexpr.Reading{}) {
			t.Errorf("%q: no time, but %+v", question, r)
		}
		return
	}
	if r.Start < 0 || r.End <= r.Start || r.End > len(question) {
		t.Errorf("%q: the time is at %d to %d", question, r.Start, r.End)
		return
	}
	if utf8.ValidString(question) && !utf8.ValidString(question[r.Start:r.End]) {
		t.Errorf("%q: the time %q parts a character", question, question[r.Start:r.End])
	}
	before, after := question[:r.Start], question[r.End:]
	if r.Rest != before+after && r.Rest+" " != before+" "+strings.TrimPrefix(after, " ") &&
		r.Rest != before+strings.TrimPrefix(after, " ") {
		t.Errorf("%q without its time: %q", question, r.Rest)
	}
	named := r.Current || r.Sessions != [2]int{}
	open := r.From.IsZero() && r.To.IsZero()
	switch {
	case named != open:
		t.Errorf("%q: %+v names both or neither", question, r)
	case named && !r.Current && (r.Sessions[0] == 0 || r.Sessions[1] == 0):
		t.Errorf("%q: %+v names half", question, r)
	case !r.From.IsZero() && !r.To.IsZero() && r.To.Before(r.From):
		t.Errorf("%q: %+v ends before it begins", question, r)
	case r.Day && !r.Earlier && r.To.Sub(r.From) > 25*time.Hour:
		t.Errorf("%q: %+v is no day", question, r)
	case r.PartTo.Before(r.PartFrom), r.PartFrom.IsZero() != r.PartTo.IsZero():
		t.Errorf("%q: %+v has a wrong part", question, r)
	case !r.From.IsZero() && r.From.Location() != now.Location():
		t.Errorf("%q: %v is elsewhere", question, r.From)
	}
}

func TestInvariants(t *testing.T) {
	var words []string
	for _, q := range seeds(t) {
		words = append(words, strings.Fields(q)...)
	}
	berlin := time.FixedZone("somewhere", 5*3600+1800)
	rapid.Check(t, func(rt *rapid.T) {
		piece := rapid.OneOf(rapid.SampledFrom(words), rapid.SampledFrom(astray), rapid.StringN(0, 4, 8),
			rapid.SampledFrom([]string{"3", "31", "2023", "5.", "-", "–", ",", "1/2", "9999", "May", "to", "and", "of", "session", "ago"}))
		question := strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(rt, "pieces"), " ")
		when := time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(rt, "now"), 0).In(berlin)
		check(rt, question, when)
	})
}

func FuzzRead(f *testing.F) {
	for _, q := range append(seeds(f), astray...) {
		f.Add(q, now.Unix())
	}
	f.Add("yesterday", int64(-62135596800))
	f.Add("9999 years ago", int64(253402300799))
	f.Fuzz(func(t *testing.T, question string, unix int64) {
		check(t, question, time.Unix(unix%253402300800, 0).UTC())
	})
}

// Names in the order of their numbers.
var (
	months = map[string][]string{
		"en": strings.Fields("January February March April May June July August September October November December"),
		"de": strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
		"es": strings.Fields("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
		"fr": strings.Fields("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
	}
	weekdays = map[string][]string{ // Sunday first, as package time counts
		"en": strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday"),
		"de": strings.Fields("Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag"),
		"es": strings.Fields("domingo lunes martes miércoles jueves viernes sábado"),
		"fr": strings.Fields("dimanche lundi mardi mercredi jeudi vendredi samedi"),
	}
)

// spellings are the ways to write a date with its year. %[1]s is the month's
// name, %[2]d the day, %[3]d the year, %[4]s the weekday, %[5]d the month,
// %[6]s the English ending of the day, and %[7]d the year without its century.
var spellings = map[string][]string{
	"en": {
		"on %[1]s %[2]d, %[3]d", "on %[1]s %[2]d%[6]s, %[3]d", "on %[1]s the %[2]d%[6]s %[3]d", "on %[2]d %[1]s %[3]d",
		"on the %[2]d%[6]s of %[1]s %[3]d", "on the %[2]d%[6]s of %[1]s, %[3]d", "on %[4]s, %[1]s %[2]d%[6]s, %[3]d",
		"on %[4]s %[2]d %[1]s %[3]d", "on %[3]d-%02[5]d-%02[2]d", "on %[3]d/%[5]d/%[2]d", "on %02[2]d.%02[5]d.%[3]d",
		"on %[2]d-%[1]s-%[3]d", "on %[1]s %[2]d%[6]s '%02[7]d",
	},
	"de": {
		"am %[2]d. %[1]s %[3]d", "am %[4]s, dem %[2]d. %[1]s %[3]d", "am %[4]s, %[2]d. %[1]s %[3]d", "am %02[2]d.%02[5]d.%[3]d",
		"am %[2]d.%[5]d.%[3]d", "am %[2]d.%[5]d.%02[7]d", "am %[3]d-%02[5]d-%02[2]d", "am %[2]d %[1]s %[3]d",
	},
	"es": {
		"el %[2]d de %[1]s de %[3]d", "el %[2]d de %[1]s del %[3]d", "el %[4]s %[2]d de %[1]s de %[3]d",
		"el %[4]s, %[2]d de %[1]s de %[3]d",
		"el %[2]d/%[5]d/%[3]d", "el %02[2]d-%02[5]d-%[3]d", "el %[3]d-%02[5]d-%02[2]d",
	},
	"fr": {
		"le %[2]d %[1]s %[3]d", "le %[4]s %[2]d %[1]s %[3]d", "le %02[2]d/%02[5]d/%[3]d",
		"le %02[2]d.%02[5]d.%[3]d", "le %[3]d-%02[5]d-%02[2]d",
	},
}

// asking are questions that a time completes.
var asking = map[string]string{
	"en": "What did we talk about %s?",
	"de": "Worüber haben wir %s gesprochen?",
	"es": "¿De qué hablamos %s?",
	"fr": "De quoi avons-nous parlé %s ?",
}

func ending(n int) string {
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			return "st"
		case 2:
			return "nd"
		case 3:
			return "rd"
		}
	}
	return "th"
}

func spell(format, language string, d time.Time) string {
	s := fmt.Sprintf(format, months[language][d.Month()-1], d.Day(), d.Year(), weekdays[language][d.Weekday()], int(d.Month()),
		ending(d.Day()), d.Year()%100)
	return strings.Split(s, "%!(EXTRA")[0]
}

// Dates are read back from every spelling of every language.
func TestDatesReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := time.Date(2000, 1, 1+rapid.IntRange(0, 36500).Draw(rt, "day"), 0, 0, 0, 0, time.UTC)
		for language, formats := range spellings {
			for _, format := range formats {
				question := fmt.Sprintf(asking[language], spell(format, language, d))
				r, ok := timeexpr.Read(question, now)
				if !ok || !r.From.Equal(d) || !r.To.Equal(d.AddDate(0, 0, 1)) || !r.Day || !r.Only {
					rt.Errorf("%q: %v, %+v", question, ok, r)
				}
			}
		}
	})
}

// A date without its year is the latest that is not after now.
func TestYearless(t *testing.T) {
	formats := map[string]string{"en": "on %[1]s %[2]d", "de": "am %[2]d. %[1]s", "es": "el %[2]d de %[1]s", "fr": "le %[2]d %[1]s"}
	rapid.Check(t, func(rt *rapid.T) {
		at := time.Date(2000, 1, 1, 0, rapid.IntRange(0, 30_000_000).Draw(rt, "minute"), 0, 0, time.UTC)
		y, m, d := at.Date()
		want := time.Date(y, m, d-rapid.IntRange(0, 364).Draw(rt, "days ago"), 0, 0, 0, 0, time.UTC)
		for language, format := range formats {
			question := fmt.Sprintf(asking[language], spell(format, language, want))
			if r, ok := timeexpr.Read(question, at); !ok || !r.From.Equal(want) {
				rt.Errorf("%q at %v: %v, %v", question, at, ok, r.From)
			}
		}
	})
}

// Number words, from nought.
var (
	englishOnes = strings.Fields("- one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " +
		"seventeen eighteen nineteen")
	englishTens  = strings.Fields("- - twenty thirty forty fifty sixty seventy eighty ninety")
	englishFirst = strings.Fields("- first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth " +
		"fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth")
	germanOnes = strings.Fields("- ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn " +
		"siebzehn achtzehn neunzehn")
	germanTens  = strings.Fields("- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
	spanishOnes = strings.Fields("- uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis " +
		"diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete " +
		"veintiocho veintinueve")
	spanishTens  = strings.Fields("- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa")
	spanishFirst = strings.Fields("- primera segunda tercera cuarta quinta sexta séptima octava novena")
	spanishTenth = strings.Fields("- décima vigésima trigésima cuadragésima quincuagésima sexagésima septuagésima octogésima nonagésima")
	frenchOnes   = strings.Fields("- un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept " +
		"dix-huit dix-neuf")
	frenchTens = strings.Fields("- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt") //nolint:misspell // French
)

func englishNumber(n int) (cardinal, ordinal string) {
	switch {
	case n < 20:
		return englishOnes[n], englishFirst[n]
	case n%10 == 0:
		return englishTens[n/10], strings.TrimSuffix(englishTens[n/10], "y") + "ieth"
	}
	return englishTens[n/10] + "-" + englishOnes[n%10], englishTens[n/10] + "-" + englishFirst[n%10]
}

func germanNumber(n int) (cardinal, ordinal string) {
	switch {
	case n < 20:
		cardinal = germanOnes[n]
	case n%10 == 0:
		cardinal = germanTens[n/10]
	default:
		cardinal = germanOnes[n%10] + "und" + germanTens[n/10]
	}
	switch {
	case n >= 20:
		return cardinal, cardinal + "sten"
	case n == 1:
		return "eins", "ersten"
	case n == 3:
		return cardinal, "dritten"
	case n == 7:
		return cardinal, "siebten"
	case n == 8:
		return cardinal, "achten"
	}
	return cardinal, cardinal + "ten"
}

func spanishNumber(n int) (cardinal, ordinal string) {
	switch {
	case n < 30:
		cardinal = spanishOnes[n]
	case n%10 == 0:
		cardinal = spanishTens[n/10]
	default:
		cardinal = spanishTens[n/10] + " y " + spanishOnes[n%10]
	}
	switch {
	case n < 10:
		return cardinal, spanishFirst[n]
	case n%10 == 0:
		return cardinal, spanishTenth[n/10]
	}
	return cardinal, spanishTenth[n/10] + " " + spanishFirst[n%10]
}

func frenchNumber(n int) (cardinal, ordinal string) {
	one := n % 10
	if n >= 70 && n < 80 || n >= 90 {
		one += 10
	}
	switch {
	case n < 20:
		cardinal = frenchOnes[n]
	case one == 0:
		cardinal = frenchTens[n/10]
	case one%10 == 1 && n < 80:
		cardinal = frenchTens[n/10] + " et " + frenchOnes[one]
	default:
		cardinal = frenchTens[n/10] + "-" + frenchOnes[one]
	}
	switch {
	case n == 1:
		return cardinal, "première"
	case strings.HasSuffix(cardinal, "cinq"):
		return cardinal, cardinal + "uième"
	case strings.HasSuffix(cardinal, "neuf"):
		return cardinal, strings.TrimSuffix(cardinal, "f") + "vième"
	}
	return cardinal, strings.TrimSuffix(cardinal, "e") + "ième"
}

// All numbers from 1 to 99 are read in words: of sessions, counted from the
// first and from the last, and of days.
func TestNumberWords(t *testing.T) {
	languages := map[string]struct {
		number               func(int) (string, string)
		ranked, back, passed string
	}{
		"en": {englishNumber, "in our %s session", "%s sessions ago", "%s days ago"},
		"de": {germanNumber, "in unserer %s Sitzung", "vor %s Sitzungen", "vor %s Tagen"},
		"es": {spanishNumber, "en nuestra %s sesión", "hace %s sesiones", "hace %s días"},
		"fr": {frenchNumber, "lors de notre %s séance", "il y a %s séances", "il y a %s jours"},
	}
	for name, l := range languages {
		for n := 1; n < 100; n++ {
			cardinal, ordinal := l.number(n)
			for _, c := range []struct {
				words string
				want  int
			}{{fmt.Sprintf(l.ranked, ordinal), n}, {fmt.Sprintf(l.back, cardinal), -n}} {
				question := fmt.Sprintf(asking[name], c.words)
				if r, ok := timeexpr.Read(question, now); !ok || r.Sessions != [2]int{c.want, c.want} || !r.Only {
					t.Errorf("%q: %v, sessions %v, want %d; only %v", question, ok, r.Sessions, c.want, r.Only)
				}
			}
			question := fmt.Sprintf(asking[name], fmt.Sprintf(l.passed, cardinal))
			want := time.Date(2023, 11, 15-n, 0, 0, 0, 0, time.UTC)
			if r, ok := timeexpr.Read(question, now); !ok || !r.From.Equal(want) || !r.Day || !r.Only {
				t.Errorf("%q: %v, %v, want %v; only %v", question, ok, r.From, want, r.Only)
			}
		}
	}
}
