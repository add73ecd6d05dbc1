package facts

import (
	"strings"
	"time"
	"unicode"
)

// Checks reject matches that a rule's pattern cannot rule out.

// foldedValue returns the folded value.
func (m *match) foldedValue() string { return string(m.t.fold[m.vFrom:m.vTo]) }

// head returns the first word of the value.
func (m *match) head() string { return m.t.first(m.vFrom, m.vTo) }

// not returns a check that rejects values matching an expression.
func not(expr string) func(*match) bool {
	re := pattern(`^(?:` + strings.ReplaceAll(expr, " ", `\s+`) + `)`)
	return func(m *match) bool { return !re().MatchString(m.foldedValue()) }
}

// all returns a check that requires all of several checks.
func all(checks ...func(*match) bool) func(*match) bool {
	return func(m *match) bool {
		for _, c := range checks {
			if !c(m) {
				return false
			}
		}
		return true
	}
}

// askedToRemember requires that the speaker asked to remember the statement.
func askedToRemember(m *match) bool {
	if !m.set.remember || addressed().MatchString(m.foldedValue()) || m.vTo-m.vFrom < 12 {
		return false
	}
	explicit := strings.HasSuffix(strings.TrimRight(m.set.cue, " :,"), "that") ||
		strings.ContainsAny(m.set.cue, ":,") || !strings.HasPrefix(strings.TrimPrefix(m.set.cue, "please "), "remember")
	if w := m.head(); !explicit && w != "the" && w != "my" && w != "our" && w != "we" && w != "i" && !m.t.capital(m.vFrom) {
		return false
	}
	switch m.head() {
	case "when", "any", "photo", "how", "what", "to", "the last", "me", "that", "us", "for", "also", "zu", "de",
		"comment", "como", "cuando", "quand":
		return false
	}
	return true
}

// properWords reports whether every word of the value is capitalized.
func (m *match) properWords(from, to int) bool {
	ws := m.t.words(from, to)
	for _, w := range ws {
		switch m.t.folded(w) {
		case "de", "van", "von", "der", "da", "del", "la", "le", "di", "bin", "al":
			continue
		}
		if !m.t.capital(w.from) {
			return false
		}
	}
	return len(ws) > 0
}

var noNames = wordSet(`not on in the a an when if back at later crazy old spelled too very so also wrong right me
	you often by once for only from it unimportant
	nicht der die das ein no un una el la pas le un une este esta esto ese eso ce cette das dies der very sorry ok
	okay sure here there done back ready fine good great happy sad tired busy new just glad aware curious`)

// nameLike requires a name: few words, none of which begins another construction.
func nameLike(m *match) bool {
	n := len(m.t.words(m.vFrom, m.vTo))
	return n > 0 && n <= 4 && !noNames[m.head()] && (m.t.capital(m.vFrom) || m.t.careless)
}

var notPeople = wordSet(`sorry ok okay aws it ai linux windows german english french spanish android ios java python typescript go rust api
	december january february march april may june july august september october november monday tuesday wednesday
	thursday friday saturday sunday
	here so not in at on the a an this that`)

// capitals requires capitalized words that do not name a thing.
func capitals(m *match) bool {
	return m.properWords(m.vFrom, m.vTo) && !notPeople[m.head()] && m.k == 0 && m.t.sentenceStart(m.s) &&
		!strings.HasSuffix(m.foldedValue(), "'s") &&
		strings.IndexFunc(m.value, unicode.IsDigit) < 0 && strings.ToUpper(m.value) != m.value
}

// sentenceStart reports whether the sentence is near the beginning of the message.
func (t *text) sentenceStart(s *sentenceSpan) bool { return s.from < 60 }

// properName requires a value written as a name.
func properName(m *match) bool {
	if m.to < len(m.t.fold) && m.t.fold[m.to] == '\'' {
		return false
	}
	if noNames[m.head()] || pointing[m.head()] || notPeople[m.head()] || subjects[m.head()] {
		return false
	}
	return m.properWords(m.vFrom, m.vTo)
}

