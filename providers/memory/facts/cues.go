package facts

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scene holds the features that all units of a message share.
type scene struct {
	units           []unit
	at              int // the unit in work
	language        string
	asks, questions int
	today           time.Time
	// paragraphs describes each unit's paragraph by its length and by whether it has first-person
	// words.
	paragraphs []string
	people     bool // a conversation between people
	message    *bag // the features shared by all units
}

func (e *extractor) scene() *scene {
	sc := &scene{units: e.units(), language: e.t.language(), people: e.people || e.speaker.named}
	for i := range sc.units {
		if sc.units[i].asked {
			sc.asks++
		}
	}
	for i := range e.sentences {
		if e.sentences[i].question {
			sc.questions++
		}
	}
	sc.today = time.Date(e.at.Year(), e.at.Month(), e.at.Day(), 0, 0, 0, 0, e.at.Location())
	sc.paragraphs = e.paragraphs(sc.units)
	sc.message = newBag()
	sc.message.keep = e.training
	e.request(sc.message, sc.units)
	return sc
}

// paragraphs returns the description of each unit's paragraph.
func (e *extractor) paragraphs(us []unit) []string {
	out := make([]string, 0, len(us))
	for i := 0; i < len(us); {
		j, own := i, 0
		for ; j < len(us) && (j == i || bytes.IndexByte(e.t.fold[us[j-1].to:us[j].from], '\n') < 0); j++ {
			if e.ofSelf(&us[j]) {
				own++
			}
		}
		name := bucketName(j-i) + "_" + bucketName(own*4/(j-i))
		for ; i < j; i++ {
			out = append(out, name)
		}
	}
	return out
}

// ofSelf reports whether a unit has a first-person word.
func (e *extractor) ofSelf(u *unit) bool {
	return slices.ContainsFunc(e.t.words(u.from, min(u.to, u.from+maxUnit)), func(w word) bool { return selves[e.t.folded(w)] })
}

var selves = wordSet(`i i'm im i've i'll i'd my we we're we've we'll our me us mine ours ich mein meine meiner
	meinen meinem mir mich wir uns unser unsere unserer unseren
	yo mi mis me nos nosotros nuestro nuestra nuestros nuestras soy tengo estoy je j'ai mon ma mes nous notre nos moi`)

// maxAsked is the number of words of the message's requests that become features.
const maxAsked = 60

// request adds the message's requests, which hint at the purpose of its other sentences.
func (e *extractor) request(b *bag, us []unit) {
	n, own := 0, 0
	for i := range us {
		u := &us[i]
		if e.ofSelf(u) {
			own++
		}
		if !u.asked || n >= maxAsked {
			continue
		}
		before := "^"
		for _, w := range e.t.words(u.from, min(u.to, u.from+longUnit)) {
			if n++; n > maxAsked {
				break
			}
			f := e.t.folded(w)
			b.add("m=", f)
			b.add("mb=", before, "_", f)
			before = f
		}
	}
	if len(us) > 0 {
		b.add("own=", bucketName(len(us)), "_", bucketName(own*4/len(us)))
	}
}

// maxWords is the number of words of a unit that become features.
const maxWords = 100

// features fills the bag with the features of unit k and its surroundings.
func (e *extractor) features(b *bag, sc *scene, k int) {
	b.reset()
	u := &sc.units[k]
	ws := e.t.words(u.from, u.to)
	ws = ws[:min(len(ws), maxWords)]
	b.add("bias")
	b.add("lang=", sc.language)
	b.add("len=", bucketName(len(ws)))
	e.wording(b, u, ws)
	e.opening(b, u, ws)
	e.manner(b, u)
	e.when(b, u, sc.today)
	e.byRules(b, sc, u)
	e.place(b, sc, k)
	b.join(sc.message)
	b.add("para=", sc.paragraphs[k])
}

// wording adds words, word pairs, their shapes, and parts of words.
func (e *extractor) wording(b *bag, u *unit, ws []word) {
	t := e.t
	before, shapeBefore := "^", "^"
	caps, nums := 0, 0
	for i, w := range ws {
		f := t.folded(w)
		begins := w.from == u.sentence.from
		sh := t.shape(w, begins)
		if e.addresses(u, ws, i) {
			f, sh, begins = "@", "@", true
			b.add("address")
		}
		if sh == "0" {
			f = "0"
			nums++
		}
		if t.capital(w.from) && !begins && f != "i" && !strings.HasPrefix(f, "i'") {
			caps++
		}
		b.when(w.to > w.from+2 && t.capital(w.from) && t.capital(w.from+1), "loud")
		b.add("u=", f)
		b.add("b=", before, "_", f)
		b.add("h=", shapeBefore, "_", sh)
		if i < 3 {
			b.add("f=", boundNames[i], f)
		}
		if len(f) > 4 {
			b.add("p=", f[:4])
			b.add("x=", f[len(f)-3:])
		}
		before, shapeBefore = f, sh
	}
	b.add("b=", before, "_$")
	b.add("h=", shapeBefore, "_$")
	end := min(u.to+4, len(t.fold))
	for i, c := range t.fold[u.from:end] {
		if c == someSign || c == '!' {
			b.add("sign=", string(t.runes[u.from+i]))
		}
	}
	b.add("caps=", bucketName(caps))
	b.add("nums=", bucketName(nums))
}

