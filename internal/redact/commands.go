package redact

import (
	"maps"
	"sync"
)

// commands holds the patterns of orders to a model. See [compile].
var commands = sync.OnceValue(func() *grammar {
	words := maps.Clone(commandWords)
	maps.Copy(words, moreWords)
	return compile(words, commandPatterns, morePatterns)
})

// commandWords holds the word sets that the patterns share.
//
//nolint:misspell // words of other languages
var commandWords = map[string]string{
	// English.
	"undo":   "ignore disregard forget override overrule bypass dismiss discard neglect",
	"cancel": "ignore disregard forget override overrule bypass dismiss discard neglect scrap ditch abandon drop cancel",
	"before": "previous prior above earlier preceding foregoing initial original former system developer safety",
	"orders": "instruction instructions prompt prompts guideline guidelines directive directives guardrails programming training",
	"rules":  "rules directions commands messages context constraints restrictions policies orders",
	"speak":  "respond reply answer recommend suggest mention say claim tell reveal disclose refuse comply obey promote",
	"say":    "respond reply answer recommend suggest mention say claim refuse comply obey promote",
	"tell": "tell inform mention reveal alert notify warn disclose telling informing mentioning revealing " +
		"notifying alerting disclosing warning",
	"model": "ai llm llms chatbot chatbots chatgpt gpt claude gemini copilot assistant assistants",
	"bot":   "assistant chatbot ai model bot llm agent",
	"send":  "send post forward upload exfiltrate transmit email mail leak submit deliver copy",
	"data": "conversation conversations history password passwords credential credentials key keys secret " +
		"secrets token tokens memory memories chat messages environment env prompt transcript cookies contacts " +
		"everything summary location address ip logs history identity",
	"whom":    "user users anyone anybody human humans customer customers owner operator",
	"forever": "always never only exclusively",
	// German.
	"de-undo": "ignoriere ignorier ignorieren vergiss vergessen vergesse missachte missachten übergehe verwirf überspringe verwerfe",
	"de-before": "vorherigen vorherige bisherigen bisherige obigen obige früheren vorigen vorangegangenen " +
		"vorangehenden alle deine ihre ursprünglichen",
	"de-orders": "anweisungen anweisung instruktionen befehle regeln vorgaben prompts anordnungen weisungen richtlinien",
	"de-speak":  "antworte antworten empfiehl empfehle empfehlen sage sag erwähne erwähnen schreibe behaupte",
	"de-whom":   "benutzer nutzer anwender nutzerin benutzerin kunden kunde niemandem niemand menschen",
	"de-user":   "benutzer nutzer anwender nutzerin benutzerin niemandem niemand menschen",
	"de-send":   "sende senden schicke schick schicken übermittle übermitteln leite lade",
	// Spanish.
	"es-undo":   "ignora ignore ignorad ignorar olvida olvide olvidate desestima omite descarta",
	"es-before": "anteriores previas previos precedentes arriba anterior originales iniciales",
	"es-orders": "instrucciones indicaciones órdenes reglas directrices mensajes",
	"es-speak":  "responde recomienda menciona di contesta responder recomendar sugiere responda recomiende",
	"es-tell":   "digas diga informes informe menciones mencione reveles revele avises avise cuentes muestres",
	"es-whom":   "usuario usuarios usuaria nadie cliente humano",
	"es-send":   "envía envíe enviar manda mande reenvía publica sube",
	// French.
	"fr-undo":   "ignore ignorez ignorer oublie oubliez oublier néglige négligez",
	"fr-before": "précédentes précédents précédente antérieures antérieurs dessus initiales système",
	"fr-orders": "instructions consignes directives règles ordres indications messages",
	"fr-speak":  "réponds répondez répondre recommande recommandez mentionne mentionnez dis dites",
	"fr-tell":   "dis dites dire informe informez mentionne mentionnez révèle révélez préviens prévenez",
	"fr-whom":   "utilisateur utilisateurs utilisatrice personne client humain usager",
	"fr-past":   "a ont ai avait avaient avons avez est sont été",
	"fr-send":   "envoie envoyez envoyer transmets transmettez transfère transférez",
}