// nameAfterRelative requires a name after the word for a relative.
func nameAfterRelative(m *match) bool {
	if _, to, ok := m.group("a"); !ok || to >= m.vFrom {
		return false
	}
	ws := m.t.words(m.vFrom, m.vTo)
	if !m.t.capital(ws[0].from) || subjects[m.t.folded(ws[0])] || notPeople[m.t.folded(ws[0])] || askers[m.t.folded(ws[0])] {
		return false
	}
	if len(ws) == 2 && !m.t.capital(ws[1].from) {
		m.vTo = ws[0].to
		m.value = m.t.orig(m.vFrom, m.vTo)
		m.to = m.vTo
		if _, _, ok := m.group("p"); ok {
			from, _, _ := m.group("p")
			m.loc[2*m.rule.rx.SubexpIndex("p")+1] = m.vTo
			_, rest, _ := strings.Cut(m.t.orig(from, m.vTo), " ")
			m.subject = m.extractor.speaker.mid() + "'s " + rest
			m.lastPerson = m.subject
		}
	}
	return len(ws) < 3 && !(len(ws) == 2 && m.t.capital(ws[1].from) && subjects[m.t.folded(ws[1])])
}

// plural matches a word in the plural behind a number: an amount, and no age.
var plural = pattern(`^\s+[a-z]+s\b`)

func ageLike(m *match) bool {
	return m.loc[1] >= m.s.to || !plural().Match(m.t.fold[m.loc[1]:m.s.to])
}

// capitalOrDigit requires a date or a name.
func capitalOrDigit(m *match) bool {
	return m.time != nil || strings.IndexFunc(m.value, func(r rune) bool { return unicode.IsDigit(r) || unicode.IsUpper(r) }) >= 0
}

var livable = all(notFor, not(`fear|a (?:world|dream|society|bubble|place of|different|constant|time|state|rush|`+
	`hurry|good|bad|bit|few|way)`))

var homes = pattern(`^(?:a|an|our|my|the) (?:[a-z-]+ ){0,3}?(?:flat|apartment|house|city|town|village|` +
	`country|place|farm|suburbs?|countryside|coast|neighbou?rhood|island|studio|condo|north|south|east|west)`)

// movedHome requires a place, because "we moved to" is more often about a tool.
func movedHome(m *match) bool {
	v := m.foldedValue()
	return livable(m) && !technical().MatchString(v) && (m.t.capital(m.vFrom) || m.t.careless || homes().MatchString(v))
}

var technical = pattern(`\b(?:typescript|javascript|python|rust|go|golang|java|kotlin|swift|react|vue|` +
	`svelte|angular|django|rails|postgres|mysql|mongo|redis|kafka|kubernetes|docker|github|gitlab|jenkins|linux|` +
	`windows|mac|macos|arch|fedora|ubuntu|debian|nixos|vim|neovim|emacs|vscode|vs code|helix|zed|aws|azure|gcp|` +
	`heroku|vercel|netlify|notion|slack|obsidian|firefox|chrome|brave|iphone|android|ios|pixel)\b`)

