package facts

import "github.com/ragctx/ragctx"

// things are the things in a project that have names, places and numbers.
const things = `repo|repository|cluster|server|servers|database|db|branch|staging|prod|production|env|environment|` +
	`service|services|api|app|application|project|product|endpoint|bucket|namespace|region|` +
	`gateway|queue|topic|pipeline|ci|build server|registry|dashboard|wiki|docs|documentation|config|configs|` +
	`configuration|logs|secrets|backups?|backend|frontend|front end|website|site|domain|deploy script|` +
	`migrations?|tests|test suite|schema|container|image|vm|host|node|nodes|proxy|load balancer|cache|redis|` +
	`postgres|monitoring|runbooks?|codebase|monorepo|package|library|module|template|templates|tickets|board|` +
	`budget|quota|rate limit|timeout|limit|sla|retention|team|company|office|wifi|router|printer|nas|homelab|` +
	`codename|release branch|default branch|main branch|stack|tech stack|port|url|ip|hostname|timezone|` +
	`warehouse|datacenter|data center|worker|workers|scheduler|vpn|cdn|standup|retro|sprint|meeting room|lab|store|` +
	`shop|contract|invoice|invoices|license|spare key|spare keys|keys|files|scripts|assets|designs|recipes|` +
	`source of truth|bot|model|dataset|data set|index|source code|code|style guide|feature flags?|flag`

