package facts

import "github.com/ragctx/ragctx"

var englishPeople = []rule{
	{
		name: "relative named", kind: ragctx.FactRelation, heads: "my our",
		re: `(?P<p>(?:my|our) (?P<a>{rel}))(?:(?:'s|s)? name(?: is|'s)| is (?:called|named)|, (?:called|named)|` +
			`(?: called| named)) (?P<v>[a-z][a-z'-]*)`,
		subject: "{u}", attribute: "{a}", conf: .9, imp: .75, profile: true, reason: "names a relative or friend", check: properName,
		content: "{P} is called {v}", more: true,
		yes: []string{"My sister's name is Ingrid.", "our dog is called Bruno", "my youngest son is named Theo"},
		no:  []string{"my sister is called often"},
	},
	{
		name: "relative", kind: ragctx.FactRelation, heads: "my our",
		re:      `(?P<p>(?:my|our) (?P<a>{rel}),? (?P<v>[a-z][a-z'-]+(?: [a-z][a-z'-]+)?))(?:\s|,|$)`,
		subject: "{u}", attribute: "{a}", conf: .8, imp: .72, profile: true, reason: "names a relative or friend",
		check: nameAfterRelative, more: true,
		content: "{S} has a {a} called {v}",
		yes:     []string{"My wife Carmen is a vet.", "We visited my uncle. My cousin Lars came too."},
		no:      []string{"my sister loves tea", "My boss Is Angry"},
	},
	{
		name: "is relative", kind: ragctx.FactRelation, heads: "*", has: "my our",
		re: `(?P<v>[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,2}) (?:is|was) (?:my|our) (?P<a>(?:new |old |former ` +
			`)?(?:{rel}|cto|ceo|cfo|pm|product manager|project manager|product owner|designer|intern|client|` +
			`customer|contact|accountant|` +
			`team lead|tech lead|line manager|head of [a-z]+|dba|on-call|landlord|business partner|counterpart|` +
			`account manager|recruiter|supervisor|thesis advisor|scrum master|lead [a-z]+|hr (?:contact|` +
			`person)|(?:new |former |old )?[a-z]+(?:ist|ian|yer|eer|octor|utor|oach|ather|onor|andidate|rainer|eacher)))\b`,
		attribute: "{a}", content: "{v} is {u}'s {a}", conf: .86, imp: .75, profile: true,
		reason: "states a relation", check: properName,
		yes: []string{"Anna is my sister.", "Rajesh Patel is our new CTO", "Bruno is our dog"},
		no:  []string{"This is my sister.", "who is my boss?", "she is my friend"},
	},
	{
		name: "family", kind: ragctx.FactRelation, heads: "i we i've we've",
		re: `(?:i|we)(?:'ve)? {adv}(?:have|got|adopted|have got|'ve got|ve got|foster)(?P<v> (?:(?:a|an|one|two|` +
			`three|four|five|six|seven|\d+|no|twin|triplet|another) )(?:(?:little|small|grown|adult|young|older|` +
			`younger|beautiful|teenage|rescue|black|white|golden|old|new|lovely|adopted|wonderful|amazing|` +
			`year-old|[a-z0-9]+-year-old|[a-z0-9]+-month-old|border|german|french|labrador|siamese|persian) )*` +
			`(?:kids?|child(?:ren)?|sons?|daughters?|brothers?|sisters?|siblings?|twins|dogs?|cats?|pupp(?:y|ies)|` +
			`kittens?|parrots?|hamsters?|rabbits?|guinea pigs?|horses?|chickens|fish|snakes?|turtles?|` +
			`tortoises?|grandchildren|grandkids|nephews?|nieces?|roommates?|flatmates?|retriever|terrier|` +
			`shepherd|collie|poodle|beagle|dachshund|husky|corgi|toddlers?|teenagers?|bab(?:y|ies)|` +
			`girls|boys|stepsons?|stepdaughters?|step-?children|goldendoodle|greyhound|bulldog|` +
			`cockatiel|budgies?|gecko|goats|alpacas|bees)\b.*)`,
		attribute: "family", profile: true, conf: .85, imp: .75, reason: "describes the household or family",
		yes: []string{
			"I have two kids, Mia and Leo.", "we have a golden retriever named Biscuit",
			"I have a younger brother",
		}, no: []string{"I have two cats in the picture?", "I have a child process"}, check: noProcess,
	},
	{
		name: "partner", kind: ragctx.FactRelation, heads: "i i'm im i've we",
		re: `(?:{im} {adv}(?:married to|engaged to|dating|seeing|in a relationship with)|i {adv}(?:live with|` +
			`share a flat with|work with|report to|sit next to|work under)) (?P<v>(?:my |a )?[a-z].*)`,
		attribute: "relation", conf: .8, imp: .72, profile: true, reason: "names a partner or companion", check: withName,
		yes: []string{"I'm married to Jorge.", "I report to Samantha Lee", "i live with my two brothers"},
		no:  []string{"I work with it", "I live with the consequences"},
	},
	{
		name: "relative home", kind: ragctx.FactRelation, heads: "my our he she they he's she's",
		re: `(?P<p>(?:(?:my|our) (?:{rel}|parents|family|in-laws|grandparents|kids|children|sons|daughters|` +
			`folks)(?:,? [a-z][a-z'-]+,?)??|he|she|they)) {adv}(?:(?:lives?|resides?)|(?:is|are) (?:living|` +
			`based|from)|moved to|comes from) {adv}?(?:in |at |near |on |from |with )?{rest}`,
		attribute: "home", conf: .84, imp: .65, reason: "says where a relative or friend lives",
		yes: []string{"My brother lives in Oslo.", "my parents live near Valencia", "My sister Anna is a doctor. " +
			"She lives in Lyon."}, no: []string{"She lives in Lyon.", "my brother lives in a dream world?"},
	},
	{
		name: "relative is", kind: ragctx.FactRelation, heads: "my our he she they he's she's",
		re: `(?P<p>(?:(?:my|our) (?:{rel}|parents|family|in-laws|grandparents|kids|children|sons|` +
			`daughters)(?:,? [a-z][a-z'-]+,?)??|he|she|they))(?:'s| {adv}(?:is|are|works|work|studies|study|` +
			`teaches|teach|plays|play|speaks|speak|owns|loves?|likes?|hates?|prefers?|has|have|runs|suffers|` +
			`turned|turns|was born|goes to|is turning|graduated|doesn'?t (?:like|eat|drink)|can'?t (?:eat|` +
			`stand)|collects|wants)) ` + `{rest}`,
		attribute: "about", conf: .78, imp: .62, reason: "describes a relative or friend", check: lasting,
		yes: []string{
			"My wife is a vet.", "my son is allergic to eggs", "My mother speaks Farsi",
			"my daughter turned 6",
		}, no: []string{"my wife is tired", "my boss is angry at me", "he is right", "my son is sick today"},
	},
	{
		name: "relative event", kind: ragctx.FactEvent, heads: "my our he she they",
		re: `(?P<p>(?:(?:my|our) (?:{rel}|parents|family|in-laws|grandparents|kids|children|team|company|` +
			`neighbou?rs?)(?:,? [a-z][a-z'-]+,?)??|he|she|they)) {adv}(?P<v>(?:got (?:married|engaged|divorced|` +
			`promoted|fired|a job|into|accepted|hired|laid off)|gave birth|had (?:a baby|surgery|an accident|` +
			`a stroke|twins)|passed (?:away|her|his|the)|died|graduated|retired|quit|started (?:school|` +
			`college|university|kindergarten|working|a)|broke (?:her|his|up)|won|lost (?:her|his)|` +
			`is (?:pregnant|getting married|expecting|retiring|having)|was (?:born|diagnosed|` +
			`promoted|laid off|hospitali[sz]ed)|adopted|bought|is moving|joined|left|resigned)(?: .*)?)`,
		attribute: "event", conf: .8, imp: .65, reason: "reports an event of a relative or friend", keep: true,
		yes: []string{"My sister got married last Saturday.", "our dog died in March", "My colleague Wei resigned " +
			"yesterday"}, no: []string{"he died?", "they left"},
	},
	{
		name: "other event", kind: ragctx.FactEvent, heads: "my our he she they",
		re: `(?P<p>(?:(?:my|our) (?:{rel}|parents|family|in-laws|grandparents|kids|children|neighbou?rs?)(?:,? ` +
			`[a-z][a-z'-]+,?)??)) (?P<v>[a-z]+ .+|[a-z]+)`, timed: true,
		attribute: "event", conf: .72, imp: .55, reason: "reports an event of a relative or friend, and when",
		keep: true, check: verbInPast,
		yes: []string{"My brother visited us last weekend."}, no: []string{"my brother visited us", "my brother slept badly last night"},
	},
}