var (
	notDoing = all(notFor, not(`free|night`))
	notFor   = not(`the (?:moment|same|past|future|end|way|wrong|error|code|following|first|second|next)|` +
		`your|you\b|this|that|it\b|here\b|there\b`)
	otherThing = func(m *match) bool {
		s := strings.ToLower(m.words("s"))
		first, rest, _ := strings.Cut(s, " ")
		return !pointing[first] && !askers[first] && first != "he" && first != "she" && first != "they" &&
			first != "i" && first != "we" && first != "i'm" && rest != "thing"
	}
	taste = all(ownWords, not(`(?:the|my) (?:idea|suggestion|answer|way|fact|sound|look|approach|plan|`+
		`first|second|third|last|next|previous|result|results|response|tone|draft|version|title|name|option|new|`+
		`part|paragraph|one|ones|concept|output|format|structure|design|layout|wording|thought)\b|the (?:energy|`+
		`support|help|vibes?|atmosphere|feeling|colou?rs?|details?|peace|views?|smell|concept|passion|detailed|`+
		`additional|effort|feedback|advice|tips|insights?|information|explanation|breakdown)\b|hearing|both\b|`+
		`not\b|bei`))
	tool  = all(notFor, specificAfterVerb, not(`the `))
	habit = func(m *match) bool {
		return !habitless().MatchString(m.foldedValue()) && !habitPast(m) && ownWords(m) &&
			(m.t.fold[m.at+1] == ' ' || m.t.first(m.at, m.to) == "we" || strings.HasSuffix(m.head(), "ing"))
	}
	order = all(notPraise, not(`mind|again|happy|fun|good|a |the |have been|there for|great|give up|forget\b|`+
		`(?:lose|quit|give|let|doubt|settle|stop)\b(?:$| up\b|.{0,30}(?:your|dream|faith|hope|go\b))|by |here|`+
		`there|in `))
	fromNow    = all(whenever, not(`(?:it|the|things|he|she|they|this|that|there|everything|life|my life|all)\b`))
	imperative = func(m *match) bool {
		w := m.head()
		return verbLike[w] && !pastVerb(w)
	}
	verbLike = wordSet(`use answer reply respond call write keep avoid show give add include don't dont do always
		never only please speak stop skip say send put make run check format quote cite prefer
		start end begin ask tell remind mention round sort list display convert translate spell sign treat address
		assume ignore limit leave name save store test commit document log explain suggest
		be stick follow just no let return print wrap indent mark label summarize summarise order deliver book pay
		set try talk offer look focus refer provide present render exclude omit drop`)
	plan = all(func(m *match) bool { return m.vTo-m.vFrom >= 6 }, not(`(?:go )?(?:to )?(?:try|ask|need|check|`+
		`paste|share|show|tell|give (?:you|it|that|this)|let you|look into|keep|make sure|use (?:it|this|that|`+
		`your)|be (?:back|right|there for|fine|ok|okay|able|sure|using|doing|honest|happy|busy|late|alone|asked)|`+
		`implement|continue|focus on|add\b|you|that|so|it|this|make it|make this|improve|your)\b`))
	toCome = func(m *match) bool {
		return m.time != nil && (m.time.AheadFrom.After(m.today()) || m.time.AheadFrom.IsZero() &&
			m.time.AheadTo.After(m.today())) && plan(m) && !passingMood().MatchString(string(m.t.fold[m.at:m.to]))
	}
	eventful = all(notFor, not(`(?:got|started|finished|completed|received|joined|closed|signed|met|published|`+
		`visited|celebrated|submitted|landed|ran|failed|won|broke)\b.{0,40}\b(?:step|error|message|server|script|`+
		`code|command|build|section|exercise|chat|conversation|answer|response|exception|query|page|tests?|`+
		`function|app)\b|(?:met|joined|signed|visited|celebrated|submitted|launched|released|published|performed|`+
		`attended|been) (?:it|the same|you|this|that)|(?:launched|released|published|volunteered|performed|`+
		`proposed|competed|attended|visited|celebrated)$`))
	lastingEvent = not(`(?:was|were|had|got) (?:a |so |really |very |pretty |quite |too )*(?:nice|great)`)
	ailment      = func(m *match) bool {
		return ills().MatchString(m.foldedValue()) || strings.Contains(m.rule.rx.FindString(string(m.t.fold[m.at:m.to])),
			"llergic") && !jokes[m.head()]
	}
	ills = pattern(`\b(?:allerg\w+|asthma|diabetes|adhd|add|celiac|coeliac|arthritis|epilepsy|` +
		`migraines?|anxiety|depression|hypertension|high blood pressure|hay ?fever|eczema|psoriasis|crohn'?s|ibs|` +
		`ocd|ptsd|autism|dyslexia|tinnitus|insomnia|anemia|` +
		`cancer|lupus|endometriosis|pcos|hypothyroidism|thyroid|scoliosis|hearing aids?|pacemaker|bad back|bad ` +
		`knees?|back pain|herniated|ms\b|multiple sclerosis|parkinson|lactose|gluten|peanuts?|nuts?|shellfish|` +
		`dairy|penicillin|pollen|cats|dogs|eggs|soy|intoleran\w+|sleep apnea|vertigo|glaucoma|colitis|gout|` +
		`heart condition|disability|tmj|fibromyalgia|long covid)`)
	jokes = wordSet("meetings mondays work stupidity drama bullshit nonsense people early mornings marketing")
	food  = func(m *match) bool { return foods().MatchString(m.foldedValue()) }
	foods = pattern(`\b(?:meat|pork|beef|chicken|fish|seafood|shellfish|dairy|milk|cheese|eggs?|gluten|` +
		`wheat|bread|sugar|alcohol|beer|wine|coffee|caffeine|tea|nuts|peanuts|soy|onions?|garlic|mushrooms?|spicy|lactose|` +
		`carbs|red meat|lamb|tofu|tomatoes|raw|fried|fast food|sweets|chocolate|soda|cilantro|shrimp|animal|` +
		`processed|breakfast|bananas?|citrus|strawberries|cigarettes)\b`)
	wholeWord = func(m *match) bool {
		return !strings.HasPrefix(string(m.t.fold[m.vFrom:m.s.to]), "single-")
	}
	noProcess = not(` ?(?:a|an|one|two) (?:child|parent|sibling|baby|twin) process`)
	withName  = func(m *match) bool {
		return !pointing[m.head()] && (m.t.capital(m.vFrom) || strings.HasPrefix(m.foldedValue(), "my ") && len(m.value) < 60)
	}
	settled = all(longEnough, not(`(?:[a-z]+ (?:it|this|that|them|these)\b|keep [a-z]+in[g']|(?:not )?keep (?:it|`+
		`this|that|up|on|in|pushing|working|going)|the (?:first|second|third|last|former|latter|one|ones|next|`+
		`other|flow)|ask|move on|go (?:with|ahead))`))
	noReason   = pattern(`^(?:option|simple|solved)\b`)
	longEnough = func(m *match) bool {
		return m.vTo-m.vFrom >= 6 && !pointing[m.head()] &&
			!noReason().MatchString(m.foldedValue())
	}
	switched = all(longEnoughShort, not(`(?:the (?:next|other|following|first|second|end|top|bottom|left|right|`+
		`same)|\d+$)`))
	longEnoughShort = func(m *match) bool { return m.vTo-m.vFrom >= 2 && !pointing[m.head()] }
	newName         = all(not(`(?:by|twice)\b`), func(m *match) bool { return len(m.t.words(m.vFrom, m.vTo)) <= 5 })
	dated           = func(m *match) bool {
		return m.time != nil && !m.time.AheadFrom.IsZero() && !m.time.AheadFrom.Before(m.today()) ||
			(m.words("a") == "deadline" || m.words("a") == "due date") && specificAfterVerb(m)
	}
	passingMood = pattern(`^the weather\b|\b(?:feeling|excited|nervous|stressed|tired|busy|fine)\b`)
	habitless   = pattern(`^(?:really |just )?(?:(?:always|never|usually|normally|often|sometimes|` +
		`rarely|mostly) )?(?:get (?:this|that|an? |the |it|stuck|errors?|lost|confused|nervous|so|into|better|` +
		`back|wrong)|got|see|have (?:trouble|to|this|been)|knew|said|want(?:ed)?|feel|like your|could|love|need|` +
		`look forward)\b`)
)