var englishProject = []rule{
	{
		name: "port", kind: ragctx.FactIdentity, heads: "the our my *", has: "port listen",
		re: `(?:the |our |my )?(?P<s>[a-z][a-z0-9 _./-]{1,50}?)(?:,? which)?(?: is| are| now| runs?| listens?|` +
			` running| listening| exposed| served| reachable| available| always| still)*(?:(?: on| at| uses?|` +
			` to|'s| is| has) port(?: number)?(?: is)?| listens? on| listening on) (?P<v>\d{2,5})`,
		subject: "{s}", attribute: "port", exclusive: true, conf: .86, imp: .7, reason: "states a port", check: otherThing,
		yes: []string{"Our API listens on port 8443.", "the staging db is on port 5433", "grafana runs on port " +
			"3000 now"}, no: []string{"is it on port 80?", "which service uses port 80"},
	},
	{
		name: "named thing", kind: ragctx.FactIdentity, heads: "the our my",
		re: `(?P<s>(?:the|our|my) [a-z][a-z0-9 _./'-]{1,50}?) (?:is|are|was) (?:now |internally |also |` +
			`officially )*(?:called|named|codenamed|code-named|nicknamed|known as) {rest}`,
		subject: "{s}", attribute: "name", exclusive: true, conf: .88, imp: .72, reason: "says what something is called",
		yes: []string{"Our staging cluster is called heron.", "the project is codenamed Bluebird"},
		no:  []string{"the function is called twice", "The method is called by main"}, check: newName,
	},
	{
		name: "deadline", kind: ragctx.FactPlan, heads: "the our my", tense: future, keep: true,
		re: `(?P<s>(?:the|our|my) (?:[a-z0-9][a-z0-9.'-]* ){0,4}?(?P<a>deadline|due date|submission|launch|release|` +
			`demo|exam|exams|wedding|flight|train|appointment|interview|meeting|standup|retro|review|go-live|` +
			`cutover|conference|presentation|trip|surgery|party|move|kick-?off|code freeze|freeze|birthday|` +
			`anniversary|viva|defen[cs]e|thesis|marathon|race|concert|recital|checkup|check-up|vacation|` +
			`holiday|audit|workshop|closing|sprint|contract|lease|visa|passport|subscription|rent|` +
			`first day|last day|start date|graduation|due|hearing|performance|operation|tournament|` +
			`match|game|essay|report|final|finals|midterm|assignment|proposal|draft|` +
			`application|migration|rollout|offsite|course|class|semester|session|call|` +
			`visit|reunion|festival|exhibition|opening|delivery|inspection|cruise|retreat))` +
			`(?: for [a-z0-9 ]{1,30}?| with [a-z. ]{1,30}?| to [a-z ]{1,30}?)?(?:'s| is| are| was| has been| got|` +
			` will be| begins| starts| ends| expires| takes place| happens| leaves| departs| runs| opens)(?: ` +
			`now| been| currently| only)*(?: on| at| by| in| due| set for| set to| scheduled for| moved to|` +
			` moved| postponed to| pushed(?: back)? to| planned for| every| out| from| until)* {rest}`,
		subject: "{s}", attribute: "{a}", exclusive: true, conf: .85, imp: .7, reason: "states when something is due", check: dated,
		yes: []string{
			"The deadline for the grant is 12 December.", "our launch has been moved to next Tuesday",
			"my flight leaves on Friday at 6", "My dentist appointment is tomorrow",
		},
		no: []string{"the deadline is a joke", "the release is broken", "the meeting was boring"},
	},
	{
		name: "due", kind: ragctx.FactPlan, heads: "*", has: "due be", tense: future, timed: true, keep: true,
		re: `(?P<s>(?:the |our |my )?[a-z][a-z0-9 ._'-]{1,50}?) (?:is|are|has to be|have to be|must be|needs ` +
			`to be|need to be) (?:due|finished|done|delivered|submitted|ready|live|shipped|released|out|` +
			`completed|paid|handed in|signed) ?{rest}`,
		subject: "{s}", attribute: "due", exclusive: true, conf: .8, imp: .7, reason: "states when something is due", check: otherThing,
		yes: []string{"Chapter two is due on 15 January.", "chapter two has to be finished by Friday"},
		no:  []string{"When is the thesis due?", "it is due tomorrow"},
	},
	{
		name: "owned", kind: ragctx.FactIdentity, heads: "the our my",
		re: `(?P<s>(?:the|our|my) [a-z][a-z0-9 _./'-]{1,50}?) (?:is|are) (?:now )?(?:owned|maintained|managed|` +
			`run|led|handled|looked after|administered|reviewed|approved) by {rest}`, subject: "{s}",
		attribute: "owner", exclusive: true,
		conf: .85, imp: .7, reason: "names an owner",
		yes: []string{"The billing service is owned by Team Falcon."}, no: []string{"the function is handled by it"},
	},
	{
		name: "owner", kind: ragctx.FactRelation, heads: "*",
		has: "owns maintains responsible charge handles leads manages takes call owner lead maintainer contact " +
			"head manager pm point looks heads running taking took approves reviews",
		re: `(?P<v>[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,2}?)(?: from (?P<a>[a-z]+)| in (?P<n>[a-z]+))?(?: ` +
			`now| currently| also)* (?:owns|maintains|is responsible for|is in charge of|handles|leads|` +
			`manages|takes care of|is on[ -]call for|is the (?:new )?(?:owner|lead|maintainer|` +
			`contact|head|manager|pm|point of contact) (?:of|for|on)|looks after|heads|` +
			`is leading|is running|takes over|took over|is taking over|approves|reviews|` +
			`is the contact for) (?P<s>.+)`,
		subject: "{s}", attribute: "owner", exclusive: true, conf: .82, imp: .68, reason: "names a responsible person",
		check: properName, value: "{v}",
		yes: []string{"Priya owns the billing service.", "Tom Baker is responsible for the backups"},
		no:  []string{"This handles the error.", "It manages the state", "Go handles concurrency well"},
	},
	{
		name: "place", kind: ragctx.FactIdentity, heads: "the our my", more: false,
		re: `(?P<s>(?:the|our|my) (?:[a-z0-9][a-z0-9_.'-]* ){0,4}?(?:` +
			things + `)) (?:for [a-z ]{1,30}? )?(?:lives?|is|are|sits?|is stored|are stored|is kept|are kept|` +
			`is located|are located|can be found|is hosted|are hosted|runs?|is deployed|are deployed|resides?|` +
			`is mounted|points?|deploys?|goes|go|is reachable|is saved|are saved|is documented|is tracked|` +
			`are tracked)(?: now| always| still| all| only| currently)* (?P<v>(?:in|on|at|under|behind|` +
			`inside|next to|to|from|with) .+)`,
		subject: "{s}", attribute: "place", exclusive: true, conf: .8, imp: .68, reason: "says where something is",
		check: specificOrContainer,
		yes:   []string{"The deploy scripts live in infra/deploy.", "our database runs on a Hetzner box", "the runbooks are in Notion"},
		no:    []string{"the server is on fire", "the code is in the repo?", "the app is in a bad state"},
	},
	{
		name: "property", kind: ragctx.FactIdentity, heads: "the our my",
		re: `(?P<s>(?:the|our|my) (?P<a>(?:[a-z0-9][a-z0-9_.'-]* ){0,3}?(?:` +
			things + `))(?: for [a-z ]{2,30}?| of [a-z ]{2,30}?)?)(?: is| are|'s| was)(?: now| currently|` +
			` always| still| set to| limited to| capped at| written in| built (?:with|on|in)| based on| made of)* {rest}`,
		subject: "{s}", attribute: "value", exclusive: true, conf: .78, imp: .66, reason: "states a property", check: specific,
		yes: []string{"The default branch is trunk/main.", "our budget is 40k euros", "Our backend is written in " +
			"Elixir", "the rate limit is 200 requests per minute"},
		no: []string{"the server is down", "The build is broken again", "the app is slow", "The API is nice"},
	},
	{
		name: "our", kind: ragctx.FactIdentity, heads: "our the my",
		re: `(?P<s>(?:our (?P<a>[a-z][a-z0-9 '-]{1,40}?)|(?:the|my) (?:[a-z0-9'-]+ ){0,4}?(?:name|prefix|` +
			`format|id|number|address|link|email|contact|contact person|owner|path|ssid|currency|rate|price|` +
			`size|opening hours|hours|headquarters|supplier|vendor|client|customer|provider|host|domain|` +
			`license|theme|font|palette|slogan|hashtag|extension|convention|plumber|babysitter|vet|` +
			`dentist|landlord|caretaker|accountant)))` +
			`(?: is| are)(?: now| always| currently| still)* {rest}`,
		subject: "{s}", attribute: "value", exclusive: true, conf: .72, imp: .64,
		reason: "states what something of theirs is", check: named,
		yes: []string{"The ticket prefix is OPS-.", "our CFO is Martina Rossi", "the client's name is Hartmann " +
			"GmbH"}, no: []string{"our code is broken", "the answer is 42", "our approach is good"},
	},
	{
		name: "rule", kind: ragctx.FactDecision, heads: "*", has: "always never must",
		re: `(?P<s>(?:our |the |all |all our )?[a-z][a-z0-9 '-]{1,40}?) (?:(?:is|are|gets?|go|goes) (?:always|` +
			`never)|must (?:always |never |not )?(?:be|use)|(?:should|needs? to|ha(?:s|ve) to) (?:always|never)) {rest}`,
		attribute: "rule", conf: .68, imp: .7, reason: "states a rule", check: actionNotState, keep: true,
		yes: []string{"In this codebase, errors are always wrapped with fmt.Errorf.", "commit subjects must be in " +
			"lower case"}, no: []string{"it is always the same", "You must be joking", "this must be wrong", "he must be tired"},
	},
	{
		name: "all our", kind: ragctx.FactIdentity, heads: "all our both every",
		re: `(?P<s>(?:(?:all|both|most|every one)(?: of)? )?(?:our|my) [a-z][a-z0-9 '-]{1,30}?) (?:log|logs|` +
			`run|runs|report|reports|write|writes|use|uses|go|goes|ship|ships|deploy|deploys|live|lives|speak|` +
			`belong|require|requires|follow|follows|work|works|sync|syncs|meet|meets|sell|sells|charge|` +
			`charges|pay|pays)(?: to| on| in| with| for| at| from)* {rest}`,
		subject: "{s}", attribute: "practice", conf: .7, imp: .62, reason: "states what is usual with them",
		check: not(`(?:fail|is\b|are\b|it\b|this|that|fine|well|again)`), keep: true,
		yes: []string{
			"All our services log to Loki.", "Our style guide requires double quotes",
			"both my kids go to the Montessori school",
		}, no: []string{"all our tests fail", "our app works"},
	},
	{
		name: "not used", kind: ragctx.FactDecision, heads: "i we i'm im we're",
		re: `(?:(?:i|we) {dont} (?:use|deploy|allow|support|do|ship|sell|accept|offer|schedule|hire|test|write|` +
			`work|drink|watch)|(?:{im}|{were}) (?:not|no longer) (?:using|deploying|supporting|selling|accepting|hiring)) {rest}`,
		attribute: "practice", value: "not {v}", conf: .7, imp: .68, reason: "says what they do not do",
		check: all(longEnough, not(`(?:it|this|that|them|these|those|here|there|any of)\b`)),
		yes: []string{
			"We don't use ORMs in this project.", "I'm not using Jenkins anymore",
			"we don't deploy on Fridays",
		}, no: []string{"I don't use it", "we don't do that", "I don't work here"},
	},
	{
		name: "has", kind: ragctx.FactIdentity, heads: "the our my we",
		re: `(?P<s>(?:the|our|my) (?:[a-z0-9][a-z0-9_.'-]* ){0,3}?(?:` +
			things + `)|we) (?:has|have|uses?|runs?|supports?|serves?|needs?|requires?|contains?|employs?|` +
			`costs?|consists? of|expires?|allows?|holds?|deploys?|ships?) {rest}`,
		subject: "{s}", attribute: "has", conf: .74, imp: .62, reason: "states a property", check: specificAfterVerb,
		yes: []string{
			"Our cluster has 12 nodes.", "the backend uses Postgres 16", "we have 40 employees",
			"We use Terraform for infrastructure",
		},
		no: []string{"we have a problem", "the app has 3 bugs?", "we have to go", "the server needs a restart", "we have 3 days left"},
	},
	{
		name: "version", kind: ragctx.FactIdentity, heads: "we i we're i'm im the our my",
		re: `(?:(?P<s>(?:the|our|my) [a-z][a-z0-9 _./'-]{1,40}?) (?:is|are|runs|uses)|(?:we|i) (?:are|am|run|` +
			`use|stay|stayed)|we're|i'?m)(?: still| currently| now| stuck| running| using| pinned| on| to| at|` +
			` with)* (?P<v>(?:version )?(?:[a-z][a-z+#.-]* )?v?\d+(?:\.\d+)+\b.*|(?:version )?(?:python|` +
			`java|node|go|postgres|postgresql|ubuntu|debian|kubernetes|rails|django|react|angular|vue|` +
			`php|ruby|swift|kotlin|ios|android|windows|fedora|macos|spring boot|laravel|mysql|` +
			`redis|rust|php|dotnet|\.net) \d+(?:\.\d+)*\b.*)`,
		attribute: "version", conf: .8, imp: .65, reason: "states a version",
		yes: []string{"We're on Python 3.12.", "i'm still on Windows 10"}, no: []string{"is it 3.12?", "I am 1.80 tall"},
	},
	{
		name: "we use", kind: ragctx.FactIdentity, heads: "we our my i the at",
		re: `(?:we|our team|the team|our company|my team|my company|at work we|at home we) {adv}(?:uses?|runs?|` +
			`deploys?|hosts?|stores?|writes?|builds?|ships?|releases?|keeps?|manages?|tracks?|call|are using|` +
			`is using|follows?|works? in|works? with|meets?|tests?|develops?|sells?|makes?|produces?|` +
			`communicates?|bills?|pays?|communicate via)(?: to| on| with| in| via)?(?: everything| all|` +
			` our [a-z ]{2,25}?)? {rest}`,
		attribute: "practice", conf: .76, imp: .65, reason: "says what they use or do together", check: specificAfterVerb,
		yes: []string{"my team tests on Firefox", "at work we deploy to Fly.io", "we host on Hetzner"},
		no:  []string{"we use it", "we call the function", "We use the same approach"},
	},
}

