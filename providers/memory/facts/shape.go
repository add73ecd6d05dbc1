package facts

import "strings"

// function holds function words.
var function = wordSet(`i im i'm ive i've ill i'll id i'd me my mine we we're we've we'll our us he she they it
	it's its he's she's they're his her their them him you your you're this that these those there here
	the a an is are was were be been being am do does did don't doesn't didn't have has had having will would
	won't can can't could should shall may might must not no never always every each any all some both
	and or but so because if when while until till since before after as than then though although unless whether
	of in on at to from by for with about into over under out up down off away back near between through during
	without within against around like
	what who whom which where why how
	just only also still already yet again now too very really quite please thanks ok hi hey
	go goes going went get gets got make makes made take took want wants need needs use uses used like likes love
	loves hate hates prefer prefers keep keeps kept let let's moved moving live lives lived work works worked
	start starts started starting plan planning booked decided agreed switched switching remember note call called
	named born married allergic
	more most less least much many few lot one two three first last next new old own other same another
	today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday week weeks month months year
	years day days morning evening night weekend
	ich mich mir mein meine meiner meinen meinem wir uns unser unsere er sie es der die das den dem des ein eine
	einen einem einer ist sind war waren bin hat habe haben hatte wird werden kann nicht kein keine nie immer und
	oder aber weil wenn dass mit von zu zum zur im am an auf aus bei nach seit bis fur ab jetzt nur auch noch bitte du dein
	yo me mi mis nosotros nuestro nuestra el la los las un una unos es son era fue soy estoy tengo tiene he ha
	hemos no nunca siempre y o pero porque si que con de del al en por para desde hasta ya tambien solo se lo le tu su sus este esta
	je j'ai moi mon ma mes nous notre nos il elle on le les une des est sont etait suis ai a avons ont pas ne
	jamais toujours et ou mais parce que qui quand avec de du au aux en dans pour sur depuis deja aussi c'est ce
	cette tu ton ta se son sa ses`)

// endings represent words with these endings; the first match counts.
var endings = [...]string{"ing", "ed", "ly", "n't", "'s", "'ll", "'ve", "'re", "tion", "er", "ist", "s"}

// shape returns a function word itself, and for any other word its form.
func (t *text) shape(w word, begins bool) string {
	f := t.folded(w)
	switch {
	case f[0] >= '0' && f[0] <= '9':
		return "0"
	case function[f]:
		return f
	case t.capital(w.from) && !begins:
		return "A"
	case pasts[f]:
		return "ed"
	}
	for _, s := range endings {
		if len(f) > len(s)+2 && strings.HasSuffix(f, s) {
			return s
		}
	}
	return "-"
}

// language returns the code of the language of a message, guessed from its words.
func (t *text) language() string {
	counts := map[string]int{}
	for _, w := range t.words(0, min(len(t.fold), 4*window)) {
		for _, l := range languagesOf[t.folded(w)] {
			counts[l]++
		}
	}
	best := "en"
	for _, l := range [...]string{"de", "es", "fr"} {
		if counts[l] > counts[best] {
			best = l
		}
	}
	return best
}

// languagesOf maps a word to the languages in which it is frequent.
var languagesOf = func() map[string][]string {
	out := map[string][]string{}
	for code, words := range map[string]string{
		"de": `ich mir mich mein meine wir und der die das ist nicht ein eine mit fur auf bitte kannst wie auch habe bin den dem im zu
			du dir dich von nur immer kein keine wenn jetzt ab aber sich noch nach bei vor oder sind alles schon zum zur ja`,
		"es": `el la los las que en mi mis es un una con por para no se me y yo soy tengo puedes como del al
			de siempre nunca nada sin pero cuando desde todo favor ya hasta nos este esta te lo`,
		"fr": `je j'ai le la les des est un une mon ma mes et nous pas pour dans sur que tu c'est avec du au suis
			de en moi toujours jamais ne sans ce cette aux vous merci quand tout se il elle s'il svp nos plus`,
		"en": `the i me my is and to a of in for it we you on with that was are this have be not at can
			from no when if as by or your always please never don't an about all but what they only every`,
	} {
		for w := range strings.FieldsSeq(words) {
			out[w] = append(out[w], code)
		}
	}
	return out
}()