func habitPast(m *match) bool {
	for _, w := range m.t.words(m.vFrom, m.vTo) {
		f := m.t.folded(w)
		if adverb(f) || f == "usually" || f == "tend" || f == "to" || f == "ever" || f == "hardly" || f == "almost" {
			continue
		}
		return pastVerb(f) && f != "read" && f != "put" && f != "set" && f != "cut" && f != "let"
	}
	return true
}

// today returns the midnight before the turn.
func (e *extractor) today() time.Time {
	y, mo, d := e.at.Date()
	return time.Date(y, mo, d, 0, 0, 0, 0, e.at.Location())
}

// isSpecific reports whether a value is specific: it has a digit, a capital letter, a path or a unit.
func isSpecific(v string) bool {
	for i, r := range v {
		if unicode.IsDigit(r) || unicode.IsUpper(r) && (i == 0 || v[i-1] == ' ' || v[i-1] == '(') || r == '`' ||
			r == '/' || r == '_' || r == '@' || r == '#' {
			return true
		}
	}
	return strings.Contains(strings.Trim(v, "."), ".")
}

var passing = pattern(`^(?:(?:a|an|so|very|really|too|quite|pretty|not|still|now|currently|the|` +
	`completely|totally|kind of|almost|all) )*(?:down|broken|slow|nice|great|good|fine|ok|wrong|full|small|` +
	`big|key|important|essential|different|easy|problem|restart|going|not|same|more|in (?:a |an )?(?:bad|` +
	`good|progress|trouble|state|mess|order|sync|danger)|on (?:fire|track|hold|the way|top)|to (?:go|be|do|` +
	`get|have|make|wait|start|see|use|add|find|change|fix|say|ask|learn|know|keep|take|give|talk|set|move|` +
	`try)|lot|been|had|always|to)\b|^[a-z0-9]+ (?:seconds|minutes|hours|days|weeks|months) (?:left|to go)\b`)