var englishDecisions = []rule{
	{
		name: "decided", kind: ragctx.FactDecision, heads: "i we i've we've ive the my our after it's its it", keep: true,
		re: `(?:(?:i|we|i'?ve|i have|we'?ve|we have|the team|our team|my (?:wife|husband|partner|team|boss|` +
			`manager|family) and i|my (?:boss|manager|wife|husband)|our (?:cto|ceo|boss|manager|board|client)) ` +
			`{adv}(?:decided|agreed|opted|settled|concluded|resolved|chosen|committed|voted|made up (?:my|our) ` +
			`mind|made the decision|made a decision|have decided)(?:,? (?:to|on|that|for|against|not to|` +
			`upon|between us|internally|yesterday))*|it'?s (?:been )?(?:decided|settled|` +
			`official)[:,]?(?: that)?|it was (?:decided|agreed)(?: that| to)?)[,:]? {rest}`,
		attribute: "decision", conf: .88, imp: .8, reason: `says it is decided`, check: settled,
		yes: []string{
			"We decided to drop support for IE11.", "i've decided not to renew the lease",
			"We agreed on weekly releases", "The team settled on Svelte", "It's settled: we ship on Thursday",
		},
		no: []string{"I haven't decided on a name.", "have we decided to go?", "If we decided to wait we would " +
			"lose", "I decided to ask you"},
	},
	{
		name: "decision", kind: ragctx.FactDecision, heads: "the final our my decision verdict conclusion", keep: true,
		re: `(?:the |our |my )?(?:final )?(?:decision|verdict|conclusion)(?:(?: is| was|:| -)(?: to| that)?|` +
			`(?: to [a-z ]+)? is) {rest}`, attribute: "decision",
		conf: .84, imp: .8, reason: "states a decision",
		yes: []string{"Decision: we keep the monolith.", "final decision is to hire Elena"},
		no:  []string{"the decision is hard", "What was the decision?"}, check: longEnough,
	},
	{
		name: "switched", kind: ragctx.FactDecision, heads: "i we i've we've the our my ive",
		re: `(?:i|we|i'?ve|i have|we'?ve|we have|the team|our team|our company|my (?:team|company)) ` +
			`{adv}(?:switched|migrated|moved|converted|upgraded|changed|transitioned|ported|downgraded|swapped|` +
			`rewrote)(?: everything| over| our [a-z ]{2,30}?| my [a-z ]{2,30}?| the [a-z ]{2,30}?| all [a-z ` +
			`]{2,30}?)?(?: away)?(?: from (?P<o>[^,]{2,60}?))? (?:to|over to|onto|in|for) {rest}`,
		attribute: "switch", conf: .84, imp: .78, reason: "says what they changed to", check: switched,
		yes: []string{"We switched from Jenkins to GitHub Actions.", "i switched to decaf", "we've migrated our " +
			"billing to Stripe"}, no: []string{"I switched to the other tab", "we moved on to the next topic", "I changed it to 5"},
	},
	{
		name: "dropped", kind: ragctx.FactDecision, heads: "i we i've we've we're the",
		re: `(?:(?:i|we|i'?ve|we'?ve|we have|the team) {adv}(?:dropped|abandoned|deprecated|ditched|cancell?ed|` +
			`gave up on|retired|discontinued|postponed|replaced|scrapped|rejected|ruled out|turned down)|` +
			`we(?:'re| are) (?:dropping|abandoning|deprecating|ditching|retiring|replacing|sunsetting|postponing)) {rest}`,
		attribute: "decision", conf: .76, imp: .74, reason: "says what they gave up", keep: true, check: longEnough,
		yes: []string{"We dropped the mobile app.", "I cancelled my gym membership", "We're replacing Redis with " +
			"Valkey"}, no: []string{"I dropped it", "we replaced it"},
	},
	{
		name: "go with", kind: ragctx.FactDecision, heads: "let's lets i'll we'll we're i'm im i we",
		re: `(?:(?:ok |so |then )*(?:let'?s|i'll|we'll|i will|we will|i'm|im|i am|we're|we are) (?:just |` +
			`definitely |gonna |going to |probably )*(?:go|going|stick|sticking|stay|staying|settle|settling)|` +
			`(?:i|we) (?:went|stuck)) with {rest}`,
		attribute: "decision", conf: .76, imp: .75, reason: `says "go with"`, check: settled,
		yes: []string{
			"Let's go with Postgres for the catalog.", "We'll stick with two-week sprints",
			"we went with the blue tiles",
		}, no: []string{"Let's go with option 2.", "let's go with that", "I'll go with the first one"},
	},
	{
		name: "chose", kind: ragctx.FactDecision, heads: "i we i've we've",
		re: `(?:i|we|i'?ve|we'?ve|we have|i have) {adv}(?:chose|picked|selected|hired|signed with|chosen|` +
			`booked|standardi[sz]ed on|adopted|approved) {rest}`, attribute: "decision", conf: .76, imp: .72,
		reason: "says what they chose", check: longEnough, keep: true,
		yes: []string{"We chose Hetzner over AWS because of cost.", "I picked the green paint for the kitchen"},
		no:  []string{"I chose it", "I picked option B"},
	},
	{
		name: "will use", kind: ragctx.FactDecision, heads: "we we'll we're i'll i'm the our let's", keep: true,
		re: `(?:we'll|we will|we're (?:not )?(?:going to|gonna)|we are (?:not )?(?:going to|gonna)|we won'?t|` +
			`let'?s) (?P<v>(?:not )?(?:use|adopt|keep|stay|standardi[sz]e|host|deploy|ship|support|drop|switch|` +
			`migrate|replace|store|rename|hire|call|pay|skip|postpone|launch|release|open|close|build|move) .+)`,
		attribute: "decision", conf: .72, imp: .74, reason: "says what they will do together", check: settled,
		yes: []string{
			"We'll use OpenTelemetry for tracing.", "we're not going to support Windows",
			"We won't hire before June",
		}, no: []string{
			"let's move on to the next question",
			"we'll build it step by step, ok?", "let's use it",
		},
	},
}
