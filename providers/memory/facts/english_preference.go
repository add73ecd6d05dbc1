package facts

import "github.com/ragctx/ragctx"

var englishInstructions = []rule{
	{
		name: "always", kind: ragctx.FactInstruction, heads: "always never don't dont do", standing: true,
		keep: true, attribute: "instruction",
		re:   `(?:always|never ever|never|don'?t ever|do not ever|do always) {rest}`,
		conf: .86, imp: .9, reason: `says "always" or "never"`, check: order,
		yes: []string{
			"Always answer in metric units.", "never suggest meat dishes", "please always cite your sources when I ask about medicine",
			"Don't ever use my full name.",
		},
		no: []string{"Never mind.", "always wanted to see Rome", "Never heard of it", "always happy to help", "never again!"},
	},
	{
		name: "you always", kind: ragctx.FactInstruction, heads: "you i i'd make please be", standing: true,
		keep: true, attribute: "instruction",
		re: `(?:you (?:should|must|need to|have to|are to) (?:always|never)|(?:i want|i need|i'?d like|i would ` +
			`like|i expect) you to (?:always|never)|(?:please )?(?:make|be) sure (?:to |you |that you )?(?:always|never)|` +
			`you (?:don'?t|do not) (?:need|have) to (?:ever )?(?:explain|apologi[sz]e|remind|repeat|add|include|ask|warn)) {rest}`,
		conf: .85, imp: .9, reason: `says what the assistant is always to do`,
		yes: []string{
			"You should always show the units.", "I want you to always use British spelling",
			"make sure to never delete files without asking",
		},
		no: []string{"you can see it", "you never know"},
	},
	{
		name: "from now on", kind: ragctx.FactInstruction, standing: true, keep: true, attribute: "instruction",
		heads: "from going moving henceforth starting as for in every each whenever any when if",
		re: `(?:(?:from (?:now|here|today|this point|then) (?:on(?:wards?)?(?: out)?|forward)|from (?:now|today) ` +
			`on|going forward|moving forward|henceforth|starting (?:now|today)|as of (?:now|today)|for (?:all ` +
			`)?(?:future|every) [a-z]+|for everything (?:from now on|else))[,: ]+|` +
			`in (?:the )?future,? (?:please |you |can you |i want you to |i'd like you to |use |do |don'?t |always ` +
			`|never |call |write |answer |keep |avoid |only |make )|` +
			`(?:(?:every time|each time|whenever|any ?time) (?:i|we|you)\b|(?:when|if) (?:you (?:write|answer|` +
			`reply|respond|explain|generate|give|suggest|show|list|format|draft|quote|translate|code|recommend|` +
			`summari[sz]e|create|refer|talk|make)|i ask|we ask|i say|i tell|i send|i type)\b)[^,]{3,80}, (?:please )?)(?P<v>.*)`,
		conf: .9, imp: .9, reason: `says "from now on"`, check: fromNow,
		yes: []string{
			"From now on, answer in bullet points.", "going forward please use euros", "In future, use tabs.",
			"Whenever I send code, check the tests first.",
			"from now on call me Captain",
		},
		no: []string{"In the future, cars will fly.", "From now on it gets harder", "whenever I try that, it crashes"},
	},
	{
		name: "until told", kind: ragctx.FactInstruction, heads: "*",
		has: "now forward future point times unless default every", standing: true, keep: true, attribute: "instruction",
		re: `(?P<v>[^,]{6,200}?),? (?:from now on|going forward|from here on(?: out)?|in (?:the )?future|from ` +
			`this point on|moving forward|at all times|unless i say otherwise|by default|every time|for all future ` +
			`[a-z]+)(?:,? please)?(?:$|,)`,
		conf: .85, imp: .9, reason: `says it holds from now on`, check: imperative,
		yes: []string{
			"Sign mails with my initials from now on.", "please quote the source going forward",
			"show prices in euros by default",
		},
		no: []string{"It works by default", "he will be careful in the future", "I want to be a doctor in the future"},
	},
	{
		name: "language", kind: ragctx.FactInstruction,
		heads: "reply respond answer speak talk write please explain communicate use prefer stick", keep: true, attribute: "answers",
		re: `(?:please )?(?:(?:reply|respond|answer|speak|talk|write|explain|communicate)(?: to me| with me| back|` +
			` things| everything| me)?(?: only| always| just)? (?:in|using|with)|(?:use|prefer|stick (?:to|with))) ` +
			`(?P<v>(?:only )?(?:english|german|french|spanish|italian|portuguese|dutch|polish|british|american|` +
			`us english|metric|imperial|si units|celsius|fahrenheit|kilomet|euros?|dollars|24|iso|tabs\b|spaces\b|` +
			`type hints|snake_case|camelcase|dark mode|single quotes|double quotes|formal|informal|plain ` +
			`(?:english|text|language)|bullet|bullets|short|simple|full sentences|lower ?case|one sentence|` +
			`layman|less jargon|gender|first person|my name|they/them|she/her|he/him|as few).*)`,
		conf: .72, imp: .85, reason: "says how to answer",
		yes: []string{
			"Please answer in German.", "use metric units please", "reply in short sentences",
			"prefer tabs",
		}, no: []string{"write in the file", "Can you answer in German this time?"},
	},
	{
		name: "avoid", kind: ragctx.FactInstruction, heads: "don't dont do no stop avoid skip please", keep: true, attribute: "answers",
		re: `(?:please )?(?:{dont}|no more|no|stop|avoid|skip|leave out) (?:using |use |with |adding |add |` +
			`including |include |give me |giving me |the |any |so many )*(?P<v>(?:emojis?|emoticons|exclamation|` +
			`em[ -]?dash|bullet|markdown|` +
			`tables|jargon|disclaimers?|apolog|small talk|semicolons|abbreviations|swear|headings|filler|fluff|` +
			`flatter|prais|compliment|call me|calling me|remind me|caveats|lectur|moraliz|sugar|acronyms|` +
			`buzzwords|passive voice|slang|preamble|summar(?:y|ies) at the end|long).*)`,
		conf: .74, imp: .85, reason: "says what not to do in answers",
		yes: []string{
			"Please don't use emojis.", "no bullet points please", "stop apologising all the time",
			"dont call me sir",
		}, no: []string{"no problem", "don't worry about it"},
	},
	{
		name: "answers", kind: ragctx.FactInstruction, heads: "keep make give i i'd please your", keep: true, attribute: "answers",
		re: `(?:please )?(?:keep|make|i (?:want|need|expect|like|prefer)|i'?d (?:like|prefer)|i would (?:like|` +
			`prefer)|give me) (?P<v>(?:your |the |all |all your |my |short |concise |detailed |brief |longer |` +
			`shorter |more |less |direct )*` +
			`(?:answers|replies|responses|explanations|summaries|code comments|commit messages|code examples|code ` +
			`samples|recipes|examples|outputs|reports)(?: .*)?)`,
		conf: .76, imp: .85, reason: "states how to answer",
		yes: []string{"Keep your answers short.", "I want short answers", "please keep commit messages in English"},
		no:  []string{"I need answers fast, can you help?", "keep it short this time"},
	},
	{
		name: "could you", kind: ragctx.FactInstruction, heads: "can could would will", keep: true, standing: true,
		re: `(?:can|could|would|will) you (?:please |pls )?(?P<v>(?:always|never|stop [a-z]+ing|quit [a-z]+ing|` +
			`from now on) .+|[^,]{4,160}? (?:from (?:now|here|this point) on(?: out)?|going forward|moving forward))`,
		attribute: "instruction", conf: .8, imp: .85, reason: "asks for something lasting",
		yes: []string{
			"Could you stop using semicolons in my emails?", "can you always show the units",
			"Could you please use metric units from now on?", "Would you call me Sam going forward?",
		},
		no: []string{"Can you stop the server?", "Can you see it from here?"}, check: not(`stop (?:working|running)`),
	},
	{
		name: "do not", kind: ragctx.FactInstruction, heads: "don't dont do no avoid never", keep: true,
		re: `(?:(?:{dont}) (?:recommend|suggest|offer|propose|call|assume|mention|ask|send|show|include|use|` +
			`write|book|schedule|serve|put|explain|translate|apologi[sz]e|repeat|shorten|round)|avoid) ` +
			`(?P<v>.+)`, attribute: "instruction", conf: .64, imp: .82,
		reason: "says what not to do", check: firstHand(`(?:it|this|that|any code|the (?:same|following|code|` +
			`function)|in this|a (?:loop|function|class|library)|for loops?|recursion|numpy|pandas|regex)\b`),
		yes: []string{"Don't recommend anything with shellfish.", "don't schedule meetings before ten"},
		no:  []string{"don't use this", "don't worry"},
	},
	{
		name: "treat", kind: ragctx.FactInstruction, heads: "treat consider assume address speak explain",
		re: `(?:treat me|consider me|assume (?:that )?(?:i(?:'?m| am| know| have)|we)|` +
			`address me|explain (?:things|everything)) {rest}`,
		attribute: "answers", conf: .72, imp: .85, reason: "says how to deal with them", standing: true,
		yes: []string{"Treat me as an expert.", "Assume I know Go", "address me as Dr. Okoye"}, no: []string{"assume x is 5"},
	},
	{
		name: "only", kind: ragctx.FactInstruction, heads: "only",
		re: `only (?P<v>(?:use|reply|answer|suggest|recommend|respond|show|cite|write|give|contact|call|send) ` +
			`.+)`, attribute: "instruction", keep: true, conf: .7, imp: .85,
		reason: `says "only"`, yes: []string{"Only suggest recipes without nuts."},
		no: []string{"only you can tell", "only use this file for this task"},
	},
}