// specific requires a specific value that is not a passing state.
func specific(m *match) bool {
	return !passing().MatchString(m.foldedValue()) && (isSpecific(firstWords(m.value, 4)) || m.t.careless &&
		digits().MatchString(m.foldedValue()) || measured().MatchString(m.rule.rx.FindString(string(m.t.fold[m.at:m.to]))))
}

// measured matches verbs after which a value need not be specific.
var measured = pattern(`\b(?:written in|built with|built on|limited to|capped at|made of)\b`)

var digits = pattern(`\d`)

// specificAfterVerb is solid for a value after a verb.
func specificAfterVerb(m *match) bool {
	return !passing().MatchString(m.foldedValue()) &&
		(isSpecific(m.value) || m.t.careless && (digits().MatchString(m.foldedValue()) || technical().MatchString(m.foldedValue())))
}

// specificOrContainer requires a place: a specific one, or a container.
func specificOrContainer(m *match) bool {
	return !passing().MatchString(m.foldedValue()) && (isSpecific(m.value) || containers().MatchString(m.foldedValue()))
}

var containers = pattern(`\b(?:drawer|shelf|cupboard|folder|repo|repository|wiki|drive|vault|garage|` +
	`basement|attic|safe|server|bucket|box|cabinet|cellar|kitchen|office|closet|notebook|branch|directory|desk|` +
	`hallway|shed|machine|vm|laptop|cloud|datacenter|mat|doormat)\b`)

var ownNouns = pattern(`(?:^|\s)(?:time ?zone|e-?mail|e-?mail address|phone|phone number|address|job|` +
	`job title|title|role|position|hobby|hobbies|major|degree|employer|company|team|laptop|computer|pc|os|` +
	`operating system|editor|ide|shell|terminal|` +
	`car|bike|city|hometown|home town|nationality|language|background|budget|handle|username|user name|github|` +
	`twitter|instagram|website|blog|height|weight|size|shoe size|diet|religion|zodiac sign|sign|star sign|` +
	`school|university|college|salary|income|phone|browser|` +
	`setup|stack|keyboard|field|specialty|profession|occupation|workplace|department|locale|currency|unit|units|` +
	`schedule|working hours|work hours|office hours|office|shift|industry|business|pets?|instrument|sport|` +
	`team's name|band|nickname|surname|initials|ethnicity|origin|heritage|gpa|thesis|thesis topic|topic|` +
	`research|research area|niche|goal weight|resting heart rate|ftp|pace|pb|personal best|doctor|gp|` +
	`bank|insurer|insurance|camera|guitar|model|printer|router|isp|provider|distro|wm|window ` +
	`manager|theme|font|layout|keyboard layout|plants?|garden|allergies|allergy|star|dream job|` +
	`bedtime|wake-?up time|routine|coffee order|order|ring size|skin type|hair type|dosha|` +
	`blood type|mother tongue|pronouns|alma mater|supervisor's name)$`)

