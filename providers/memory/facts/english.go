package facts

import (
	"slices"

	"github.com/ragctx/ragctx"
)

// english is the rule table of English.
var english = language{
	code: "en", user: "The user", says: "The user says: ", quotes: [2]string{"“", "”"},
	rules: slices.Concat(
		englishInstructions, englishPreferences, englishPeople, englishIdentity, englishProject, englishDecisions, englishPlans,
		englishEvents, englishLast,
	),
}

// englishLast holds the rules that are tried last.
var englishLast = []rule{
	{
		name: "remember", kind: ragctx.FactInstruction, heads: "*", re: `{rest}`, attribute: asksToRemember,
		conf: .72, imp: .85, reason: "asks to remember it", check: askedToRememberIn("en"), standing: true, keep: true,
		yes: []string{
			"Remember that the blue folder holds the signed contracts.",
			"keep in mind that invoices go out in the first week",
			"Please note: parking is only allowed behind the building.",
			"don't forget that the vault closes at six",
		},
		no: []string{
			"Do you remember that film?", "Remember me?", "I remember that day well.", "Remember when we talked about Rust?",
			"remember to smile",
		},
	},
}

var englishIdentity = []rule{
	{
		name: "name", kind: ragctx.FactIdentity, heads: "my",
		re:        `my (?:full |first |last |given |real |sur|middle )?name(?: is|'s|s) (?:actually |really )?(?P<v>[^,;:]{1,60})`,
		attribute: "name", exclusive: true, profile: true, conf: .92, imp: .85, reason: `says "my name is"`, check: nameLike,
		yes: []string{"Hi, my name is Tomasz.", "my name is tom i live in berlin and work as a nurse", "btw my name's Ana Torres"},
		no:  []string{"my name is not important", "Is my name on the list?"},
	},
	{
		name: "called", kind: ragctx.FactIdentity, heads: "call i you people friends everyone everybody please",
		re: `(?:please )?(?:call me|i go by|i prefer to be called|(?:people|friends|everyone|everybody|` +
			`my friends) calls? me|you can call me) (?P<v>[^,;:.]{1,40})`,
		attribute: "called", exclusive: true, profile: true, conf: .88, imp: .85, reason: `says what to call them`, check: nameLike,
		yes: []string{"Call me Mo.", "you can call me Jess btw", "I go by Sam"},
		no:  []string{"call me when you are done", "Call me crazy, but it works.", "call me back later"},
	},
	{
		name: "introduction", kind: ragctx.FactIdentity, heads: "i i'm im",
		re:        `{im} (?P<v>[a-z][a-z'-]+(?: [a-z][a-z'-]+){0,2})\s*(?:,|$|\band\b|\bfrom\b|-|\()`,
		attribute: "name", exclusive: true, profile: true, conf: .78, imp: .85, reason: `introduces themselves`, check: capitals,
		yes: []string{"Hi, I'm Priya.", "Hello! I'm Marcus Webb, nice to meet you."},
		no:  []string{"I'm tired.", "I'm Ok.", "i'm sorry", "I'm German."},
	},
	{
		name: "pronouns", kind: ragctx.FactIdentity, heads: "my", re: `my pronouns are {rest}`,
		attribute: "pronouns", exclusive: true, profile: true,
		conf: .9, imp: .85, reason: "states pronouns", yes: []string{"my pronouns are they/them"}, no: []string{"pronouns are hard"},
	},
	{
		name: "age", kind: ragctx.FactIdentity, heads: "i i'm im",
		re: `{im} {adv}(?P<v>\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty)(?:[- ][a-z]+)?)(?: ` +
			`?-?(?:years?|yrs?)[ -](?:old|of age)| ?y/?o\b|\s*$|\s*,|\s+and\s|\s+now\b)`,
		attribute: "age", exclusive: true, profile: true, conf: .88, imp: .8, reason: "states an age",
		yes: []string{"I'm 34 years old.", "i am 27, by the way", "im 41 and work nights"},
		no:  []string{"I'm 100% sure.", "I'm 5 minutes late", "I'm 20 pages in"},
	},
	{
		name: "turned", kind: ragctx.FactIdentity, heads: "i i'm im i'll",
		re:        `(?:i {adv}(?:turned|turn|will turn)|{im} turning|i'll turn|i'll be turning) (?P<v>\d{1,3}|thirty|forty|fifty|sixty)`,
		attribute: "age", exclusive: true, profile: true, conf: .85, imp: .8, reason: "states an age",
		yes: []string{"I just turned 40.", "i turn 30 next month"}, no: []string{"I turned 3 screws"}, check: ageLike,
	},
	{
		name: "birth", kind: ragctx.FactIdentity, heads: "my i",
		re: `(?:my birthday(?: is|'s)(?: on)?|i was born(?: and raised)?(?: in| on)) {rest}`, attribute: "birth", keep: true,
		profile: true, conf: .88, imp: .8, reason: "states a birthday or birthplace",
		yes:   []string{"My birthday is on 3 May.", "I was born in Porto in 1988", "my birthday's March 4th"},
		no:    []string{"my birthday is ruined", "Is it my birthday?"},
		check: capitalOrDigit,
	},
	{
		name: "home", kind: ragctx.FactIdentity, heads: "i we i'm im we're",
		re: `(?:(?:i|we) {adv}(?:live|reside)|{im} {adv}(?:living|based|residing|located)|(?:we're|we are) ` +
			`{adv}(?:living|based|residing|located))` +
			` (?:(?:out )?here )?(?:in|at|near|on|outside(?: of)?|close to|out of|around) {rest}`,
		attribute: "home", exclusive: true, profile: true, conf: .9, imp: .85, reason: "says where they live", check: livable,
		yes: []string{
			"I live in Berlin.", "i currently live in a small village near lyon", "I'm based in Austin, Texas", "we live in Utrecht now",
			"well i live in leeds btw",
		},
		no: []string{
			"I live in fear of Mondays.", "If I lived in Berlin I'd cycle.", "Imagine I live in Tokyo.",
			"Do I live in a bubble?", "we live in a society",
		},
	},
	{
		name: "moved", kind: ragctx.FactIdentity, heads: "i we i've ive we've",
		re: `(?:i|i'?ve|i have|we|we've|we have) {adv}(?:moved|relocated|moved back) (?:back |over |out |` +
			`down |up )?(?:from (?P<o>[^,]{2,40}?) )?(?:to|into) {rest}`,
		attribute: "home", exclusive: true, profile: true, conf: .87, imp: .85, reason: "says where they moved", check: movedHome,
		yes: []string{"I just moved to Lisbon.", "We moved to Denver last month", "i moved from berlin to paris"},
		no:  []string{"I moved to the next step.", "We moved to GitHub Actions.", "I moved to TypeScript"},
	},
	{
		name: "not home", kind: ragctx.FactIdentity, heads: "i we",
		re:        `(?:i|we) (?:{dont} live|no longer live|{dont} reside|{dont} actually live) (?:in|at|near) {rest}`,
		attribute: "home", value: "not {v}", exclusive: true, profile: true, conf: .87, imp: .85, reason: "says where they live no longer",
		yes: []string{"I don't live in Berlin any more.", "I no longer live in Madrid"},
		no:  []string{"I don't live in the past"}, check: livable,
	},
	{
		name: "not work", kind: ragctx.FactIdentity, heads: "i", re: `i (?:{dont} work|no longer work) (?:at|for|as|in) {rest}`,
		attribute: "work", value: "not {v}", exclusive: true, profile: true, conf: .87, imp: .8, reason: "says where they work no longer",
		yes: []string{"I don't work at Siemens anymore.", "I no longer work as a teacher"}, no: []string{"it does not work at all"},
	},
	{
		name: "origin", kind: ragctx.FactIdentity, heads: "i i'm im",
		re:        `(?:{im} {adv}from|i {adv}(?:come|came|hail) from|i grew up (?:in|on|near)) {rest}`,
		attribute: "origin", profile: true, conf: .85, imp: .8, reason: "says where they are from", check: livable,
		yes: []string{"I'm originally from Ghana.", "i grew up in rural Ohio", "I come from Seville"},
		no:  []string{"I'm from the future", "I come from a place of love"},
	},
	{
		name: "nationality", kind: ragctx.FactIdentity, heads: "i i'm im",
		re: `{im} {adv}(?:a |an )?(?P<v>(?:half |half-)?(?:german|french|spanish|italian|british|english|scottish|` +
			`irish|welsh|american|canadian|mexican|brazilian|argentinian|` +
			`chilean|colombian|peruvian|portuguese|dutch|belgian|swiss|austrian|polish|czech|slovak|hungarian|` +
			`romanian|bulgarian|greek|turkish|russian|ukrainian|` +
			`finnish|swedish|norwegian|danish|icelandic|estonian|latvian|lithuanian|indian|pakistani|bangladeshi|` +
			`nepali|chinese|taiwanese|japanese|korean|vietnamese|thai|` +
			`filipino|filipina|indonesian|malaysian|singaporean|australian|egyptian|moroccan|algerian|tunisian|` +
			`nigerian|ghanaian|kenyan|ethiopian|south african|israeli|` +
			`lebanese|syrian|iraqi|iranian|persian|afghan|saudi|cuban|jamaican|croatian|serbian|bosnian|slovenian|` +
			`albanian)(?:[- ](?:american|canadian|born|citizen))?)\b`,
		attribute: "nationality", profile: true, conf: .82, imp: .8, reason: "states a nationality",
		yes: []string{"I'm German.", "i am half Italian, half Irish"}, no: []string{"I'm reading German poems", "the film is French"},
	},
	{
		name: "work", kind: ragctx.FactIdentity, heads: "i i'm im",
		re: `(?:i {adv}(?:work|freelance|volunteer)|{im} {adv}(?:working|employed|volunteering)) (?:full[- ` +
			`]time |part[- ]time |remotely |mostly |nights |from home |(?:the )?(?:night|day|early|late|` +
			`morning|weekend) shifts? )*(?:as|at|for) {rest}`,
		attribute: "work", profile: true, conf: .87, imp: .8, reason: "says what they work", check: notDoing,
		yes: []string{"I work as a nurse.", "i work at the harbour office", "I'm working as a paralegal", "I currently work for Siemens"},
		no:  []string{"I work for free", "I work at night sometimes, who doesn't?", "It works for me"},
	},
	{
		name: "field", kind: ragctx.FactIdentity, heads: "i i'm im", re: `(?:i {adv}work|{im} {adv}working) in {rest}`,
		attribute: "work", profile: true, conf: .76, imp: .8, reason: "says what they work in", check: notDoing,
		yes: []string{"I work in logistics.", "i work in insurance"}, no: []string{"I work in the same file"},
	},
	{
		name: "profession", kind: ragctx.FactIdentity, heads: "i i'm im", re: `{im} {adv}(?:a|an|the) {rest}`,
		attribute: "profession", profile: true,
		conf: .85, imp: .8, reason: "says what they are", check: profession,
		yes: []string{
			"I'm a nurse in Leeds.", "im a backend developer", "I am a retired firefighter",
			"I'm a vegan chef", "I'm a mother of two",
		},
		no: []string{"I'm a bit tired.", "I'm a little lost", "I'm a huge fan of tea", "I'm a wreck today", "I'm an idiot"},
	},
	{
		name: "business", kind: ragctx.FactIdentity, heads: "i we i'm im",
		re: `(?:(?:i|we) {adv}(?:run|own|lead|manage|founded|co-?founded|head|started|opened|am running)|{im} ` +
			`{adv}running) (?P<v>(?:a|an|my own|our|my|the|two|three) .{0,60}?` +
			`(?:company|business|shop|store|bakery|team|agency|studio|club|blog|channel|podcast|farm|restaurant|` +
			`cafe|practice|startup|start-up|group|department|school|meetup|` +
			`homelab|firm|salon|brewery|gallery|nonprofit|charity|newsletter|band|choir|franchise|consultancy|` +
			`bookstore|bookshop|clinic|hotel|vineyard|gym|etsy shop|youtube channel)\b.*)`,
		attribute: "business", profile: true, conf: .82, imp: .8, reason: "says what they run",
		yes: []string{"I run a small bakery in Ghent.", "i lead the payments team at Klarna", "I own a bike shop"},
		no:  []string{"I run a script every night", "I own my mistakes"},
	},
	{
		name: "study", kind: ragctx.FactIdentity, heads: "i i'm im",
		re: `(?:i {adv}(?:study|studied|teach|major in|majored in|graduated in|graduated from)|{im} ` +
			`{adv}(?:studying|teaching|majoring in|pursuing|doing (?:a|my) (?:phd|master'?s|degree|bachelor'?s)(?: in| at)?)) {rest}`,
		attribute: "study", profile: true, conf: .82, imp: .8, reason: "says what they study or teach", check: notFor,
		yes: []string{
			"I study marine biology in Bergen.", "i'm studying law at Leiden",
			"I teach maths at a secondary school", "I'm doing a PhD in geology",
		},
		no: []string{"I study the error message", "I'm studying your code"},
	},
	{
		name: "language", kind: ragctx.FactIdentity, heads: "i i'm im my",
		re: `(?:i {adv}speak|{im} {adv}(?:fluent in|learning|a native speaker of)|i {adv}(?:know|understand)|` +
			`my (?:native|first|mother|second) (?:language|tongue)(?: is|'s)) (?:a bit of |a little |some |fluent |` +
			`basic |native )?(?P<v>.*\b(?:english|german|french|` +
			`spanish|italian|portuguese|dutch|polish|czech|greek|turkish|russian|ukrainian|finnish|swedish|` +
			`norwegian|danish|hindi|urdu|bengali|tamil|telugu|punjabi|chinese|mandarin|cantonese|japanese|korean|` +
			`vietnamese|thai|tagalog|indonesian|malay|arabic|hebrew|farsi|persian|swahili|catalan|basque|romanian|` +
			`hungarian|bulgarian|serbian|croatian|latin|esperanto|sign language|asl|welsh|irish)\b.*)`,
		attribute: "languages", profile: true, conf: .86, imp: .75, reason: "says which languages they speak",
		yes: []string{"I speak Polish and some Dutch.", "im learning Japanese", "my native language is Tamil"},
		no:  []string{"I speak only for myself", "the tutor speaks Polish"},
	},
	{
		name: "allergy", kind: ragctx.FactIdentity, heads: "i i'm im my i've",
		re: `(?:{im} {adv}(?:severely |deathly |highly |very |a bit |slightly |also )*(?:allergic|intolerant|` +
			`sensitive) to|i {adv}(?:have|suffer from|live with|was diagnosed with|got diagnosed with)(?: an?|` +
			` severe| bad| mild| a bad| a severe| chronic)*|{ive} (?:got|had|been diagnosed with)(?: an?)?|` +
			`my (?:allergy|allergies) (?:is|are)(?: to)?) ` +
			`{rest}`,
		attribute: "health", profile: true, conf: .9, imp: .92, reason: "states an allergy or condition", check: ailment,
		yes: []string{
			"I'm allergic to peanuts.", "im severely allergic to penicillin", "I have celiac disease",
			"i was diagnosed with type 2 diabetes last year", "I have a nut allergy",
		},
		no: []string{"I have a question", "I'm allergic to meetings, haha", "I have a cold"},
	},
	{
		name: "diet", kind: ragctx.FactIdentity, heads: "i i'm im",
		re: `(?:i {adv}(?:{dont}|never|can'?t|cannot|can not|mustn'?t|no longer) (?:eat|drink|tolerate|have|` +
			`smoke)) {rest}`, attribute: "diet",
		profile: true, conf: .84, imp: .85, reason: "says what they do not eat or drink", check: food,
		yes: []string{"I don't eat pork.", "i can't have dairy", "I don't drink alcohol", "I can't eat gluten"},
		no:  []string{"I don't have time", "I can't have that", "I can't have multiple instances"},
	},
	{
		name: "trait", kind: ragctx.FactIdentity, heads: "i i'm im",
		re: `{im} {adv}(?:an? )?(?P<v>vegan|vegetarian|pescatarian|celiac|coeliac|diabetic|lactose[- ]intolerant|` +
			`gluten[- ]intolerant|teetotal(?:er)?|left[- ]handed|right[- ]handed|` +
			`colou?r[- ]?blind|dyslexic|autistic|asthmatic|epileptic|deaf|blind|hard of hearing|married|single|` +
			`divorced|widowed|engaged|pregnant|retired|self[- ]employed|unemployed|bilingual|trilingual|` +
			`gay|lesbian|trans|queer|bisexual|bi|nonbinary|non-binary|jewish|muslim|catholic|christian|protestant|` +
			`buddhist|hindu|atheist|agnostic|an? introvert|introvert|extrovert|introverted|extroverted|` +
			`the (?:oldest|youngest|eldest|middle child|only child)|an only child|on (?:the |a )[a-z -]{2,20} diet|` +
			`a night owl|night owl|an early bird|early bird|a morning person|morning person|not a morning ` +
			`person|a single (?:mom|dad|mother|father)|adopted)\b(?: .*)?`,
		attribute: "trait", value: "{v}", profile: true, conf: .87, imp: .85, reason: "says what they are",
		yes: []string{"I'm vegetarian.", "im colour blind so no red/green charts", "I am pregnant, due in March", "I'm married"},
		no:  []string{"I'm single-stepping through it", "Am I blind?", "I'm tired"}, check: wholeWord,
	},
	{
		name: "height", kind: ragctx.FactIdentity, heads: "i i'm im i've my",
		re: `(?:i {adv}(?:weigh|wear(?: a)?(?: size)?)|{im}|my (?:height|weight|shoe size|blood type) is) ` +
			`(?P<v>(?:size )?\d[\d'.,]*\s?(?:cm|m|kg|kgs|lbs?|pounds|feet|foot|ft|stone|inches|'|tall)\b.*)`,
		attribute: "body", profile: true, conf: .82, imp: .6, reason: "states a measure of themselves",
		yes: []string{"I'm 183 cm tall.", "i weigh 70 kg"}, no: []string{"the box weighs 3 kg"},
	},
	{
		name: "my", kind: ragctx.FactIdentity, heads: "my",
		re:        `my (?P<a>(?:[a-z][a-z'/-]* ){0,3}?[a-z][a-z/-]*)(?: is|'s| are)(?: currently| now| actually| still)* {rest}`,
		attribute: "{a}", exclusive: true, profile: true, conf: .82, imp: .7, reason: "states something of theirs", check: possession,
		yes: []string{"My time zone is CET.", "my work laptop is a ThinkPad X1", "my hobbies are climbing and " +
			"pottery", "my employer is Roche"},
		no: []string{"my question is simple", "my guess is 5", "My code is broken.", "my problem is that X fails", "my head is spinning"},
	},
	{
		name: "instrument", kind: ragctx.FactIdentity, heads: "i i'm im we",
		re: `(?:i {adv}play|{im} {adv}(?:learning (?:to play )?|playing )|i {adv}practi[sc]e) (?P<v>(?:the ` +
			`)?(?:guitar|piano|violin|cello|drums|bass|flute|saxophone|sax|trumpet|clarinet|ukulele|harp|accordion|` +
			`chess|tennis|football|soccer|` +
			`basketball|volleyball|badminton|hockey|golf|rugby|cricket|baseball|handball|squash|table tennis|padel|` +
			`judo|karate|yoga|go|poker|dnd|d&d)\b.*)`,
		attribute: "hobby", profile: true, conf: .8, imp: .65, reason: "says what they play",
		yes: []string{"I play the cello in an amateur orchestra.", "i play tennis"},
		no:  []string{"I play with the idea", "she plays chess"},
	},
	{
		name: "possession", kind: ragctx.FactIdentity, heads: "i we i've i'm im",
		re: `(?:(?:i|we) {adv}(?:own|drive|ride)|{ive} got|(?:i|we) {adv}(?:have|bought)) (?P<v>(?:a|an|two|three|` +
			`my own) (?:[a-z0-9-]+ ){0,3}?(?:car|van|bike|motorbike|motorcycle|truck|boat|house|flat|apartment|` +
			`garden|piano|camper|allotment|` +
			`volvo|tesla|toyota|honda|bmw|audi|ford|mazda|subaru|skoda|vw|volkswagen|fiat|renault|macbook|thinkpad|` +
			`raspberry pi|3d printer|kindle|synology|nas|camper van|scooter|cottage|cabin|farm|pool|sailboat)\b.*)`,
		attribute: "possession", profile: true, conf: .78, imp: .6, reason: "says what they own",
		yes: []string{"I drive a 2019 Volvo V60.", "we have a small garden", "i own a sailboat"},
		no:  []string{"I have a car accident question?", "I have an idea"},
	},
	{
		name: "drives", kind: ragctx.FactIdentity, heads: "i we",
		re:        `(?:i|we) {adv}(?:own|drive|ride|bought|have) (?P<v>(?:a|an|two|three|my own|our own) .+)`,
		attribute: "possession", profile: true,
		conf: .7, imp: .58, reason: "says what they own", check: brand,
		yes: []string{"I drive an electric Kia.", "we own two Dachshunds"},
		no:  []string{"I have a React app", "I have a question about Go"},
	},
	{
		name: "time zone", kind: ragctx.FactIdentity, heads: "i i'm im we we're",
		re: `(?:{im}|{were}|i'm on|we're on) {adv}(?:in|on) (?P<v>.{0,40}?(?:time ?zone|utc|gmt|cet|cest|pst|` +
			`pdt|est\b|edt|cst|ist\b|[a-z]+ time\b).*)`, attribute: "time zone", exclusive: true, profile: true,
		conf: .84, imp: .7, reason: "states a time zone",
		yes: []string{"I'm in the Pacific time zone.", "im on CET"}, no: []string{"I'm in a hurry"},
	},
	{
		name: "makes", kind: ragctx.FactPlan, heads: "i i'm im we we're",
		re: `(?:{im}|{were}) {adv}(?:writing|building|renovating|restoring|organi[sz]ing|launching|developing|` +
			`designing|remodel+ing|opening|recording|composing|directing|running) (?P<v>(?:a|an|my|our|my own|` +
			`the) .+)`, attribute: "project", keep: true,
		conf: .66, imp: .6, reason: "says what they make",
		check: not(`(?:a|an|my|the) (?:[a-z]+ ){0,3}?(?:function|script|code|test|query|email|letter|class|` +
			`program|regex|message|loop|report|tests|paragraph|sentence|error|command|server|docker|container|cover letter)\b`),
		yes: []string{"I'm writing my thesis on medieval trade routes.", "we're renovating our attic"},
		no:  []string{"I'm writing a function", "I'm running the tests"},
	},
	{
		name: "enthusiast", kind: ragctx.FactPreference, heads: "i i'm im",
		re: `{im} {adv}an? (?:big |huge |massive |real |total |lifelong |avid |bit of a |die-?hard ` +
			`)*(?P<v>[a-z][a-z0-9' -]{1,40}? (?:fan|lover|nerd|geek|enthusiast|buff|addict|supporter|` +
			`aficionado|person|junkie|hater))\b`,
		attribute: "opinion of {v}", profile: true, conf: .82, imp: .66, reason: "says what they like",
		yes:   []string{"I'm a big Arsenal fan.", "im a cat person"},
		no:    []string{"I'm a bad person", "I'm a big fan"},
		check: not(`(?:bad|good|terrible|horrible|big|huge|nice|happy|different|changed|new) `),
	},
	{
		name: "we are", kind: ragctx.FactIdentity, heads: "we we're our",
		re: `(?:we're|we are|our (?:company|team|startup|family|organi[sz]ation) is) (?P<v>(?:an?|the|all) ` +
			`.{0,60}?(?:company|team|startup|start-up|nonprofit|non-profit|agency|shop|family|couple|studio|` +
			`household|ngo|charity|school|firm|bank|business|organi[sz]ation|cooperative|co-op|club|` +
			`department|lab|based|remote|employees|people)\b.*|(?:fully |all )?remote\b.*)`,
		attribute: "group", profile: true, conf: .78, imp: .66, reason: "says what they are together",
		yes: []string{"We're a small nonprofit based in Nairobi.", "our company is a bank in Oslo"},
		no:  []string{"we are a bit lost", "we're the ones"},
	},
	{
		name: "used to", kind: ragctx.FactIdentity, heads: "i we",
		re: `(?:i|we) {adv}used to (?P<v>(?:live|work|be|play|teach|study|own|run|smoke|have) .+)`, attribute: "past",
		conf: .7, imp: .55, reason: `says "used to"`,
		yes: []string{"I used to live in Osaka.", "i used to work at IBM"}, no: []string{"I am used to it", "the key used to sign"},
	},
	{
		name: "experience", kind: ragctx.FactIdentity, heads: "i i've i'm im ive",
		re: `(?:{ive} been|{im}|i have been) {adv}(?P<v>(?:coding|programming|working|living|teaching|playing|` +
			`running|married|learning|studying|practi[sc]ing|vegan|vegetarian|freelancing|writing|using|doing|` +
			`together|sober|climbing|painting|riding|managing|leading|cooking|volunteering|gardening|` +
			`in the) .{0,80}?(?:for (?:over |about |almost |around |nearly |more than |the (?:past|` +
			`last) )?(?:\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|` +
			`twenty|several|many|a few) (?:years?|months?|decades?)|since (?:\d{4}|i was|childhood|[a-z]+ \d{4})).*)`,
		attribute: "experience", profile: true, conf: .8, imp: .7, reason: "says for how long", keep: true,
		yes: []string{"I've been teaching for 12 years.", "I have been using Emacs since 2009"},
		no:  []string{"I've been waiting for 2 hours", "I've been working on it"},
	},
	{
		name: "skill", kind: ragctx.FactIdentity, heads: "i i'm im",
		re: `{im} {adv}(?:(?:completely |totally |very |fairly |pretty |relatively |quite )?(?:new to|` +
			`a beginner (?:in|at|with)|experienced (?:in|with)|good at|bad at|terrible at|proficient in|` +
			`comfortable with|certified in|an expert (?:in|on|at))) {rest}`,
		attribute: "skill", profile: true, conf: .74, imp: .7, reason: "says what they know",
		yes: []string{"I'm new to Rust.", "i'm good at pottery", "I'm terrible at names"},
		no:  []string{"I'm good at the moment", "I'm new here"}, check: notFor,
	},
}
