package timeexpr

var englishTable = table{
	language: english,
	months: "january jan, february feb, march mar, april apr, may, june jun, july jul, august aug, " +
		"september sep sept, october oct, november nov, december dec",
	weekdays: "monday mondays mon, tuesday tuesdays tue tues, wednesday wednesdays wed, thursday thursdays thu thur thurs, " +
		"friday fridays fri, saturday saturdays sat, sunday sundays sun",
	units: "minute minutes min mins, hour hours hr hrs, day days, week weeks wk wks, fortnight fortnights, weekend weekends, " +
		"month months, quarter quarters, year years yr yrs",
	parts:   "morning, noon lunchtime midday, afternoon, evening, night",
	seasons: "spring, summer, autumn fall, winter",
	cardinals: "one a an, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, " +
		"sixteen, seventeen, eighteen, nineteen, twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety, -",
	ordinals: "first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, twelfth, " +
		"thirteenth, fourteenth, fifteenth, sixteenth, seventeenth, eighteenth, nineteenth, twentieth, thirtieth, " +
		"fortieth, fiftieth, sixtieth, seventieth, eightieth, ninetieth, hundredth",
	roles: []words{
		{leadIn, "in during throughout"},
		{leadOn, "on"},
		{lead, "the at of over for within our my from across around through dated very sometime"},
		{between, "between"},
		{from, "from"},
		{and, "and"},
		{to, "to until till til thru through"},
		{since, "since"},
		{after, "after following"},
		{before, "before prior preceding"},
		{until, "until till til"},
		{deadline, "by"},
		{onward, "on onward onwards"},
		{last, "last past previous prior latest preceding recent"},
		{past, "past"},
		{this, "this current ongoing"},
		{ago, "ago back earlier prior"},
		{of, "of in"},
		{earlier, "earlier"},
		{early, "early beginning start"},
		{mid, "mid middle"},
		{late, "late end"},
		{penult, "penultimate"},
		{couple, "couple"},
		{few, "few"},
		{several, "several"},
		{session, "session sessions conversation conversations convo convos chat chats discussion discussions dialogue " +
			"dialogues dialog dialogs"},
		{weakly, "talk talks exchange exchanges meeting meetings call calls"},
		{plural, "sessions conversations convos chats discussions dialogues dialogs talks exchanges meetings calls mondays " +
			"tuesdays wednesdays thursdays fridays saturdays sundays days weeks months quarters years weekends hours"},
		{numero, "number no num nr"},
		{today, "today"},
		{yesterday, "yesterday"},
		{tonight, "tonight"},
		{hundred, "hundred"},
		{coming, "next every each coming upcoming following any most many per black good cyber ash other alternate " +
			"consecutive"},
		{opener, "up next most"},
		{our, "our my"},
		{their, "his her their its s"},
		{occasion, "time"},
		{someDay, "other"},
		{doubtful, "may march mar jan dec sep mon tue wed thu fri sat sun fall"},
		{computing, "id ids token tokens cookie cookies app apps history log logs window windows timeout timeouts key keys " +
			"manager storage store state variable variables object objects bot bots server client file files model models " +
			"data limit limits affinity handling management"},
		{generic, "what whats which when where how why who did do does done have has had was were is are be been am it that " +
			"those these there any anything everything something all else we i you us me your ours they or with about " +
			"t ve re ll d m s as so like up into out over a an the this last both other another"},
		{generic, "discuss discusses discussed discussing talk talks talked talking chat chatted chatting speak speaks spoke " +
			"spoken speaking converse conversed say says said saying tell told mention mentioned mentions cover covered " +
			"covering bring brought come came go went gone going over happen happened happening happens share shared " +
			"exchange exchanged address addressed touch touched explore explored review reviewed raise raised learn learned"},
		{generic, "topic topics subject subjects thing things stuff item items point points issue issues theme themes matter " +
			"matters content contents detail details message messages overview summary recap gist highlights part parts " +
			"information info context main key major general some sort kind kinds type types specific exactly just again " +
			"together briefly mainly mostly only please sometime roughly approximately really actually earlier ever"},
		{generic, "remember recall recollect remind summarize summarise recapitulate list show give get got find look know let " +
			"catch can could would will should may might want wondering please hey hi ok okay thanks yes " +
			"date day days week month year time tell me each other between back go through"},
	},
}