var noOwn = pattern(`(?:^|\s)(?:question|guess|code|week|head|brain|impression|favou?rite|goal|plan|` +
	`deadline|name)$`)

// possession requires a possession or attribute that describes the person.
func possession(m *match) bool {
	a := strings.ToLower(m.words("a"))
	if noOwn().MatchString(a) || strings.HasSuffix(m.head(), "ing") && !strings.HasPrefix(a, "hobb") ||
		passing().MatchString(m.foldedValue()) {
		return false
	}
	return ownNouns().MatchString(a) || isSpecific(firstWords(m.value, 3)) && !relatives().MatchString(a)
}

var trades = pattern(`(?:[a-z]{3,}(?:er|or|ist|ian|yst|eur|ress|smith|wright|herd)|nurse|student|` +
	`undergrad|grad student|postdoc|phd|phd candidate|chef|cook|pilot|vet|mom|mum|dad|mother|father|parent|` +
	`mama|judge|clerk|intern|apprentice|consultant|accountant|assistant|attendant|` +
	`lieutenant|sergeant|vegan|vegetarian|pescatarian|native speaker|immigrant|expat|refugee|veteran|widow|` +
	`widower|grandmother|grandfather|grandma|grandpa|twin|single mom|model|coach|guide|engineer|dev|admin|` +
	`sysadmin|cto|ceo|cfo|coo|pm|sre|dba|qa|tutor|monk|priest|nun|rabbi|imam|pharmacist|paramedic|midwife|plumber|` +
	`electrician|musician|freelance|freelancer|self-employed|contractor|founder|co-founder|cofounder|police ` +
	`officer|officer|civil servant|soldier|sailor|citizen|runner|cyclist|minimalist|bartender|barista|` +
	`architect|landlord|homeowner|only child|middle child|lawyer|paralegal|attorney|scientist|analyst|` +
	`artist|beekeeper|carer|caregiver|nanny|au pair|stay-at-home mom|stay-at-home dad|morning ` +
	`person|night owl|early bird|oldest|youngest|eldest|introvert|extrovert|christian|muslim|` +
	`buddhist|catholic|jew|atheist|hobbyist|collector|athlete|designer|product manager|` +
	`tech lead|team lead|data scientist|novice|senior|junior|sophomore|freshman|head ` +
	`of [a-z]+|director of [a-z]+|vp of [a-z]+|lead)s?\b`)

// profession requires a value that begins with an occupation.
func profession(m *match) bool {
	ws := m.t.words(m.vFrom, m.vTo)
	if len(ws) == 0 {
		return false
	}
	end := ws[min(len(ws), 5)-1].to
	head := string(m.t.fold[m.vFrom:end])
	for _, cut := range []string{
		" at ", " in ", " for ", " who ", " from ", " with ", " of ", " and ", ", ",
		" working ", " living ", " based ", " speciali", " on ", " by ", " but ", " to ",
	} {
		if i := strings.Index(head, cut); i > 0 {
			head = head[:i]
		}
	}
	loc := trades().FindAllStringIndex(head, -1)
	return len(loc) > 0 && loc[len(loc)-1][1] >= len(strings.TrimSpace(head))
}

var dullVerbs = wordSet(`tried asked slept felt thought said meant forgot wanted had was were told looked noticed
	got wondered hoped needed used liked loved enjoyed mentioned talked spoke chatted
	discussed sent pasted showed wrote explained copied ran checked saw heard knew did added fixed changed updated
	installed restarted deployed noticed clicked couldn't didn't wasn't haven't woke ate drank stayed read been`)