// addresses reports whether a word of a unit is the name of the person who is addressed: "Thanks, Mel!", "Tim, well done".
func (e *extractor) addresses(u *unit, ws []word, i int) bool {
	t, w := e.t, ws[i]
	if !t.capital(w.from) || len(ws) < 2 || len(cuesOf[t.folded(w)]) > 0 || function[t.folded(w)] {
		return false
	}
	before := i == len(ws)-1 && w.from > 1 && t.fold[w.from-1] == ' ' && t.fold[w.from-2] == ','
	after := i == 0 && w.from == u.sentence.from && w.to < len(t.fold) && t.fold[w.to] == ','
	return before || after
}

// opening adds the first words of a unit.
func (e *extractor) opening(b *bag, u *unit, ws []word) {
	t := e.t
	if len(ws) > 1 {
		b.add("f2=", t.folded(ws[0]), "_", t.folded(ws[1]))
		b.add("fs=", t.shape(ws[0], true), "_", t.shape(ws[1], false))
	}
	if at := t.skipLead(u.from, u.to); at < u.to {
		w := t.first(at, u.to)
		b.add("open=", w)
		_, elided := subjectless[w]
		b.when(elided, "elided")
	}
	var set setting
	e.open(u.from, u.to, &set)
	b.when(set.remember, "remember")
	b.when(set.hedge, "hedge")
}

// manner adds whether a unit asks, supposes or jokes, and whom it is about.
func (e *extractor) manner(b *bag, u *unit) {
	s := u.sentence
	b.when(u.asked, "asked")
	b.when(s.question, "question")
	b.when(s.question && u.last, "question mark")
	b.when(u.supposed, "supposed")
	b.when(s.joke, "joke")
	b.when(s.story, "story")
	b.when(s.secret, "secret")
	b.when(s.task, "task")
	b.when(e.speaker.named, "named")
	b.when(e.people, "people")
	b.when(e.people && u.asked, "people asked")
	b.when(e.people && !e.ofSelf(u), "people, not of self")
	e.cueWords(b, u)
	e.order(b, u)
}

// order adds whether a unit begins with an order, and what it is about, alike in all languages.
func (e *extractor) order(b *bag, u *unit) {
	t := e.t
	ws := t.words(u.from, min(u.to, u.from+maxUnit))
	begins, listed, topic, cues := false, 0, "", map[string]bool{}
	before := ""
	for i, w := range ws {
		f := t.folded(w)
		begins = begins || i < 3 && imperatives[f] && (i == 0 || polite[before] || adverbs[before] || joiners[before])
		if x := topicOf(before, f); x != "" {
			topic = x
		}
		for _, names := range [...][]string{cuesOf[f], cuesOf[before+" "+f]} {
			for _, name := range names {
				cues[name] = true
			}
		}
		if w.to < len(t.fold) && t.fold[w.to] == ',' {
			listed++
		}
		before = f
	}
	r := pieceReader{t: t, ws: ws}
	for _, w := range ws {
		r.f = append(r.f, t.folded(w))
	}
	name := "order"
	switch {
	case begins:
	case r.hasVerb(0, len(ws)):
		name = "sentence"
	default:
		name = "phrase"
		b.when(listed > 1 && bytes.IndexByte(t.fold[u.from:u.to], ':') >= 0, "list of things")
	}
	b.add("form=", name)
	b.when(topic != "", "wish topic")
	b.add("form=", name, ", topic=", topic)
	for _, cue := range [...]string{"standing", "generic", "of the answer", "moment", "own", "you", "they"} {
		if cues[cue] {
			b.add("form=", name, ", ", cue)
			b.when(topic != "", "topic, "+cue)
		}
	}
}

// cueWords adds the cues that single words and signs give.
func (e *extractor) cueWords(b *bag, u *unit) {
	t, end := e.t, min(u.to, u.from+maxUnit)
	ws := t.words(u.from, end)
	for i, w := range ws {
		f := t.folded(w)
		for _, name := range cuesOf[f] {
			b.add("cue=", name)
		}
		b.when(strings.HasSuffix(f, "n't"), "cue=denial")
		b.when(f[0] >= '0' && f[0] <= '9', "cue=number")
		if i+1 == len(ws) {
			break
		}
		next := t.folded(ws[i+1])
		for _, name := range cuesOf[f+" "+next] {
			b.add("cue=", name)
		}
		if (f == "my" || f == "our") && relativeWord().Match(t.fold[ws[i+1].from:end]) {
			b.add("cue=relative")
		}
	}
	for _, c := range t.fold[u.from:end] {
		switch c {
		case '"', ':', '(', ',':
			b.add("mark=", string(rune(c)))
		}
	}
}

// when adds the times that a unit names.
func (e *extractor) when(b *bag, u *unit, today time.Time) {
	b.when(len(u.times) > 0, "time")
	for _, x := range u.times {
		b.when(!x.AheadFrom.IsZero() && !x.AheadFrom.Before(today), "time ahead")
		b.when(!x.From.IsZero() && x.From.Before(today), "time past")
	}
}

