package facts

import "github.com/ragctx/ragctx"

var englishPlans = []rule{
	{
		name: "going", kind: ragctx.FactPlan, heads: "i i'm im we we're my me", tense: future, keep: true,
		re: `(?:{im}|{were}) {adv}(?:going to|gonna|planning to|planning on|planning|planing to|hoping to|` +
			`looking to|aiming to|set to|due to|scheduled to|intending to|determined to|expecting|saving(?: ` +
			`up)? for|training for|preparing for|studying for) {rest}`,
		attribute: "plan", conf: .72, imp: .62, reason: "says what they are going to do", check: plan,
		yes: []string{
			"I'm going to run the Berlin marathon in September.", "we're planning a trip to Japan",
			"im planning to quit my job", "We're expecting twins in April", "I'm training for a half marathon.",
			"we are saving up for a house",
		},
		no: []string{
			"I'm going to bed.", "I'm going to try that", "I'm going to paste the code",
			"Am I going to regret it?", "I'm going to need your help",
		},
	},
	{
		name: "thinking", kind: ragctx.FactPlan, heads: "i i'm im we we're", tense: future, keep: true,
		re: `(?:{im}|we're|we are) {adv}(?:thinking of|thinking about|considering|` +
			`about to|looking into|looking at|looking for) {rest}`,
		attribute: "plan", conf: .56, imp: .55, reason: "says what they have in mind", check: plan,
		yes: []string{"I'm looking into solar panels for next year."},
		no:  []string{"I'm trying to understand", "I'm thinking about it", "I'm working on the task"},
	},
	{
		name: "change", kind: ragctx.FactPlan, heads: "i i'm im we we're", tense: future, keep: true,
		re: `(?:{im}|{were}) {adv}(?:thinking of|thinking about|considering) (?P<v>(?:moving|switching|buying|` +
			`quitting|getting|changing|applying|going back|leaving|selling|adopting|retiring|learning|starting ` +
			`a|opening|renovating|hiring) .+)`,
		attribute: "plan", conf: .64, imp: .55, reason: "says what they have in mind", check: all(plan, ownWords),
		yes: []string{"I'm thinking about switching to Linux.", "we're considering adopting a dog"}, no: []string{"I'm considering it"},
	},
	{
		name: "plan", kind: ragctx.FactPlan, heads: "i we my", tense: future, keep: true,
		re: `(?:i|we|my (?:wife|husband|partner) and i) {adv}(?:plan|intend|aim|plan on|hope|planned)(?: to|` +
			` on| for)? {rest}`, attribute: "plan", conf: .76, imp: .62, reason: "says what they plan",
		check: plan, yes: []string{
			"I plan to retire at 60.", "we intend to open a second shop",
			"i hope to visit Peru someday",
		}, no: []string{"I hope you are well", "I hope so", "I hope that helps"},
	},
	{
		name: "want", kind: ragctx.FactPlan, heads: "i we i'd i've", tense: future, keep: true,
		re: `(?:(?:i|we) {adv}(?:want to|want|wanna|dream of|need to|have to|must|should|gotta|got to)|(?:i'd|` +
			`we'd|i would|we would) {adv}(?:like|love) to|i've always wanted to) {rest}`, attribute: "plan",
		timed: true, conf: .72, imp: .58,
		reason: "says what they want to do, and when", check: plan,
		yes: []string{"I want to climb Mont Blanc next summer.", "I have to renew my passport by June"},
		no:  []string{"I want to write a function", "I want to be alone today"},
	},
	{
		name: "dream", kind: ragctx.FactPlan, heads: "my our i", tense: future, keep: true,
		re: `(?:my|our) (?:main |next |long[- ]term |short[- ]term |ultimate |current |biggest |big |new |new ` +
			`year's |career )*(?:goal|plan|dream|aim|objective|ambition|resolution|target|wish)s?(?: for ` +
			`(?:the |this |next |[a-z0-9])[a-z0-9 ]*?)?(?: is|'s|s| are|:)(?: to)? {rest}`,
		attribute: "goal", profile: true, conf: .8, imp: .65, reason: "states a goal", check: longEnough,
		yes: []string{
			"My goal is to read 30 books this year.", "our target is 5000 subscribers",
			"My dream is to own a vineyard",
		}, no: []string{"my goal is simple", "is my goal realistic?"},
	},
	{
		name: "progressive", kind: ragctx.FactPlan, heads: "i i'm im we we're my me", tense: future, timed: true, keep: true,
		re: `(?:{im}|we're|we are) {adv}(?P<v>[a-z]+ing .+|[a-z]+ing|off to .+|away .+|on (?:holiday|vacation|` +
			`leave|parental leave|maternity leave) .+|in [a-z]+ .+|out of office .+)`,
		attribute: "plan", conf: .78, imp: .6, reason: "says what they are doing, at a time to come",
		check: all(toCome, not(`(?:trying|debating|waiting|wondering|struggling|finding|looking|asking|worried|`+
			`finali[sz]ing|getting ready|hoping|thinking|considering|wanting|needing|writing to|preparing|using|seeing|concerned)\b`)),
		yes: []string{"We're flying to Oslo next week.", "im getting married in June", "I'm starting a new job on " +
			"Monday", "I'm on vacation from next Tuesday"},
		no: []string{"I'm flying blind", "I'm feeling tired today", "I'm working on it since last week"},
	},
	{
		name: "will", kind: ragctx.FactPlan, heads: "i i'll ill we we'll", tense: future, timed: true, keep: true,
		re: `(?:i'll|ill|i will|we'll|we will|i won'?t|we won'?t|i shall) {rest}`, attribute: "plan", conf: .72,
		imp: .58, reason: "says what they will do, and when", check: plan,
		yes: []string{"I'll be in Zurich next Thursday.", "we will visit my grandparents in three weeks"},
		no:  []string{"I'll try it tomorrow", "I'll let you know tomorrow", "I'll think about it"},
	},
	{
		name: "appointment", kind: ragctx.FactPlan, heads: "i we i've we've", tense: future, timed: true, keep: true,
		re: `(?:(?:i|we) {adv}(?:have|booked|scheduled|signed up for|registered for|bought tickets|fly|leave|` +
			`start|move|travel|present|graduate|meet|begin|arrive|return|take|see)|{ive} (?:got|booked|` +
			`scheduled|signed up for)|we'?ve (?:got|booked|scheduled|signed up for)) {rest}`,
		attribute: "appointment", conf: .8, imp: .62, reason: "states an appointment", check: toCome,
		yes: []string{
			"I have a dentist appointment on 5 December.", "we've got a viewing next weekend",
			"I start at Roche next month",
		}, no: []string{"I have a question about tomorrow?", "I have time today"},
	},
	{
		name: "rescheduled", kind: ragctx.FactPlan, heads: "i we we've i've they", tense: future, timed: true, keep: true,
		re: `(?:(?:i|we)(?:'?ve| have)?|they) {adv}(?:rescheduled|moved|postponed|pushed|delayed|shifted|` +
			`scheduled|set|planned) (?P<s>(?:the|our|my) [a-z][a-z0-9 '-]{1,40}?)(?: back| forward)? (?:to|until|till|for|by) {rest}`,
		subject: "{s}", attribute: "date", exclusive: true, conf: .82, imp: .7, reason: "moves a date",
		yes: []string{"We rescheduled the kickoff to Thursday next week."}, no: []string{"we moved the file to the folder"},
	},
	{
		name: "visit", kind: ragctx.FactPlan, heads: "my our the he she they", tense: future, timed: true, keep: true,
		re: `(?P<p>(?:(?:my|our) (?:{rel}|parents|family|in-laws|grandparents|kids|children|team|company|flat|` +
			`landlord)(?:,? [a-z][a-z'-]+,?)?|he|she|they)) (?P<v>(?:is|are|'s|will|'ll|has|have|starts?|` +
			`moves?|turns?|gets?|leaves?|comes?|arrives?|graduates?) .+)`,
		attribute: "plan", conf: .74, imp: .58, reason: "states a plan of a relative or friend", check: toCome,
		yes: []string{
			"My parents are visiting next week.", "my daughter starts school in September",
			"Our team will present in three months",
		}, no: []string{"my parents are fine today"},
	},
	{
		name: "project plan", kind: ragctx.FactPlan, heads: "the our", tense: future, timed: true, keep: true,
		re: `(?P<s>(?:the|our) [a-z][a-z0-9 _./'-]{1,50}?) (?P<v>(?:is going to|is being|are being|will be|` +
			`will|launches|ships|starts|begins|ends|goes live|opens|closes|expires|gets|arrives|takes place|is) .+)`, subject: "{s}",
		attribute: "plan", conf: .73, imp: .62, reason: "says what is going to happen, and when", check: toCome,
		yes: []string{"The old API will be switched off in three months.", "our office closes next Friday"},
		no:  []string{"the weather will be nice tomorrow", "the file is from today"},
	},
}