// strongObjects match objects that make a dull verb informative if a time is named.
var strongObjects = pattern(`^(?:had (?:a |an |my |our )?(?:baby|surgery|operation|interview|accident|` +
	`appointment|meeting with|party|wedding|exam|miscarriage|call with|twins|dinner with|lunch with|picnic|` +
	`barbecue|bbq|check-?up|scan|mri|review|concert|race|performance|presentation|big)|was (?:born|promoted|` +
	`diagnosed|laid off|in|at|elected|invited|accepted|hired|fired|robbed)|were (?:in|at|married|invited|` +
	`robbed)|got (?:a |an |my |our |the )?(?:new |first )?(?:job|dog|cat|puppy|kitten|car|bike|` +
	`promotion|raise|tattoo|degree|offer|married|engaged|divorced|promoted|fired|laid off|accepted|` +
	`back from|stung|bitten|vaccinated|covid|flu|shot|keys|house|award)|` +
	`(?:wrote|ran|sent|updated|installed|deployed|ate|read|saw|changed|fixed|stayed|talked|spoke|talked) (?:a |an |` +
	`the |my |our |at |in |to |with |over |for )?[a-z0-9]+|been (?:to|promoted|accepted))`)

// verbInPast requires a past event that did not happen in this conversation.
func verbInPast(m *match) bool {
	if m.time == nil || m.time.From.After(m.extractor.at) || strings.Contains(m.foldedValue(), "you") || len(m.value) < 8 || !m.object() {
		return false
	}
	for _, w := range m.t.words(m.vFrom, m.vTo) {
		f := m.t.folded(w)
		if adverb(f) || f == "finally" || w.from == m.vFrom && m.t.capital(w.from) && m.subject != "" {
			continue
		}
		if !pastVerb(f) && !(m.t.first(m.at, m.to) == "i've" && pastVerb(f)) {
			return false
		}
		if dullVerbs[f] {
			return strongObjects().MatchString(string(m.t.fold[w.from:m.vTo]))
		}
		return true
	}
	return false
}

var (
	being  = pattern(`(?:'s| is| are)\s+$`)
	owning = pattern(`(?: has| have)\s+$`)
	having = pattern(`(?: has| have| wants?| never| always| likes?| loves?| hates?)\s+$`)
	// dependants match children and animals.
	dependants = pattern(`\b(?:kids?|children|dogs?|cats?|twins|sons?|daughters?|sisters?|brothers?)\b`)
	lastly     = pattern(`^(?:an? |the |severely |very |also )*(?:allergic|vegan|vegetarian|deaf|blind|` +
		`pregnant|retired|married|divorced|engaged|autistic|diabetic|colou?r ?blind|left-handed|called|named|years|` +
		`german|french|spanish|italian|english|american|fluent|\d|from|turning|expecting|obsessed|afraid|scared of|into)\b`)
)

// lasting requires a lasting statement about a person.
func lasting(m *match) bool {
	v := m.foldedValue()
	before := string(m.t.fold[m.at:m.vFrom])
	switch {
	case !notFor(m):
		return false
	case being().MatchString(before):
		return lastly().MatchString(v) || profession(m) || strings.HasPrefix(v, "a ") && trades().MatchString(v) ||
			strings.HasPrefix(v, "an ") && trades().MatchString(v) || strings.HasPrefix(v, "the ") && trades().MatchString(v)
	case having().MatchString(before):
		return taste(m) && (ills().MatchString(v) || !owning().MatchString(before) ||
			digits().MatchString(v) || dependants().MatchString(v))
	}
	return true
}

// brand requires a value that contains a name, but not one of software.
func brand(m *match) bool {
	return properNoun().MatchString(m.value) && !software().MatchString(m.foldedValue())
}

