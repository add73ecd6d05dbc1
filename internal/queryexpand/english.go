package queryexpand

// english holds the function words of English. It includes some that grammars do not: words that
// ask for a degree (long, often), and verbs of little meaning (work, happen).
var english = language{
	function: `a an the this that these those it its itself they them their theirs themselves he him his she her hers
	i me my mine we us our ours you your yours myself yourself one ones who whom whose which what when where why how
	am is are was were be been being do does did done doing have has had having will would shall should can could may might must
	ain isn aren wasn weren don doesn didn haven hasn hadn won wouldn shouldn couldn cannot t s ll re ve d m
	and or but nor so if then else than as because since until while although though unless whether
	of in on at by for with about against between into through during before after above below to from up down out off over
	under again further once here there all any both each few more most other others another some such no not only own same
	too very just also ever never always still yet even already now today maybe perhaps else instead otherwise anyway
	anything something nothing everything anyone someone anybody somebody everybody everyone thing things stuff
	long often much many far big large small soon fast slow exactly actually really please again ok okay yes no yeah hey hi
	thanks thank sure well right fine good great nice hm hmm oh ah
	get gets got make makes made use uses used using go goes going went come comes want wants need needs see find let lets
	put take give tell show say says said look looks think like likes know knows mean means meant work works worked
	happen happens happened try tried talk keep able possible way kind sort lot bit per via etc`,
	refers:  `it they them theirs he him she hers mine ours`,
	owners:  `its their his her`,
	points:  `this that these those one ones same another other others her`,
	places:  `there`,
	being:   `is are was were be been s isn aren`,
	joins:   `so sure know say says said mean means think such now all everything anything nothing those one ones`,
	openers: `and but or so then also otherwise plus nor`,
	tails:   `too again then instead either though`,
	links:   `also afterwards meanwhile otherwise besides`,
	breaks:  `and or but because if when while after before so then since until although though once unless whereas`,
	fillers: `ok okay yes no yeah yep nope hey hi thanks thank you nice great cool good fine right well hm hmm oh ah sure got it perfect`,
	phrases: []string{
		"what about", "how about", "what else", "who else", "where else", "how else", "anything else", "how come", "what if",
		"why not", "which one",
	},
	turns: []string{
		"new topic", "different topic", "another topic", "new question", "different question", "another question",
		"unrelated", "by the way", "something else entirely", "something completely different", "changing the subject", "change of topic",
	},
	asking: `how what which who whom whose where when why can could may do does did is are am was were have has should would will shall
	write draft list describe summarize summarise explain show give tell make create implement produce turn put prepare compile
	find build help add translate compare check calculate compute suggest recommend outline sketch generate convert rewrite provide`,
	manners: `please pls kindly just now anyway hello first second`,
	requests: []string{
		"how do", "how does", "how can", "how to", "how would", "how should", "how much", "how many", "how long", "how often",
		"what is", "what are", "what does", "what do", "what kind", "what the", "wonder", "whether", "which", "is there", "are there",
		"can i", "could i", "do i", "should i", "want to know",
		"like to know", "need to know", "i need", "we need", "looking for", "to find", "tell me", "show me", "give me", "explain to",
		"you write", "you draft", "you list", "you explain", "you describe", "you find",
	},
}