var englishEvents = []rule{
	{
		name: "milestone", kind: ragctx.FactEvent, heads: "i we i've we've i'm im my", keep: true,
		re: `(?:i|we|i'?ve|i have|we'?ve|we have|my (?:wife|husband|partner) and i) {adv}(?P<v>(?:got (?:married|` +
			`engaged|divorced|promoted|fired|laid off|a (?:new )?(?:job|dog|cat|puppy|kitten|car|promotion|raise|` +
			`tattoo|degree|offer)|accepted|hired|my (?:degree|license|licence|visa|phd|results|citizenship|` +
			`diploma|certification)|the (?:job|keys|offer)|into [a-z]+|covid)|graduated|quit my|left my ` +
			`job|retired|resigned|lost my (?:job|dad|mum|mom|father|mother|wallet|passport|phone)|` +
			`had (?:a baby|our (?:first|second|third|baby)|surgery|an operation|twins|a miscarriage|a stroke|` +
			`a heart attack|an accident|a car accident|our first)|gave birth|became a|became an|broke up|broke ` +
			`my|split up|bought (?:a|an|our|my)|sold (?:my|our|the)|adopted (?:a|an|two|our)|passed (?:my|` +
			`the)|failed (?:my|the)|won (?:a|the|first|my|our)|ran (?:a|my|the)|finished (?:my|the|a|` +
			`writing|reading)|completed (?:my|the|a)|started (?:a|my|at|learning|taking|working|` +
			`seeing|dating)|joined (?:a|the|an)|signed (?:a|the|up)|launched|published|` +
			`released|shipped|founded|enrolled|was (?:promoted|diagnosed|laid off|fired|` +
			`hired|accepted|born|hospitali[sz]ed|elected|robbed)|been (?:promoted|` +
			`accepted|laid off|diagnosed)|sprained|fractured|injured|celebrated|` +
			`ordered a|visited|attended|planted|renovated|closed (?:the deal|` +
			`on)|raised (?:a|our|\$|€)|defended my|submitted my|received ` +
			`(?:a|my|the|an)|landed (?:a|my)|moved in with|proposed|` +
			`met (?:my|a|with)|volunteered|performed|competed)(?:\b.*)?)`,
		attribute: "event", conf: .78, imp: .6, reason: "tells what happened", check: eventful,
		yes: []string{
			"I got promoted to staff engineer!", "we had a baby", "I broke my wrist while skating",
			"i just bought a wedding dress", "I passed my driving test",
		},
		no: []string{"I finished the first step", "I got the same error", "we launched the debugger?", "I started the server"},
	},
	{
		name: "dated", kind: ragctx.FactEvent, heads: "i we i've we've", timed: true, keep: true,
		re: `(?:i|we|i'?ve|we'?ve|my (?:wife|husband|partner|friend|friends|family|kids|team|sister|brother) ` +
			`and i) (?:just |also |finally |recently |actually |only |then )*(?P<v>[a-z']+\b.*)`,
		attribute: "event", conf: .75, imp: .52, reason: "tells what happened, and when", check: verbInPast,
		yes: []string{
			"Last Friday I met the new landlord.", "yesterday we hiked up the Rigi",
			"We crossed the Alps on 3 May", "two weeks ago i crashed my bike",
		},
		no: []string{
			"I tried your fix yesterday", "I asked you last week", "I was tired yesterday",
			"I slept badly last night", "I thought about it yesterday",
		},
	},
	{
		name: "happened", kind: ragctx.FactEvent, heads: "the our my a an prod production staging there", timed: true,
		keep: true, re: `(?P<s>(?:the|our|my|a|an) [a-z][a-z0-9 _./'-]{1,50}?|prod|production|staging) ` +
			`(?P<v>(?:went|was|were|had|got|crashed|failed|launched|broke|died|ran|started|ended|closed|opened|` +
			`shipped|moved|burned|leaked|expired|stopped|arrived|hit|released|announced|won|lost|merged|` +
			`changed|happened|took place|raised|hired|left)\b.*)`,
		subject: "{s}", attribute: "event", conf: .72, imp: .55, reason: "tells what happened, and when", check: lastingEvent,
		yes: []string{
			"The payment service went down on Monday because a certificate expired.",
			"our landlord's roof was damaged last week", "prod crashed yesterday",
		},
		no: []string{"the weather was nice yesterday", "the movie was great last night"},
	},
	{
		name: "because", kind: ragctx.FactOutcome, heads: "the our it turns root turned",
		re: `(?:(?:the )?(?:root )?(?:cause|culprit|reason|problem|issue|bug|fix|solution|error|crash|outage|` +
			`failure)(?: of [a-z0-9 ]{2,40}?| for [a-z0-9 ]{2,40}?| behind [a-z0-9 ]{2,40}?)? (?:was|turned ` +
			`out to be|were)|(?P<s>(?:the|our) [a-z0-9 _./'-]{2,40}? (?:failed|crashed|broke|hung|timed ` +
			`out|went down|stopped working|was failing|kept failing|kept crashing)) (?:because(?: of)?|due to)) {rest}`,
		attribute: "cause", conf: .75, imp: .6, reason: "states the cause of a failure", keep: true, check: longEnough,
		yes: []string{
			"The root cause of the outage was an expired certificate on the proxy.",
			"The deploy failed because the disk was full", "the fix was to raise the ulimit",
		},
		no: []string{"the problem was solved", "the issue is that it fails"},
	},
}