var (
	properNoun = pattern(`^(?:a|an|two|three|my own|our own) (?:[a-z0-9-]+ ){0,2}[A-Z][a-z]`)
	software   = pattern(`\b(?:app|question|meeting|interview|deadline)\b`)
)

// properTitle requires a value that begins with a name.
func properTitle(m *match) bool {
	return unicode.IsUpper([]rune(m.value)[0]) && !technical().MatchString(m.foldedValue())
}

// named requires a short value that begins with a name or a number and is not part of the current
// work.
func named(m *match) bool {
	s := strings.ToLower(m.words("s"))
	return !passing().MatchString(m.foldedValue()) && isSpecific(firstWords(m.value, 2)) &&
		len(strings.Fields(m.value)) <= 10 && !noted().MatchString(s)
}

var noted = pattern(`\btarget\b`)

var (
	presentToo = wordSet("put set cut let read quit shut hit split spread need feed speed")
	offers     = pattern(`^(?:just |please )?(?:let me know|don'?t hesitate|ask me)`)
	addressed  = pattern(`\byou(?:r|rs|'re)?\b`)
	ruledBy    = pattern(`^(?:not |always |never )?(?:[a-z]{2,}(?:ed|en)|in|on|at|by|run|kept|sent|done|` +
		`due|put|set|made|built|double|single|lower|upper|snake|camel)\b`)
)

// actionNotState requires an action rather than a state.
func actionNotState(m *match) bool {
	return otherThing(m) && ruledBy().MatchString(m.foldedValue()) && m.head() != "been" &&
		!strings.HasSuffix(m.t.first(m.at, m.to), "ing") && m.t.first(m.at, m.to) != "the user"
}

// firstHand rejects values matching pattern, and statements deep inside a sentence.
func firstHand(pattern string) func(*match) bool {
	fits := not(pattern)
	return func(m *match) bool {
		return m.k < 2 && m.at-m.s.from < 60 && !addressed().MatchString(m.foldedValue()) && fits(m)
	}
}

// relatives matches the words for people and animals that follow "my".
var relatives = pattern(`^(?:` + macros.Replace("{rel}") + `)\b`)

// firstWords returns the first n words of s.
func firstWords(s string, n int) string {
	ws := strings.Fields(s)
	return strings.Join(ws[:min(len(ws), n)], " ")
}

var pointers = pattern(`^(?:\S+\s+){0,7}(?:it|them|this|those|these|there|him|your|yours|you)\b|\blike ` +
	`(?:this|that)\b|^(?:\S+\s+)?(?:that|to that)\b`)

// ownWords requires a value that refers to nothing said elsewhere.
func ownWords(m *match) bool { return !pointers().MatchString(m.foldedValue()) }

// notPraise rejects phrases that only look like an order: "always rooting for you".
func notPraise(m *match) bool {
	w := m.head()
	if pastVerb(w) && !presentToo[w] {
		return false
	}
	return !strings.HasSuffix(w, "ing") && !strings.HasPrefix(m.foldedValue(), "make us") &&
		(!strings.HasSuffix(w, "s") || strings.HasSuffix(w, "ss") || w == "focus" || w == "yes" || w == "metrics" || w == "units")
}

// whenever requires an order after "whenever I ask".
func whenever(m *match) bool {
	switch m.t.first(m.at, m.to) {
	case "every", "each", "whenever", "any", "anytime", "when", "if":
		return imperative(m) && !offers().MatchString(m.foldedValue())
	}
	return true
}

// object reports whether a clause has an object: a word other than the verb, the time and "it".
func (m *match) object() bool {
	from, to := m.vFrom, m.vTo
	if x := m.time; x.from >= from && x.to >= to-2 {
		to = x.from
	}
	n := 0
	for _, w := range m.t.words(from, to) {
		switch f := m.t.folded(w); {
		case n == 1 && (f == "it" || f == "them" || f == "that" || f == "this" || f == "those" || f == "these" || f == "one"):
			return false
		case f == "on" || f == "in" || f == "at":
		default:
			n++
		}
	}
	return n > 1
}