var englishPreferences = []rule{
	{
		name: "favourite", kind: ragctx.FactPreference, heads: "my our",
		re: `(?:my|our) (?:new |current |absolute |all[- ]time |personal )*(?:favou?rite|favorit|fave|fav|` +
			`go[- ]to|preferred) (?P<a>[a-z][a-z /-]{1,50}?)(?: of all time| right now| ever| these days| has ` +
			`always been| has been|'s| is| are| was|:)+(?: now| still| probably| definitely| currently| actually)* {rest}`,
		attribute: "favourite {a}", exclusive: true, profile: true, conf: .9, imp: .72, reason: "says what their favourite is",
		yes: []string{"My favourite editor is now Helix.", "my favorite food is ramen", "my go-to coffee order is " +
			"a flat white"}, no: []string{"Is my favourite editor dead?", "my favourite is gone"},
	},
	{
		name: "is favourite", kind: ragctx.FactPreference, heads: "*", has: "favo fave go-to go",
		re: `(?P<v>[a-z][^,]{1,60}?) (?:is|are|has always been) (?:by far |still |now |probably |definitely ` +
			`|one of |also |actually )*(?:my|our) (?:all[- ]time |absolute )?(?:favou?rites?|fave|go[- ]to) (?P<a>[a-z][a-z /-]{1,50})`,
		attribute: "favourite {a}", exclusive: true, profile: true, conf: .85, imp: .7,
		reason: "says what their favourite is",
		yes:    []string{"Dune is my favourite book.", "thai curry is by far my favorite dish"},
		no:     []string{"It is my favourite movie.", "what is my favourite dish"},
	},
	{
		name: "dislike", kind: ragctx.FactPreference, heads: "i i'm im we",
		re: `(?:(?:i|we) {adv}(?:hate|dislike|detest|despise|loathe|can'?t stand|cannot stand|can not stand|can'?t ` +
			`bear|can'?t tolerate)|(?:i|we) {dont} {adv}(?:like|enjoy|care for|love|want any)|(?:i'm|im|i am) ` +
			`{adv}not {adv}(?:a (?:big |huge )?fan of|into|fond of|keen on)|` +
			`(?:i'm|im|i am) {adv}(?:scared|afraid|terrified) of|i no longer (?:like|enjoy|love)) {rest}`,
		attribute: "opinion of {v}", value: "dislike", exclusive: true, profile: true, conf: .83, imp: .7,
		reason: "says what they dislike", check: taste,
		yes: []string{
			"I hate cilantro.", "i dont like phone calls", "I'm not a fan of horror movies",
			"I can't stand open-plan offices", "I'm terrified of heights",
		},
		no: []string{"I don't like it", "I hate to say it", "I don't like your answer", "I don't like the second paragraph"},
	},
	{
		name: "hate when", kind: ragctx.FactPreference, heads: "i",
		re: `i (?:(?:really |just )?(?:hate|dislike|can'?t stand|love|like)|(?:really )?{dont} (?:really ` +
			`)?(?:like|enjoy|love)) (?:it )?(?P<v>(?:when|if) .+)`, attribute: "opinion", keep: true,
		profile: true, conf: .76, imp: .68,
		reason: "says what they like or dislike", standing: true,
		yes: []string{"I hate when answers start with a greeting.", "i really dont like it when people call me"},
		no:  []string{"I like it", "do I like it when it rains?"},
	},
	{
		name: "if you", kind: ragctx.FactInstruction, heads: "i i'd id",
		re: `i(?:'?d| would) (?:prefer|like|love|appreciate)(?: it)? if you (?:could |would |always |never ` +
			`)*{rest}`, attribute: "instruction", keep: true, standing: true, conf: .74, imp: .82, reason: "says how they want it",
		check: not(`(?:could )?(?:help|explain|give me an|show me how|tell me|review|check|look|write|send|provide|` +
			`elaborate|share)\b`), yes: []string{"I'd prefer if you addressed me formally."},
		no: []string{"I'd appreciate it if you could help me", "I'd like if"},
	},
	{
		name: "reading", kind: ragctx.FactPreference, heads: "i i'm im we we're",
		re:        `(?:{im}|{were}) {adv}(?:reading|watching|rewatching|rereading|listening to|playing) {rest}`,
		attribute: "current media", profile: true, conf: .66, imp: .5, reason: "says what they read or watch",
		check: properTitle, yes: []string{"I'm currently reading The Name of the Rose."},
		no: []string{"I'm reading your code", "I'm watching it"},
	},
	{
		name: "rather", kind: ragctx.FactPreference, heads: "i i'd id we we'd",
		re: `(?:(?:i|we)'?d|(?:i|we) would) {adv}(?:rather|prefer|sooner) {rest}`, attribute: "opinion of {v}",
		value: "prefer", exclusive: true,
		profile: true, conf: .68, imp: .7, reason: "says what they would rather have", check: taste,
		yes: []string{"I'd rather take the train than fly."}, no: []string{"I'd rather not", "I'd prefer it if you waited"},
	},
	{
		name: "prefer", kind: ragctx.FactPreference, heads: "i we i've",
		re: `(?:i|we|my team|i've always) {adv}prefer(?:red)? {rest}`, attribute: "opinion of {v}",
		value: "prefer", exclusive: true, profile: true, conf: .86, imp: .75,
		reason: "says what they prefer", check: taste,
		yes: []string{"I prefer tabs over spaces.", "i really prefer window seats", "We prefer postgres to mysql"},
		no:  []string{"which do I prefer", "I prefer this one", "if I prefer tea"},
	},
	{
		name: "fan", kind: ragctx.FactPreference, heads: "i i'm im we",
		re: `{im} {adv}(?:a (?:big |huge |massive |real |total |lifelong )?(?:fan of|lover of|sucker for)|` +
			`(?:really |very |super )?(?:into|fond of|keen on|obsessed with|crazy about|passionate about|` +
			`partial to|addicted to|big on)) {rest}`,
		attribute: "opinion of {v}", value: "like", exclusive: true, profile: true, conf: .82, imp: .7,
		reason: "says what they like", check: taste,
		yes: []string{
			"I'm a huge fan of Terry Pratchett.", "im really into bouldering",
			"I'm obsessed with sourdough",
		}, no: []string{"I'm a fan of it", "I'm into the second week", "I'm into it"},
	},
	{
		name: "habit", kind: ragctx.FactPreference, heads: "i we",
		re: `(?:i|we) (?P<v>(?:really |just )?(?:always|never|usually|normally|typically|generally|rarely|` +
			`seldom|hardly ever|almost never|almost always|often|tend to|only ever|mostly|sometimes) [a-z]+ .+)`,
		attribute: "habit", profile: true, conf: .7, imp: .6, reason: "says what they usually do", check: habit, keep: true,
		yes: []string{"I always drink my coffee black.", "i never work on Fridays", "I usually run before " +
			"breakfast"}, no: []string{
			"I never got it to work.", "I always get this error", "I never said that",
			"I usually like your answers",
		},
	},
	{
		name: "routine", kind: ragctx.FactPreference, heads: "i we i'm im we're", keep: true,
		re: `(?:i|we|i'm|im|i am|we're) {adv}(?P<v>[a-z]+ .{0,80}?\b(?:every (?:single |other )?(?:day|morning|` +
			`evening|night|week|month|year|weekend|summer|winter|monday|tuesday|wednesday|thursday|friday|saturday|` +
			`sunday)|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|on weekends|` +
			`(?:once|twice|three times|four times|five times) (?:a|per) (?:day|week|month|year))\b.*)`,
		attribute: "habit", profile: true, conf: .74, imp: .6, reason: "says what they do regularly", check: habit,
		yes: []string{
			"I swim every Tuesday at the municipal pool.", "i call my mum twice a week",
			"we play board games on Fridays",
		}, no: []string{"I get this error every day", "I have been there every summer?"},
	},
	{
		name: "like", kind: ragctx.FactPreference, heads: "i we i've",
		re:        `(?:i|we|i've) {adv}(?:like|love|enjoy|adore|favou?r|loved|enjoyed) {rest}`,
		attribute: "opinion of {v}", value: "like", exclusive: true, profile: true, conf: .8, imp: .65,
		reason: "says what they like", check: taste,
		yes: []string{"I love hiking in the Alps.", "i really like indian food", "I enjoy woodworking"},
		no: []string{
			"I like it.", "I love this idea!", "I like your suggestion", "I'd like a pizza",
			"I like the second option", "I love how that sounds", "I like that",
		},
	},
	{
		name: "use", kind: ragctx.FactPreference, heads: "i i'm im my",
		re: `(?:i {adv}(?:use|code in|write in|develop in|program in|code with|rely on|swear by|wear|subscribe ` +
			`to|shop at|bank with)|{im} {adv}using) {rest}`, attribute: "uses",
		profile: true, conf: .74, imp: .65, reason: "says what they use", check: tool,
		yes: []string{"I use Neovim with tmux.", "i code in Go", "I'm using Fedora 41 on my laptop"},
		no:  []string{"I use the following code", "I use it daily", "how do I use Neovim"},
	},
	{
		name: "stopped", kind: ragctx.FactPreference, heads: "i i've we i'm",
		re: `(?:i|i'?ve|i have|we) {adv}(?:quit|stopped|gave up|given up|no longer) (?P<v>(?:[a-z]+ing|meat|` +
			`sugar|alcohol|caffeine|coffee|dairy|gluten|social media|facebook|twitter|instagram|drink|eat|` +
			`smoke|use|play|watch|read|buy|go to|wear)\b.*)`,
		attribute: "habit", value: "no longer {v}", profile: true, conf: .78, imp: .7,
		reason: "says what they do no longer",
		yes:    []string{"I quit smoking in January.", "i gave up coffee", "I no longer use Windows"},
		no:     []string{"it stopped working", "I stopped reading at page 3?"},
	},
}
