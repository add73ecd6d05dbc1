package memory

import (
	"iter"
	"strings"
	"sync"
	"unicode"
)

// timeWords holds lower-case words for points in time and durations.
var timeWords = sync.OnceValue(func() map[string]bool {
	set := make(map[string]bool)
	for _, list := range [...]string{
		// English
		`yesterday today tomorrow tonight ago last next week weeks weekend weekends month months year years day days
		hour hours minute minutes decade decades morning afternoon evening night noon midnight since until recently
		lately soon monday tuesday wednesday thursday friday saturday sunday january february march april may june july
		august september october november december jan feb mar apr jun jul aug sep sept oct nov dec spring summer
		autumn fall winter christmas easter birthday anniversary deadline`,
		// German
		`gestern vorgestern heute morgen übermorgen seit letzte letzten letztes nächste nächsten nächstes woche
		wochen wochenende monat monate monaten jahr jahre jahren tag tage tagen stunde stunden montag dienstag mittwoch
		donnerstag freitag samstag sonnabend sonntag januar februar märz mai juni juli oktober dezember frühling sommer
		herbst winter weihnachten ostern geburtstag neulich kürzlich`,
		// Spanish
		`ayer anteayer hoy mañana anoche pasado pasada próximo próxima semana semanas meses año años
		día días hora horas lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio
		agosto septiembre octubre noviembre diciembre primavera verano otoño invierno navidad cumpleaños`,
		// French
		`aujourd demain depuis dernier dernière prochain prochaine semaine semaines mois année années
		jour jours heure heures lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet
		août septembre octobre novembre décembre printemps été automne hiver noël anniversaire`,
		// Russian
		`вчера позавчера сегодня завтра назад неделя неделю недели месяц месяца месяцев год года лет день дня дней час часа
		понедельник вторник среду четверг пятницу субботу воскресенье января февраля марта апреля мая июня июля августа
		сентября октября ноября декабря весной летом осенью зимой`,
	} {
		for w := range strings.FieldsSeq(list) {
			set[w] = true
		}
	}
	return set
})

// timeSigns are the same for scripts without spaces.
var timeSigns = [...]string{
	"昨天", "今天", "明天", "前天", "上周", "下周", "星期", "周末", "去年", "今年", "明年", "年前", "月份", "個月", "个月", "小时",
	"昨日", "今日", "明日", "先週", "来週", "曜日", "昨年", "来年", "ヶ月", "時間",
	"어제", "오늘", "내일", "지난주", "다음주", "요일", "작년", "개월",
}

// timed reports whether a text mentions a time.
func timed(text string) bool {
	known := timeWords()
	for w := range words(text) {
		if known[w] || year(w) {
			return true
		}
	}
	return hasSign(text, timeSigns[:])
}

// year reports whether a word is a contemporary year, or a date containing one.
func year(w string) bool {
	return len(w) == 4 && (w[:2] == "19" || w[:2] == "20") && w[2] >= '0' && w[2] <= '9' && w[3] >= '0' && w[3] <= '9'
}

// whenPhrases begin questions about a time, or are such questions.
var whenPhrases = [...]string{
	"when", "how long", "how soon", "how recently", "how often", "what time", "what day", "what date", "what month",
	"what year", "what week",
	"which day", "which date", "which month", "which year", "which week", "how many days", "how many weeks",
	"how many months", "how many years", "how many hours",
	"what was the date", "what is the date", "since when", "until when", "how old",
	"wann", "wie lange", "wie lang", "wie oft", "wie spät", "an welchem tag", "welcher tag", "welches datum",
	"in welchem monat", "in welchem jahr",
	"wie viele tage", "wie viele wochen", "wie viele monate", "wie viele jahre", "wie alt",
	"cuándo", "cuando", "cuánto tiempo", "qué día", "qué fecha", "qué mes", "qué año", "qué hora", //nolint:misspell // Spanish
	"cuántos días", "cuántas semanas", "cuántos meses", "cuántos años",
	"quand", "combien de temps", "quel jour", "quelle date", "quel mois", "quelle année", "quelle heure",
	"combien de jours", "combien de semaines", "combien de mois",
	"когда", "как долго", "сколько времени", "какого числа", "в каком году", "в каком месяце", "как давно",
}

var whenSigns = [...]string{
	"什么时候", "什麼時候", "何时", "多久", "几点", "哪天", "哪年", "哪一天", "几月", "いつ", "何時", "何日", "何月", "何年", "どのくらい", "언제", "얼마나",
	"며칠", "몇 월", "몇 년", "متى", "منذ متى",
}

// asksWhen reports whether a question asks for a time.
func asksWhen(question string) bool {
	var folded strings.Builder
	folded.WriteByte(' ')
	for w := range words(question) {
		folded.WriteString(w)
		folded.WriteByte(' ')
	}
	q := folded.String()
	for _, p := range whenPhrases {
		if strings.Contains(q, " "+p+" ") {
			return true
		}
	}
	return hasSign(question, whenSigns[:])
}

func hasSign(text string, signs []string) bool {
	for _, s := range signs {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// words yields the lower-cased words of a text.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(text,
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) }) {
			if !yield(strings.ToLower(w)) {
				return
			}
		}
	}
}