// byRules adds the rules that matched in a unit, and the number of words they leave.
func (e *extractor) byRules(b *bag, sc *scene, u *unit) {
	if ruled := e.credible(u); len(ruled) > 0 {
		left := bucketName(min(e.uncovered(u, ruled, Fact.matchedEnd), 6))
		b.add("left=", left)
		b.when(len(sc.units) == 1, "all said")
		if len(sc.units) == 1 {
			b.add("all said, left=", left)
		}
	}
	for _, f := range u.facts {
		b.add("rule=", f.Rule)
		b.add("rulekind=", string(f.Kind))
		if f.Confidence >= minRuleConfidence {
			b.add("rule")
			b.add("rulec=", strconv.Itoa(int(f.Confidence*10)))
		} else {
			b.add("weak rule")
		}
	}
}

// place adds the position of a unit and its surroundings.
func (e *extractor) place(b *bag, sc *scene, k int) {
	u := &sc.units[k]
	b.when(k == 0, "first unit")
	b.when(k == len(sc.units)-1, "last unit")
	b.when(len(sc.units) == 1, "only unit")
	b.add("units=", bucketName(len(sc.units)))
	b.when(u.first, "begins")
	b.when(u.last, "ends")
	b.add("asks=", bucketName(sc.asks))
	b.add("questions=", bucketName(sc.questions))
	b.when(e.t.careless, "careless")
	b.when(e.t.foreign, "foreign")
	e.neighbour(b, "n", sc.units, k+1)
	e.neighbour(b, "p", sc.units, k-1)
}

// neighbour adds the first words of the previous or next unit.
func (e *extractor) neighbour(b *bag, name string, us []unit, k int) {
	if k < 0 || k >= len(us) {
		b.add(name, " none")
		return
	}
	u := &us[k]
	if u.asked {
		b.add(name, " asked")
	}
	if u.supposed {
		b.add(name, " supposed")
	}
	end := min(u.to, u.from+longUnit)
	at := u.from
	for i := range 2 {
		w := e.t.first(at, end)
		if w == "" {
			break
		}
		b.add(name, boundNames[i], "=", w)
		for at < end && !inWord(e.t.fold[at]) {
			at++
		}
		at += len(w)
	}
	for _, f := range u.facts {
		if f.Confidence >= minRuleConfidence {
			b.add(name, " rule")
			return
		}
	}
}

// relativeWord matches a word for a relative or friend.
var relativeWord = pattern(`^` + macros.Replace("{rel}") + `\b`)

// cuesOf maps words and word pairs to the cues they give.
var cuesOf = func() map[string][]string {
	out := map[string][]string{}
	for name, words := range map[string]string{
		"first person": `i im i'm ive i've i'll i'd ich yo soy tengo estoy je j'ai wir we we're we've we'll nous nosotros`,
		"own": "my our mine mein meine meiner meinen meinem unser unsere unserer unseren mi mis nuestro " +
			"nuestra nuestros nuestras mon ma mes notre nos",
		"you":    "you your you're yours du dein deine deinen dich dir tu te toi vous",
		"they":   "he she they he's she's they're his her their",
		"we":     "we we're we've we'll our wir nous nosotros on",
		"denial": "not never no none nicht kein keine keinen keiner nie nunca jamas pas jamais plus",
		"standing": "always never now_on every_time whenever by_default going_forward in_future the_future " +
			"immer nie kunftig ab_jetzt ab_sofort siempre nunca de_ahora toujours jamais desormais dorenavant",
		"recurring": "every each weekly daily monthly yearly usually often mondays tuesdays wednesdays " +
			"thursdays fridays saturdays sundays mornings evenings nights weekends jeden jede cada chaque",
		"change": "anymore any_more no_longer used_to instead_of switched moved_to changed replaced now nicht_mehr ya_no",
		"settled": `decided agreed settled chose chosen picked going_with go_with went_with decision final ` +
			`sticking stick_with approved signed_off voted entschieden beschlossen
			decidido decidimos decide`,
		"modal": "would could should might may maybe perhaps probably wish hope wondering thinking",
		"future": "will i'll we'll going_to gonna about_to plan planning planned booked due deadline " +
			"scheduled start starts starting leaving moving arrive arrives",
		"of the answer": "this that it these those here above below following attached " +
			"dies diese diesen diesem dieser dieses hier ce cet cette ces ici ca celui-la este esta esto estos estas ese eso aqui",
		"moment": "now today tonight this_time for_now just_this once until while heute diesmal gerade bis aujourd'hui cette_fois " +
			"jusqu'a pendant hoy esta_vez hasta",
		"generic": "every each all any everything anything alle allen jeder jedes jedem grundsatzlich chaque tous toutes tout " +
			"partout todo todos todas cualquier en_general in_general",
	} {
		for w := range strings.FieldsSeq(words) {
			w = strings.ReplaceAll(w, "_", " ")
			out[w] = append(out[w], name)
			slices.Sort(out[w])
		}
	}
	return out
}()
