//nolint:misspell // the words are German
package facts

import (
	"strings"

	"github.com/ragctx/ragctx"
)

// german is the rule table of German. Its patterns are folded: ä is a, ß is s.
var german = language{
	code: "de", user: "Der Nutzer", says: "Der Nutzer sagt: ", quotes: [2]string{"„", "“"},
	rules: []rule{
		{
			name: "immer", kind: ragctx.FactInstruction, heads: "immer nie niemals du bitte antworte", standing: true,
			keep: true, attribute: "instruction",
			re: `(?:immer|nie|niemals|du sollst (?:immer|nie|niemals)|antworte(?: mir)? (?:immer|nie|niemals|` +
				`stets)) {rest}`, conf: .84, imp: .9, reason: `says "immer" or "nie"`,
			check: not(`wieder|mehr$|noch nicht|gut|schon|das gleiche|besser|schlechter|passiert|gehort|gesehen|wenn ich das`),
			yes: []string{
				"Bitte immer auf Deutsch antworten.", "Niemals meinen Nachnamen verwenden!",
				"Antworte immer in ganzen Sätzen",
			}, no: []string{"Nie wieder!", "immer besser"},
		},
		{
			name: "dass du", kind: ragctx.FactInstruction, heads: "ich",
			re: `ich (?:mochte|will|wunsche mir|hatte gern|wurde mir wunschen|bevorzuge),? (?:gern )?(?:dass|` +
				`wenn) du {rest}`, attribute: "instruction", keep: true, standing: true, conf: .78, imp: .85,
			reason: "says what the assistant is to do", yes: []string{"Ich möchte, dass du mich duzt."}, no: []string{"ich möchte das"},
		},
		{
			name: "ab jetzt", kind: ragctx.FactInstruction, heads: "ab von in kunftig zukunftig jedes wenn", standing: true,
			keep: true, attribute: "instruction",
			re: `(?:ab (?:jetzt|sofort|heute|nun)|von (?:nun|jetzt) an|in zukunft|kunftig|zukunftig|jedes mal,? ` +
				`wenn ich [^,]{3,60},|wenn ich (?:dich |nach |etwas |code )[^,]{3,60}, (?:dann )?(?:immer|nie|` +
				`bitte|antworte|zeig|gib|nenn|nutz|verwende)),? {rest}`,
			conf: .88, imp: .9, reason: `says "ab jetzt"`, check: not(`(?:wird|werden|gibt|ist|geht)\b`),
			yes: []string{
				"Ab jetzt bitte nur noch metrische Einheiten.", "von nun an duzen wir uns",
				"In Zukunft keine Emojis mehr", "ab sofort antworte bitte kürzer",
			}, no: []string{"in Zukunft wird alles teurer"},
		},
		{
			name: "künftig", kind: ragctx.FactInstruction, heads: "*", has: "ab kunftig zukunftig zukunft nun immer nie",
			standing: true, keep: true, attribute: "instruction",
			re: `(?P<v>(?:kannst|konntest|wurdest|magst) du(?: mir| mich| uns| dir| bitte)* (?:{ab}|immer|nie(?:mals)?) .+|` +
				`(?:antworte|sprich|rede|schreibe?|nenne?|verwende|nutze?|benutze|zeige?|gib|erklare?|halte?|lass|formuliere?|` +
				`ubersetze?|rechne|fasse?|mache?|bitte)(?: mir| mich| uns| dich| bitte| [^, ]+){0,3}? {ab} .+)`,
			conf: .86, imp: .9, reason: `says "künftig"`,
			yes: []string{
				"Antworte mir bitte künftig nur auf Englisch.", "Könntest du in Zukunft die Quellen nennen?",
				"Kannst du bitte immer metrische Einheiten verwenden?", "Schreib ab sofort kürzere Mails",
			}, no: []string{"Ich antworte künftig später", "Kannst du das in der Mail ändern?", "Arbeite ab jetzt bei Siemens"},
		},
		{
			name: "antworte", kind: ragctx.FactInstruction,
			heads: "antworte sprich schreib schreibe nenn nenne verwende nutze benutze keine duze sieze du " +
				"erklar halte", keep: true, attribute: "answers",
			re: `(?:(?:antworte|sprich|schreib|schreibe)(?: mir| mit mir)?(?: bitte)? (?:nur |immer )*(?:auf|in)|` +
				`nenne? mich|(?:verwende|nutze|benutze)(?: bitte)?(?: nur| immer| keine)?|keine|duze|sieze|` +
				`du kannst mich|halte (?:deine )?antworten) (?P<v>(?:deutsch|englisch|franzosisch|spanisch|` +
				`emojis?|metrisch|celsius|stichpunkt|einfach|kurz|knapp|ganzen|tabs|leerzeichen|mich|duzen|` +
				`siezen|anglizismen|ausrufezeichen|fachbegriffe|floskeln|aufzahlungen|[a-z]+ nennen|[a-z]+$).*)`,
			conf: .74, imp: .85, reason: "says how to answer", check: not(`(?:ahnung|zeit|lust|sorge|frage|angst|problem|panik|idee)`),
			yes: []string{
				"Bitte keine Emojis.", "Antworte bitte auf Englisch.", "nenn mich Käpten",
				"du kannst mich duzen",
			}, no: []string{"keine Ahnung", "keine Zeit", "Kannst du auf Englisch antworten?"},
		},
		{
			name: "name", kind: ragctx.FactIdentity, heads: "ich mein",
			re:        `(?:ich heis+e|mein (?:voller |vor)?name ist|mein nachname ist) (?P<v>[^,;:.]{1,50})`,
			attribute: "name", exclusive: true, profile: true,
			content: "Der Nutzer heißt {v}", conf: .92, imp: .85, reason: "states a name", check: nameLike,
			yes: []string{"Ich heiße Jürgen.", "mein Name ist Petra Lang"}, no: []string{"Wie heiße ich?", "mein Name ist nicht wichtig"},
		},
		{
			name: "alter", kind: ragctx.FactIdentity, heads: "ich bin",
			re: `(?:ich bin|bin ich|bin) (?:jetzt |gerade |inzwischen |mittlerweile )?(?P<v>\d{1,3})(?: ` +
				`jahre?(?: alt)?| geworden|$|,| und)`, attribute: "age", exclusive: true, profile: true, conf: .86, imp: .8,
			reason: "states an age", yes: []string{"Ich bin 34 Jahre alt.", "ich bin 27 und Studentin"},
			no: []string{"Bin ich 30?", "ich bin 5 Minuten zu spät"},
		},
		{
			name: "wohnort", kind: ragctx.FactIdentity, heads: "ich wohne lebe wir wohnen leben bin",
			re: `(?:ich|wir)? ?(?:wohne|lebe|wohnen|leben)(?: ich| wir)?(?: jetzt| aktuell| derzeit| seit ` +
				`[a-z0-9 ]{2,20}?| momentan| inzwischen)* (?P<v>(?:in|bei|auf|am|im|an|nahe|unweit) .+)`,
			attribute: "home", exclusive: true, profile: true, conf: .88, imp: .85, reason: "says where they live",
			check: not(`(?:in|im) (?:angst|frieden|einer welt|der vergangenheit|moment|einer gesellschaft)`),
			yes: []string{"Ich wohne in Köln.", "wir leben seit drei Jahren in Graz", "Seit 2019 wohne ich in " +
				"Bern."}, no: []string{"Wenn ich in Köln wohnen würde, wäre ich froh.", "Wohne ich in Köln?", "Ich lebe in Angst"},
		},
		{
			name: "umzug", kind: ragctx.FactIdentity, heads: "ich wir bin sind",
			re: `(?:(?:ich|wir) (?:bin|sind)|(?:bin|sind) (?:ich|wir)) (?:gerade |jetzt |vor kurzem |kurzlich |` +
				`letzte[ns]? [a-z]+ |im [a-z]+ |vor [a-z]+ [a-z]+ )*(?:von (?P<o>[a-z ]{2,30}?) )?nach ` +
				`(?P<v>[^,]{2,40}?) (?:gezogen|umgezogen)`,
			attribute: "home", exclusive: true, profile: true, content: "Der Nutzer ist nach {v} gezogen", conf: .88,
			imp: .85, reason: "says where they moved",
			yes: []string{"Wir sind letzten Monat nach Leipzig gezogen.", "ich bin von Berlin nach Wien umgezogen"},
			no:  []string{"ich bin nach Hause gegangen"},
		},
		{
			name: "nicht mehr", kind: ragctx.FactIdentity, heads: "ich wir",
			re: `(?:ich|wir) (?P<a>wohne|lebe|arbeite|wohnen|arbeiten|leben) nicht mehr (?P<v>(?:in|bei|im|am|` +
				`als|auf) .+)`, attribute: "home or work", value: "not {v}", profile: true, conf: .86, imp: .8,
			reason: `says "nicht mehr"`, yes: []string{"Ich wohne nicht mehr in Berlin.", "ich arbeite nicht mehr " +
				"bei Bosch"}, no: []string{"das geht nicht mehr"},
		},
		{
			name: "herkunft", kind: ragctx.FactIdentity, heads: "ich komme",
			re: `ich (?:komme|stamme)(?: ursprunglich| eigentlich)? aus {rest}`, attribute: "origin",
			profile: true, conf: .84, imp: .8, reason: "says where they are from",
			yes: []string{"Ich komme ursprünglich aus Polen."}, no: []string{"ich komme aus dem Staunen nicht raus"},
			check: not(`dem staunen|dem lachen|der ubung`),
		},
		{
			name: "arbeit", kind: ragctx.FactIdentity, heads: "ich arbeite",
			re: `(?:ich arbeite|arbeite ich)(?: jetzt| derzeit| aktuell| seit [a-z0-9 ]{2,20}?| momentan|` +
				` hauptberuflich| nebenbei)* (?P<v>(?:als|bei|fur|in der|im|beim|an der) .+|(?:in teilzeit|` +
				`in vollzeit|von zu ?hause|remote|freiberuflich|im homeoffice)\b.*)`, attribute: "work",
			profile: true, conf: .86, imp: .8,
			reason: "says what they work", yes: []string{"Ich arbeite als Krankenpfleger.", "ich arbeite seit 2018 " +
				"bei der Stadt München"}, no: []string{"ich arbeite im Moment daran", "er arbeitet als Koch"},
			check: not(`im (?:moment|garten)`),
		},
		{
			name: "beruf", kind: ragctx.FactIdentity, heads: "ich bin",
			re: `(?:ich bin|bin ich)(?: von beruf| gelernte[rn]?| ein| eine| selbststandige[rn]?|` +
				` freiberufliche[rn]?| angehende[rn]?| studierte[rn]?)* (?P<v>(?:[a-z-]*(?:lehrer|lehrerin|` +
				`allergiker|allergikerin|arzt|arztin|ingenieur|entwickler|berater|student|pfleger|` +
				`verkaufer|kaufmann|kauffrau|leiter|fahrer|koch|anwalt|mechaniker|schreiner|backer|frisor|architekt|` +
				`journalist|designer|informatiker|techniker|handwerker|forscher|wissenschaftler|chemiker|physiker|` +
				`biologe|biologin|psycholog|therapeut|erzieher|gartner|elektriker|maler|musiker|kunstler|autor|` +
				`redakteur|rentner|azubi|lehrling|grafiker|ubersetzer|polizist|hebamme|vegetarier|veganer|` +
				`linkshander|diabetiker|mutter|vater|beamter|beamtin|schuler|apotheker|makler|trainer|` +
				`coach|winzer|imker|landwirt|tierarzt|tierarztin|krankenschwester)(?:in)?)\b.*)`,
			attribute: "profession", profile: true, conf: .85, imp: .8, reason: "says what they are",
			yes: []string{"Ich bin Lehrerin in Bremen.", "ich bin gelernter Schreiner", "Ich bin Vegetarier."},
			no:  []string{"ich bin müde", "Bin ich Vegetarier?"},
		},
		{
			name: "allergie", kind: ragctx.FactIdentity, heads: "ich bin habe",
			re: `(?:(?:ich bin|bin) (?:stark |sehr |leicht )?allergisch (?:gegen|auf)|ich (?:vertrage|esse|` +
				`trinke)(?P<o> keine?[nm]?| nie)|ich habe (?:eine |ein |einen )?(?P<a>[a-z]*(?:allergie|` +
				`intoleranz|unvertraglichkeit|zoliakie|asthma|diabetes|migrane|heuschnupfen|adhs))|ich bin ` +
				`(?:(?P<n>vegan|vegetarisch|laktoseintolerant|linkshandig|farbenblind|schwanger|` +
				`verheiratet|geschieden|ledig|verlobt|rechtshandig|alleinerziehend))) ?(?P<v>.*)`,
			attribute: "health", profile: true, conf: .88, imp: .9, reason: "states what they do not bear or are",
			value: "{o} {a} {n} {v}", keep: true,
			yes: []string{
				"Ich bin allergisch gegen Erdnüsse.", "ich esse kein Fleisch",
				"Ich habe eine Laktoseintoleranz.", "ich bin verheiratet",
			}, no: []string{"ich habe eine Frage", "ich habe keine Zeit"},
		},
		{
			name: "sprache", kind: ragctx.FactIdentity, heads: "ich meine",
			re: `(?:ich (?:spreche|lerne)|meine muttersprache ist)(?: fliesend| gerade| auch| ein bisschen|` +
				` etwas)* (?P<v>.*(?:deutsch|englisch|franzosisch|spanisch|italienisch|polnisch|russisch|` +
				`turkisch|arabisch|japanisch|chinesisch|portugiesisch|niederlandisch|tschechisch|ungarisch|` +
				`schwedisch|koreanisch|griechisch|kroatisch|ukrainisch).*)`,
			attribute: "languages", profile: true, conf: .85, imp: .75, reason: "says which languages they speak",
			yes: []string{"Ich spreche Polnisch und Englisch.", "ich lerne gerade Japanisch"}, no: []string{"Sprichst du Polnisch?"},
		},
		{
			name: "angehörige", kind: ragctx.FactRelation, heads: "mein meine unser unsere",
			re: `(?P<p>(?:mein|meine|unser|unsere) (?P<a>(?:altere[rs]? |jungere[rs]? |kleine[rs]? |grose[rs]? ` +
				`|beste[rs]? |neue[rs]? )?(?:frau|mann|sohn|tochter|bruder|schwester|mutter|vater|mama|papa|` +
				`oma|opa|freundin|freund|chef|chefin|kollege|kollegin|hund|katze|kater|partnerin|partner|` +
				`nachbar|nachbarin|onkel|tante|cousin|cousine|eltern|kinder|schwiegermutter|arzt|` +
				`hausarztin|hausarzt|teamleiter|teamleiterin|vermieter)))` +
				`(?:(?:,)? (?P<n>[a-z][a-z-]+))?? (?P<v>(?:heis+t|heis+en|wohnt|wohnen|lebt|leben|arbeitet|ist ` +
				`(?:(?:seit [a-z0-9 ]+ )?(?:\d+|allergisch|arzt|arztin|lehrer|lehrerin|vegetarier\w*|vegan|` +
				`schwanger|in rente|rentner|krankenschwester|ingenieur\w*|von beruf|gestorben|` +
				`verstorben)$)|hat|kommt|studiert|mag|liebt|hasst|spielt|spricht|wird|zieht|heiratet|besucht) .+)`,
			attribute: "{a}", value: "{n} {v}", profile: true, conf: .84, imp: .7,
			reason: "describes a relative or friend", keep: true, check: not(`hat (?:recht|gesagt|keine|gefragt|mich)`),
			yes: []string{
				"Meine Schwester heißt Anna.", "mein Bruder wohnt in Oslo", "Unser Hund heißt Balu.",
				"Meine Frau Sabine arbeitet als Ärztin",
			}, no: []string{"mein Chef ist sauer", "Mein Bruder hat recht"},
		},
		{
			name: "kinder", kind: ragctx.FactRelation, heads: "ich wir habe haben",
			re: `(?:ich habe|wir haben|habe ich|haben wir) (?P<v>(?:einen?|eine|zwei|drei|vier|keine) ` +
				`(?:[a-z]+e[nrs]? )?(?:kinder|kind|sohne?|tochter|bruder|schwester|geschwister|hunde?|katzen?|` +
				`kater|hamster|enkel|enkelkinder|pferde?|zwillinge|hasen|vogel|wellensittiche?)\b.*)`,
			attribute: "family", profile: true, conf: .85, imp: .75, reason: "describes the family",
			yes: []string{"Ich habe zwei Kinder.", "wir haben einen alten Hund"}, no: []string{"ich habe zwei Fragen"},
		},
		{
			name: "liebling", kind: ragctx.FactPreference, heads: "mein meine",
			re: `meine?n?s? (?P<a>lieblings-?[a-z]+|liebste[rsn]? [a-z]+) (?:ist|sind)(?: jetzt| immer noch|` +
				` eindeutig| nun| inzwischen)* {rest}`, attribute: "{a}", exclusive: true, profile: true, conf: .9, imp: .72,
			reason: "says what their favourite is",
			yes:    []string{"Mein Lieblingseditor ist jetzt Helix.", "meine Lieblingsfarbe ist Grün"},
			no:     []string{"Was ist mein Lieblingsessen?"},
		},
		{
			name: "mögen", kind: ragctx.FactPreference, heads: "ich am lieber wir",
			re: `(?:ich (?:mag|liebe|bevorzuge|hasse|bin (?:ein )?(?:groser )?fan von|stehe auf|bin kein fan ` +
				`von|kann [a-z]+ nicht ausstehen|geniese|ziehe)|ich (?:trinke|esse|hore|lese|arbeite|fahre|` +
				`spiele|nutze|benutze|verwende|reise|schaue|programmiere|koche|gehe) (?:sehr |am |viel |` +
				`besonders |total |immer |nie |meistens |normalerweise |gerne? )*(?:gerne?|lieber|` +
				`liebsten|immer|nie|meistens|jeden|nur|ausschlieslich|normalerweise)|wir ` +
				`(?:bevorzugen|mogen|lieben)) (?:lieber |am liebsten |gerne? |wirklich |sehr |total )*{rest}`,
			attribute: "opinion of {v}", profile: true, conf: .82, imp: .68,
			reason: "says what they like or dislike",
			check: not(`(?:es|das|dein|deine|deinen|diese[nrs]?|dich|dir|die idee|den vorschlag|den ersten|` +
				`die zweite|nicht$|wie|wenn|ja|wohl)\b`),
			yes: []string{
				"Ich mag keinen Koriander.", "ich trinke am liebsten Filterkaffee",
				"Ich hasse Großraumbüros.", "ich fahre lieber mit dem Zug",
			},
			no: []string{"ich mag das", "Ich liebe es!", "ich mag deine Idee"},
		},
		{
			name: "nutzen", kind: ragctx.FactPreference, heads: "ich wir",
			re: `(?:ich|wir) (?:nutze|nutzen|benutze|benutzen|verwende|verwenden|programmiere|programmieren|` +
				`setzen|arbeite mit|arbeiten mit|hosten|fahre|betreiben)(?: jetzt| meistens| privat| hier|` +
				` intern| auf der arbeit| seit [a-z0-9 ]{2,20}?| aktuell| auf| in| alles bei| bei| mit| einen?| eine)* {rest}`,
			attribute: "uses", profile: true, conf: .74, imp: .65, reason: "says what they use", check: germanTool,
			yes: []string{"Ich nutze Neovim unter Arch Linux.", "wir verwenden GitLab für alles"},
			no:  []string{"ich nutze folgenden Code", "ich verwende das", "ich nutze die Funktion"},
		},
		{
			name: "entscheidung", kind: ragctx.FactDecision, heads: "wir ich es haben habe die entscheidung unser", keep: true,
			re: `(?:(?:wir haben|ich habe|haben wir|habe ich|unser team hat) (?:uns|mich|sich)?(?P<v> ` +
				`?.{0,120}?(?:entschieden|beschlossen|geeinigt|festgelegt|vereinbart)\b.*)|es ist (?:beschlossen|` +
				`entschieden)[:,]? .+|(?:die )?entscheidung(?: ist|:) .+)`,
			attribute: "decision", conf: .87, imp: .8, reason: "says it is decided",
			yes: []string{
				"Wir haben uns für Postgres entschieden.", "ich habe beschlossen, den Job zu kündigen",
				"Wir haben uns gestern auf wöchentliche Releases geeinigt",
			},
			no:    []string{"haben wir uns entschieden?", "ich habe mich noch nicht entschieden"},
			check: func(m *match) bool { return !regexpNochNicht().MatchString(m.foldedValue()) },
		},
		{
			name: "wechsel", kind: ragctx.FactDecision, heads: "wir ich sind bin haben habe", keep: true,
			re: `(?:wir|ich)? ?(?:sind|bin|haben|habe) (?:wir |ich )?(?P<v>.{0,60}?(?:von .{2,40}? )?(?:auf|zu|` +
				`nach) .{2,60}? (?:umgestiegen|gewechselt|migriert|umgestellt|umgezogen|gewechselt)\b.*)`,
			attribute: "switch", conf: .85, imp: .78, reason: "says what they changed to",
			yes: []string{"Wir sind von Jenkins auf GitHub Actions umgestiegen.", "ich bin zu Vodafone " +
				"gewechselt"}, no: []string{"wir sind auf dem Weg"},
		},
		{
			name: "plan", kind: ragctx.FactPlan, heads: "ich wir hab mochte will werde werden fahre fliege ziehe ziehen " +
				"fliegen fahren habe haben fange heirate heiraten starte", tense: future, timed: true, keep: true,
			re: `(?:(?:ich|wir) )?(?P<v>(?:mochte|mochten|will|wollen|werde|werden|hab|fahre|fliege|ziehe|` +
				`ziehen|fliegen|fahren|habe|haben|fange|fangen|beginne|starte|starten|heirate|heiraten|bekomme|` +
				`bekommen|reise|reisen|gehe|gehen|treffe|treffen|muss|mussen|plane|planen|launchen|` +
				`veroffentlichen|laufe|laufen|bin|sind|kriege|kriegen|besuche|besuchen|mache|machen) .+)`,
			attribute: "plan", conf: .76, imp: .62, reason: "says what is planned, and when", check: inFuture(`mude|krank`),
			yes: []string{"Morgen fliege ich nach Oslo.", "nächste Woche ziehen wir um", "Ich habe am 5. Dezember " +
				"einen Zahnarzttermin.", "in drei Wochen fange ich bei Siemens an"},
			no: []string{"ich habe gestern Pizza gegessen", "morgen wird es regnen"},
		},
		{
			name: "vorhaben", kind: ragctx.FactPlan, heads: "ich wir mein unser", tense: future, keep: true,
			re: `(?:(?:ich|wir) (?:plane|planen|habe vor|haben vor|uberlege)|(?:mein|unser) (?:ziel|plan|` +
				`traum) (?:ist|fur [a-z0-9 ]+ ist)(?: es)?),? {rest}`, attribute: "plan", conf: .74, imp: .62,
			reason: "says what is planned",
			yes:    []string{"Wir planen eine Reise nach Island.", "mein Ziel ist ein Marathon unter vier Stunden"},
			no:     []string{"ist das mein Plan?", "ich plane nichts"}, check: not(`nichts|nicht$|das\b`),
		},
		{
			name: "ereignis", kind: ragctx.FactEvent, heads: "ich wir bin sind habe haben wurde hat ist mein meine unser " +
				"unsere", timed: true, keep: true,
			re: `(?P<v>(?:(?:ich|wir) (?:habe|haben|bin|sind|wurde|wurden|war|waren)|(?:habe|haben|bin|sind|` +
				`wurde|wurden|war|waren) (?:ich|wir)|(?:mein|meine|unser|unsere) [a-z]+ (?:ist|hat|wurde|war)|` +
				`(?:ist|hat|wurde) (?:mein|meine|unser|unsere) [a-z]+) .+)`,
			attribute: "event", conf: .76, imp: .55, reason: "tells what happened, and when",
			check: all(inPast, not(`.*\b(?:mude|krank|schlecht geschlafen|dich gefragt|dir|versucht|probiert|`+
				`gedacht|gefragt|gesagt)\b`)),
			yes: []string{"Letzten Freitag habe ich mir den Arm gebrochen.", "gestern sind wir auf die Zugspitze " +
				"gestiegen", "Meine Oma ist letzte Woche gestorben."}, no: []string{"gestern war ich müde", "ich habe es gestern versucht"},
		},
		{
			name: "termin", kind: ragctx.FactPlan, heads: "der die das unser unsere mein meine", tense: future, timed: true,
			keep: true, re: `(?P<s>(?:der|die|das|unsere?|meine?) (?:[a-z-]+ ){0,2}?[a-z-]*(?:termin|frist|` +
				`deadline|abgabe|release|launch|prufung|hochzeit|flug|geburtstag|meeting|demo|klausur|umzug|` +
				`urlaub|vorstellungsgesprach|op|konferenz|vertrag|projektstart|start|abgabetermin|zug)) ` +
				`(?:ist|sind|wurde|beginnt|endet|geht|findet|lauft|startet)(?: jetzt| nun)?(?: auf| am| vom| bis)* {rest}`,
			subject: "{s}", attribute: "deadline", exclusive: true, conf: .84, imp: .7, reason: "states when something is due", check: nil,
			yes: []string{"Die Abgabe ist am 15. Januar.", "meine Prüfung ist nächsten Dienstag"}, no: []string{"die Abgabe war stressig"},
		},
		{
			name: "projekt", kind: ragctx.FactIdentity, heads: "der die das unser unsere",
			re: `(?P<s>(?:der|die|das|unsere?) (?:[a-z0-9-]+ ){0,2}?[a-z0-9-]*(?:server|cluster|datenbank|repo|` +
				`repository|api|projekt|branch|staging|backend|frontend|dienst|app|service|produktion|skripte?|` +
				`wiki|doku|dokumentation|logs|firma|team|ordner|backups?|budget|drucker|wlan|schlussel|` +
				`code|website|webseite|prod))(?P<v> (?:heis+t|lauft|laufen|liegt|liegen|ist (?:auf|` +
				`unter|in|im|bei|version)|sind (?:auf|unter|in|im|bei)|hat|betragt|gehort|hort|` +
				`nutzt|verwendet|wird von) .+)`,
			subject: "{s}", attribute: "property", conf: .8, imp: .68, reason: "states a property", check: func(m *match) bool {
				return isSpecific(strings.TrimSpace(m.value)) && !germanPassing().MatchString(m.foldedValue())
			},
			yes: []string{
				"Unser Staging-Cluster heißt Reiher.", "die API läuft auf Port 8443",
				"Das Budget beträgt 40000 Euro",
			}, no: []string{"der Server ist kaputt", "die App läuft nicht"},
		},
		{
			name: "zuständig", kind: ragctx.FactRelation, heads: "*", has: "zustandig verantwortlich mein unser",
			re: `(?P<v>[a-z][a-z-]*(?: [a-z][a-z-]*)?) ist (?:(?:zustandig|verantwortlich) fur (?P<s>.+)|` +
				`(?:mein|meine|unser|unsere) (?:neue[rn]? )?(?P<a>chef|chefin|kollege|kollegin|schwester|` +
				`bruder|frau|mann|freundin|freund|tochter|sohn|ansprechpartner|ansprechpartnerin|` +
				`teamleiter|teamleiterin|nachbar|nachbarin|arztin|arzt|vermieter))`,
			attribute: "responsible {a}", conf: .84, imp: .7, reason: "names a role or a responsible person",
			check: properName, value: "{v}",
			yes: []string{"Katrin ist zuständig für die Backups.", "Herr Yilmaz ist unser neuer Teamleiter"},
			no:  []string{"Das ist mein Chef", "er ist zuständig für alles"},
		},
		{
			name: "rolle", kind: ragctx.FactRelation, heads: "der die unser unsere mein meine",
			re: `(?:der|die|unsere?|meine?) (?:neue[rn]? )?(?P<a>[a-z]*(?:leiter|leiterin|chef|chefin|` +
				`ansprechpartner|ansprechpartnerin|kunde|kundin|vermieter|vermieterin|hausarzt|lehrer|lehrerin|` +
				`nachbar|nachbarin|manager|managerin|passwortmanager|editor|anbieter)) (?:ist|heis+t)(?: ` +
				`jetzt| nun)? (?P<v>[a-z].*)`,
			attribute: "{a}", conf: .8, imp: .7, reason: "states a person's role",
			check: func(m *match) bool { return m.t.capital(m.vFrom) },
			yes:   []string{"Der neue Projektleiter ist Herr Okafor."}, no: []string{"der Chef ist sauer"},
		},
		{
			name: "wenn man", kind: ragctx.FactPreference, heads: "ich",
			re: `ich (?:hasse|mag|liebe) es(?: nicht| sehr)?,? (?P<v>wenn .+)`, attribute: "opinion", keep: true,
			standing: true, profile: true, conf: .76, imp: .68, reason: "says what they like or dislike",
			yes: []string{"Ich hasse es, wenn man mich unterbricht."}, no: []string{"ich mag es"},
		},
		{
			name: "merken", kind: ragctx.FactInstruction, heads: "*", re: `{rest}`, attribute: asksToRemember, conf: .7,
			imp: .85, reason: "asks to remember it", check: askedToRememberIn("de"), standing: true, keep: true,
			yes: []string{"Merk dir, dass der Tresor um sechs schließt."}, no: []string{"Merk dir das."},
		},
	},
}