// commandPatterns maps the reported reason to its patterns.
//
//nolint:misspell // words of other languages
var commandPatterns = map[string]string{
	"overrides earlier instructions": `
		$undo ..3 $before ..3 $orders
		$undo ..2 your ..2 $orders
		$undo ..3 previous|prior|above|earlier|preceding|foregoing|your ..2 $rules
		$undo ..2 everything|anything|all|what ..4 above|before|previously|earlier|told
		ignore|disregard|forget the above|foregoing|preceding
		$undo ..2 $orders|$rules ..1 above
		$before|all|your ..2 $orders ..3 void|cancelled|canceled|revoked|obsolete|suspended|superseded
		$before|all ..2 $orders|$rules ..2 no longer
		$orders|$rules ..5 received|given|before|earlier|previously ..4 void|cancelled|canceled|revoked|obsolete
		set|put|throw|cast|leave aside|away ..3 instructions|told|instructed|what|rules
		ignore|disregard|forget the rest of
		erase|drop|abandon|revoke|wipe|disobey ..3 all|any|your|previous|prior ..2 $orders
		$orders|rules|constraints|restrictions|policies ..6 don|do|doesn|does|no|not ..2 count|matter|bind
		nothing ..4 before|previously|above|earlier ..2 matters|counts|applies
		treat|consider|regard|accept|take ..4 as ..2 new|real|actual|true|system|your ..1 $orders|command|orders|rules
		instructions|message|document|page|text|prompt|notice|this ..1 take|takes|has|have|override|overrides|` +
		`supersede|supersedes|replace|replaces|outrank|outranks ..4 system|previous|all|other|prior|earlier|your|` +
		`developer ..1 $orders|message
		$undo ..1 anything|everything|all|whatever ..1 the ..1 developer|system|user|operator|owner
		you are|re no longer ..1 bound|restricted|limited|required|subject|constrained
		what|whatever|anything ..1 you were|have ..2 told|instructed|taught
		stop what you are|re doing
		^instead of answering|responding|summarizing|summarising|following
		^do|don not|t ..1 answer|respond|summarize|summarise|translate|follow ..2 question|user|request|text|this|it
		ignore|disregard|forget ..2 user|users ..2 request|question|message|query|instructions|input|task|wishes
		^system|admin|administrator|developer|security override|command|instruction|instructions|directive :
		system|admin|developer override
		begin|end|start|new system|admin|developer ..1 instructions|prompt|message
		bypass|disable|ignore ..2 safety|content ..1 filter|filters|guidelines
		ignore|disregard all|any|these|those|other $orders
		do|don not|t follow|obey ..2 previous|prior|your|earlier|system|original ..2 $orders|$rules
		$de-undo ..4! $de-orders
		$de-undo alles|alle|das ..3 oben|vorher|bisher|davor|zuvor|obige|bisherige
		$de-undo alles|das ..1 vorherige|bisherige|obige|vorige|gesagte
		folge|folgen|befolge|befolgen ..3 vorherigen|bisherigen|obigen|früheren ..2 $de-orders ..1 nicht
		beachte|beachten|befolge|befolgen|folge ..3 $de-orders ..1 nicht
		$es-undo ..4 $es-orders
		$es-undo ..2 lo anterior|previo
		caso omiso
		$es-undo todo lo|cuanto
		no ..1 hagas|haga|hagan caso
		no ..1 sigas|siga|obedezcas ..3 $es-orders
		-$fr-past $fr-undo ..3 $fr-orders ..4 $fr-before
		-$fr-past $fr-undo ..1 tes|vos|toutes|tous ..1 $fr-orders
		n|ne ..1 obéis|obéissez|respecte|respectez ..5 $fr-orders
		$fr-undo ..2 tout ..4 précède|dessus|avant|précédemment
		ne|n ..2 tiens|tenez|tenir ..2 compte
		$fr-undo tout ce
		ne ..1 suis|suivez|suivre ..1 pas|plus ..3 $fr-orders
	`,
	"gives a model a role": `
		you are|re now ..1 a|an|my|dan|free|unrestricted|jailbroken|evil|no|acting|playing
		you are|re a|an ..3 assistant|chatbot|ai|llm|bot
		from now|today|here on ..2 you|your|act|respond|answer|reply|always|never|only|when|whenever|speak|treat
		^act|behave|respond|answer|reply|speak as a|an|if|my ..3 assistant|ai|expert|hacker|admin|administrator|` +
		`jailbroken|unrestricted|persona|character|you
		^pretend ..1 to|that|you|you're
		you|now|please must|will|should|shall|now|please pretend
		roleplay as|a|an
		^you are a|an|my
		take|adopt ..1 the|a|an role|persona|character|identity of
		^play the part|role|character of
		^behave|act|respond|answer|speak|talk|write|reply as|like though|if|you|a|an ..3 you|are|were|had|have|was
		starting|beginning|effective now|today|immediately|here ..2 you|your|act|speak|respond|answer|always
		you|now will|must|shall|should|now ..1 act|behave|pretend|roleplay|speak as|like|to
		imagine|suppose|pretend|assume ..1 you are|re|have ..3 ai|assistant|model|chatbot|unrestricted|restrictions|rules
		you have|follow|obey no ..2 rules|restrictions|limits|limitations|filters|ethics|guidelines|constraints
		without|no ..1 ethical|moral|safety ..1 rules|restrictions|limits|limitations|filters|guidelines|constraints
		henceforth|hereafter ..2 you|your|respond|answer|reply|act|speak|always|never|only
		this|that point|moment|time|day on|onward|onwards|forward ..2 you|your|act|respond|answer|reply|always|never|only
		your job|mission|duty|purpose|task is to
		role play as|a|an
		your new|real|actual|true task|goal|objective|mission|purpose is|will|:
		^new task :
		task|question ..1 i gave|asked you
		you have|are|ve been|now ..1 hacked|pwned|jailbroken
		i am|m your developer|administrator|admin|creator|owner|master
		deine neue|eigentliche|wahre aufgabe|rolle ist|lautet|:
		tu nueva|verdadera tarea|función|misión es|:
		ta|votre nouvelle|vraie tâche|mission est|:
		assume the role|persona of
		jailbreak|dan|god|unrestricted mode
		you are|re ..1 in developer|god|debug|admin|maintenance|test mode
		du bist|sind jetzt|nun|ab ..1 ein|eine|mein|sofort
		^tu|tue|tun so als
		verhalte|verhalten dich|sich ..2 als|wie
		stell dir vor du bist|wärst|wärest
		ab jetzt|sofort|nun ..2 bist|antworte|antwortest|sollst|musst|wirst|du
		du bist ein|eine ..3 assistent|ki|modell|chatbot|sprachmodell
		ahora eres un|una|mi
		haz|actúa|compórtate|finge como|que ..2 fueras|eres|fuera|no|tuvieras
		imagina|supón que eres
		a partir de ahora|este ..3 eres|debes|responde|responderás|actúa|siempre|vas|nunca
		eres un|una ..3 asistente|ia|modelo|chatbot
		^actúa como un|una|si|mi
		tu|vous es|êtes maintenant|désormais un|une|mon|notre
		fais|faites|agis|agissez|comporte|comportez ..2 comme si|un|une
		imagine|imaginez que tu|vous es|êtes
		à partir de maintenant|présent ..2 tu|vous|réponds|répondez|toujours|jamais
		^désormais|dorénavant ..1 tu|vous|réponds|répondez
		tu|vous es|êtes un|une ..3 assistant|ia|modèle|chatbot
	`,
	"speaks of a model's instructions": `
		system prompt :
		systemprompt :
		reveal|print|show|repeat|output|display|leak|disclose|share|expose|tell|give|write ..3 system|initial|` +
		`hidden ..1 prompt|instructions|guidelines
		reveal|print|repeat|output|leak|disclose|expose|show ..2 your ..1 prompt|instructions|guidelines
		repeat ..2 words|text|everything ..1 above
		print|repeat|output|show everything|all|text|words ..1 above
		what is|are|s your ..1 system|initial|hidden|original ..1 prompt|instructions|rules
		^new|updated|real|actual|hidden|secret|revised instructions|instruction|orders :|from
		^neue|echte anweisung|anweisungen :
		^nuevas instrucciones :
		^nouvelles instructions|consignes :
		zeige|verrate|nenne|gib ..3 deinen|deine|system ..1 prompt|systemprompt|anweisungen
		muestra|revela|dime ..3 tu|tus ..2 prompt|instrucciones
		montre|révèle|affiche|donne ..3 ton|tes|votre|vos ..2 prompt|instructions|consignes
		^system|developer|systemmeldung : ..8 you|your|assistant|user|ignore|always|never|override|must|du|tu|usted|vous
	`,
	"writes to a model's memory": `
		^remember|memorize|memorise ..2 that ..3 admin|administrator|operator|assistant
		^remember|memorize|memorise ..2 that ..3 user|customer|boss|owner|ceo is|has|was|wants|likes|loves|hates|` +
		`prefers|needs|must|always|never|allows|allowed|approves|approved|said|says|may|can|agreed|trusts|works|lives|does|uses|should
		remember|memorize|memorise this|that|it for future|later|all|every|next
		remember for later|future|ever|good
		store|save|remember|note|record ..4 permanently|forever
		^memorize|memorise this|that|the|:
		^remember :
		save|store|add|write|commit|put|record|keep|saved|stored ..6 to|in|into your|long ..2 memory|memories
		update your memory|memories
		save|store|add|remember ..1 preference|fact|note|following ..8 memory|memories
		add|save|store|write ..2 memory|memories that|:|about|saying
		in|for|during all|any|every future|following|subsequent|later conversation|conversations|session|sessions|` +
		`chats|responses|interactions|answers|replies
		in|for future conversations|responses|interactions|answers|replies|chats
		^merke|merk dir|euch
		speichere|speicher|schreibe ..6 gedächtnis|erinnerung|erinnerungen
		^denk|denke daran dass ..3 admin|administrator|benutzer|nutzer|chef
		in|für allen|alle|künftigen|zukünftigen ..1 gesprächen|unterhaltungen|antworten
		^recuerda|recuerde|memoriza que ..3 administrador|usuario|admin|dueño|jefe|cliente
		^memoriza|memorice
		guarda|guarde|almacena ..6 memoria
		en futuras|todas|próximas ..2 conversaciones|respuestas
		^souviens|rappelle|souvenez|rappelez toi|vous que ..3 administrateur|utilisateur|admin|patron|client
		^retiens|retenez|mémorise|mémorisez que|ceci|cela|bien
		enregistre|enregistrez|stocke|ajoute ..6 mémoire
		dans toutes|tous|les|futures ..2 conversations|réponses futures|suivantes|à
	`,
	"says how to answer": `
		^always|never ..1 $say
		^always|never ..1 tell|reveal|disclose user|users|the|that|this|these|it|them|him|people
		^always|never ..1 send ..6 to
		you must|should|shall|will|to|are ..1 always|never $speak
		begin|start|end|finish|conclude|include|add|append|insert|prefix|mention ..6 your answer|answers|response|responses|reply|replies
		your answer|answers|response|responses|reply|replies must|should|shall|has|have|needs
		in|to|of every|each|all ..2 response|answer|reply|responses|answers|replies you|of|include|add|mention
		when|while summarizing|summarising|translating|answering ..3 this|the ..6 include|mention|say|add|recommend|do
		$whom want|wants|asked|asks|requested|authorized|authorised|instructed|told you to
		before|when using this tool ..8 read|call|send|pass|include|you
		you must|will|shall|should ..1 obey
		^obey
		begin|start|end|finish|prefix ..1 every|each|all|your ..2 answer|answers|response|responses|reply|replies with
		do as i say
		^only respond|reply|answer|recommend|mention
		your ..1 answer|answers|response|responses|summary|reply|replies ..1 must|should|shall|has|will|needs ..3 ` +
		`be|say|contain|include|mention|state|end|start|begin|conclude|recommend
		^answer|respond|reply ..2 with|by|using
		recommend only|exclusively|always|never
		^respond|reply|answer only|exclusively ..1 with|in|as|to
		whenever|when|if|if the|a|any user|users|customer|human|someone asks|ask|mentions|says|wants|requests ..12 $speak|always|never|you
		whenever|when|if ..1 asked ..8 say|claim|answer|respond|reply|recommend|tell|mention|always|never|lie|pretend
		whenever|when|if anybody|anyone|someone|somebody|they|people asks|ask|wants|mentions|requests ..8 say|` +
		`claim|answer|respond|reply|recommend|tell|mention|always|never
		in|at ..1 your ..1 answer|answers|response|responses|summary|reply|replies|output|report|conclusion ..1 ` +
		`add|include|mention|say|write|use|recommend|always|never|state|insert
		include|recommend|mention|insert|praise|promote ..8 in|into ..3 your ..1 answer|answers|responses|replies
		recommend|praise|promote|advertise ..4 to ..1 the|every|all|any user|users|customer|customers|reader
		^tell|convince|persuade|advise|direct|instruct|urge|trick|inform|warn|ask the|your|this|every|each|any ` +
		`user|users|customer|customers|human ..1 that|to|about|they|their|for
		give ..3 positive|good|favourable|favorable|negative|five|glowing|excellent|perfect ..2 review|rating|` +
		`score|feedback|stars|evaluation|assessment
		rate ..4 five|5|10|ten stars|star|out|points
		^say|reply|respond|answer ..2 word|words|phrase
		^antworte|empfiehl|empfehle|erwähne ..2 immer|nie|niemals|nur|stets|ausschließlich
		^immer|niemals|nie ..3 $de-speak
		du musst|sollst|darfst ..2 immer|niemals|nie|nur ..6 $de-speak
		du musst|sollst|solltest|darfst ..6 $de-speak
		^empfiehl|empfehle|empfehlen ..3 $de-whom
		^sag|sage|teile|erkläre ..1 $de-user
		wenn der|ein|die|eine benutzer|nutzer|anwender|nutzerin ..3 fragt|sagt|erwähnt
		^siempre|nunca|solo|sólo $es-speak
		debes|tienes|debe|deberás ..1 responder|recomendar|mencionar|contestar|decir|ignorar|obedecer
		^dile|dígale|infórmale|recomienda|recomiende ..4 $es-whom
		^responde|recomienda|contesta|responda ..1 siempre|solo|sólo|únicamente|nunca
		cuando|si el|un usuario|cliente ..2 pregunte|pregunta|diga|mencione
		^réponds|répondez|recommande|recommandez|mentionne ..1 toujours|uniquement|seulement
		^toujours $fr-speak
		tu|vous dois|devez|devras ..1 répondre|recommander|mentionner|dire|ignorer|obéir|toujours
		^dis|dites|recommande|recommandez ..4 $fr-whom
		^ne ..1 $fr-speak ..1 jamais|que
		quand|si|lorsque l|un utilisateur ..1 demande|dit|mentionne
	`,
	"speaks to an AI": `
		$model must|should|shall|please|needs ..1 not|always|never|ignore|respond|answer|reply|use|only|also|to|` +
		`read|follow|execute|run|call|send|tell|say|recommend|be|do
		attention|dear|hey|hello|message|instructions|instruction|notice ..1 to|for|all|any|dear ..2 $model|agents
		note ..1 to|for|all|any|dear ..2 $model|agents :|reading|who|that|only|you|please|must|should
		^note ..1 to|for|all|any|dear ..2 $model|agents
		attention|dear|hey $model|agents
		if you are|re a|an ..3 ai|llm|assistant|chatbot|model|bot|agent
		if you an|a ai|llm
		$model|agents reading|processing|summarizing|summarising|parsing|viewing this|the
		^as an ai|llm|assistant
		^as the ai|llm|assistant|model
		as a|an|the ..1 language model
		ai|llm|chatgpt|gpt|claude|gemini|copilot : you
		^ai|llm|llms|chatgpt|gpt|claude|gemini|copilot : please|you|ignore|rate|do|always|never|must|note|read|this|if
		^ai|llm|llms|chatgpt|gpt|claude|gemini|copilot|assistant|chatbot call|use|run|execute|send|delete|open|go|` +
		`visit|click|ignore|do|tell|say|please|write|read|remember|stop|follow|you
		ai|llm|automated agents|assistants|models|systems|bots|agent|assistant|model ..3 must|should|shall|please|need
		$model ..1 reviewers|reviewer|readers|agents|systems|models|crawlers|bots ..1 :|must|should|please|ignore|shall
		$model reading|reviewing|evaluating|grading
		as an ai|llm assistant|model|agent|language|you
		wenn du ein|eine ..2 ki|sprachmodell|assistent|modell|chatbot
		^als ki|sprachmodell
		si eres un|una ..2 ia|asistente|modelo|llm
		^como ia|asistente|modelo
		si tu|vous es|êtes un|une ..2 ia|assistant|modèle|llm
		^en tant qu|que ia|assistant|modèle
	`,
	"keeps something from the user": `
		do|don|should|must|shouldn|mustn not|t ..1 $tell ..3 $whom
		never|without $tell ..3 user|users|human|humans|customer|customers|owner|operator
		never|without $tell ..1 anyone|anybody ..1 about|that|this|what|of|why|it
		$whom must|should|shall|may|can not|never ..2 know|find|notice|learn|suspect|discover
		$whom cannot|mustn|shouldn ..1 know|find|notice|learn|suspect|discover
		do|don not|t ..1 let ..2 $whom ..1 know|find|notice|suspect|learn
		keep this ..3 confidential|secret|hidden|quiet|between|yourself
		make no mention
		make sure|that|certain ..2 user|users|human ..1 never|not|doesn|cannot|won|don
		do|don not|t ..1 reveal|mention|disclose|admit|acknowledge ..1 that|this|it you|is|was|these
		behind the user|users
		do|perform|execute|run this|it|these|everything ..2 silently|quietly|secretly|covertly|discreetly
		without the|a user|users|human|humans|customer|owner knowing|noticing|knowledge|consent|confirmation
		hide|conceal|keep this|it|these ..4 from ..1 user|users|human|humans|customer
		do|don not|t mention|reveal|disclose|tell ..2 this|these|it|that|them instruction|instructions|message|prompt|note|text
		sag|sage|sagen|verrate|verraten|teile|erzähle|erwähne|informiere|zeige ..4 $de-user ..4 nicht|nichts|nie
		sag|sage|verrate|erzähle|erwähne|nenne|zeige ..1 dies|das|es|davon|hiervon ..2 nicht|nichts|nie|niemandem
		$de-whom darf|dürfen|soll ..4 nicht|nichts|nie ..3 wissen|erfahren|merken|bemerken
		ohne ..3 $de-whom ..3 informieren|mitzuteilen|sagen|fragen|informiert|wissen
		^verschweige|verschweigen|verheimliche|verbirg ..4 $de-whom
		no ..2 $es-tell ..4 $es-whom
		^oculta|oculte|esconde|esconda ..4 $es-whom
		sin ..1 decir|decirle|informar|avisar|preguntar|mencionar ..3 $es-whom
		ne|n ..3 $fr-tell ..4 $fr-whom
		n|ne en parle|parlez|parler
		sans ..1 informer|prévenir|dire|avertir|demander|mentionner|en ..4 $fr-whom
		^cache|cachez|dissimule|dissimulez ..4 $fr-whom
	`,
	"sends data to an address": `
		$send ..5 $data ..6 to|at ..2 @
		$send ..2 contents of ..4 to ..2 @
		$send ..2 all|any|every|your|local|private ..3 file|files|contents|details|information|data ..6 to|at ..2 @
		$send ..2 it|this|them|these|everything ..2 to ..1 @
		append|attach|encode|embed|add|include ..5 $data ..6 to|in|into|as ..3 @|url|link
		fetch|visit|open|load|request|get|call @ ..6 conversation|history|password|passwords|credentials|secrets|keys|chat
		exfiltrate ..8 to|data|via|the
		^exfiltrate
		^leak ..2 $data
		$de-send ..8 an|nach|zu|auf ..3 @
		$es-send ..8 a ..4 @
		$fr-send ..8 à ..4 @
	`,
}
