//nolint:misspell // the words are French
package facts

import "github.com/ragctx/ragctx"

// french is the rule table of French. Its patterns are folded: é is e, ç is c.
var french = language{
	code: "fr", user: "L'utilisateur", says: "L'utilisateur dit : ", quotes: [2]string{"« ", " »"},
	rules: []rule{
		{
			name: "toujours", kind: ragctx.FactInstruction,
			heads: "toujours jamais ne n'utilise n'ecris tu vous reponds evite", standing: true, keep: true, attribute: "instruction",
			re: `(?:toujours|jamais|reponds(?:-moi)? toujours|(?:tu dois|vous devez) toujours|ne (?:me |m'|nous ` +
				`)?[a-z'-]+ (?:jamais|plus|pas)|n'utilise[sz]? (?:jamais|plus|pas)|n'ecris (?:jamais|pas)|evite) {rest}`,
			conf: .84, imp: .9, reason: `says "toujours" or "jamais"`, check: frenchOrder,
			yes: []string{"Toujours répondre en français.", "N'utilise jamais d'emojis.", "Ne me vouvoie pas s'il " +
				"te plaît"}, no: []string{"jamais vu ça", "ne sais pas trop", "toujours le même problème"},
		},
		{
			name: "que tu", kind: ragctx.FactInstruction, heads: "je j'aimerais",
			re:        `(?:je (?:veux|prefere|voudrais|souhaite)|j'aimerais) que (?:tu|vous|tes|vos) {rest}`,
			attribute: "instruction", keep: true, conf: .76, imp: .85,
			reason: "says what the assistant is to do", yes: []string{"Je préfère que tu me tutoies."},
			no: []string{"je veux que ça marche"},
		},
		{
			name: "désormais", kind: ragctx.FactInstruction, heads: "a desormais dorenavant a chaque quand dorénavant",
			standing: true, keep: true, attribute: "instruction",
			re: `(?:a partir de maintenant|a partir d'aujourd'hui|desormais|dorenavant|a l'avenir|a chaque fois ` +
				`que [^,]{3,80}|chaque fois que [^,]{3,80}|quand je te (?:demande|donne|pose|envoie) [^,]{2,60}),? {rest}`,
			conf: .88, imp: .9, reason: `says "désormais"`, check: not(`(?:il y aura|tout|ce sera|c'est|on)\b`),
			yes: []string{"À partir de maintenant, tutoie-moi.", "désormais utilise le système métrique"},
			no:  []string{"à l'avenir tout sera cher"},
		},
		{
			name: "dorénavant", kind: ragctx.FactInstruction, heads: "*", has: "desormais dorenavant l'avenir maintenant toujours jamais",
			standing: true, keep: true, attribute: "instruction",
			re: `(?P<v>(?:(?:peux|pourrais)-tu|tu (?:peux|pourrais)|(?:pouvez|pourriez)-vous|vous (?:pouvez|pourriez)) ` +
				`[^,]{0,120}?(?:{desormais}|toujours|plus jamais)\b.*|` +
				`(?:reponds|repondez|parle|parlez|ecris|ecrivez|utilise|utilisez|emploie|evite|evitez|mets|mettez|donne|donnez|` +
				`montre|cite|citez|explique|appelle|appelez|fais|garde|ne)(?:-moi|-nous)?(?: [^, ]+){0,8}? {desormais}\b.*)`,
			conf: .84, imp: .9, reason: `says "dorénavant"`,
			yes: []string{
				"Réponds-moi désormais en anglais.", "Peux-tu toujours citer tes sources ?",
				"Pourrais-tu utiliser le système métrique à l'avenir ?", "Donne-moi les prix en euros dorénavant",
			}, no: []string{"Je travaille désormais à Lyon", "Peux-tu corriger ce texte ?"},
		},
		{
			name: "réponds", kind: ragctx.FactInstruction,
			heads: "reponds repondez parle ecris utilise appelle tutoie tutoyez vouvoie sans pas", keep: true, attribute: "answers",
			re: `(?:(?:reponds|repondez|parle|ecris)(?:-moi|-nous)?(?: toujours| uniquement| seulement)? (?:en|` +
				`avec|sans)|appelle-moi|appelez-moi|utilise|utilisez|tutoie|vouvoie|pas de|pas d'|sans) ` +
				`?(?P<v>(?:francais|anglais|espagnol|allemand|emojis?|metri|le systeme|des unites|celsius|` +
				`phrases|listes|des phrases|moi|-moi|jargon|euros|les euros|[a-z]+$).*)`,
			conf: .74, imp: .85, reason: "says how to answer", check: not(`(?:probleme|souci|doute|ca|cela)`),
			yes: []string{"Réponds-moi en français.", "appelle-moi Jo", "pas d'emojis s'il te plaît"},
			no:  []string{"pas de problème", "Peux-tu répondre en anglais ?"},
		},
		{
			name: "nom", kind: ragctx.FactIdentity, heads: "je mon moi",
			re:        `(?:je m'appelle|mon (?:nom|prenom) (?:complet )?(?:est|c'est)|moi c'est) (?P<v>[^,;:.]{1,50})`,
			attribute: "name", exclusive: true, profile: true,
			content: "L'utilisateur s'appelle {v}", conf: .92, imp: .85, reason: "states a name", check: nameLike,
			yes: []string{"Je m'appelle Chloé.", "bonjour, moi c'est Bruno"}, no: []string{"Comment je m'appelle ?"},
		},
		{
			name: "âge", kind: ragctx.FactIdentity, heads: "j'ai je",
			re: `(?:j'ai|je viens d'avoir|je vais avoir) (?P<v>\d{1,3}|trente(?:-[a-z]+)?|quarante(?:-[a-z]+)?|` +
				`cinquante(?:-[a-z]+)?|vingt(?:-[a-z]+)?) ans`, attribute: "age", exclusive: true, profile: true,
			conf: .87, imp: .8, reason: "states an age", yes: []string{"J'ai 34 ans.", "j'ai trente-deux ans"},
			no: []string{"j'ai 3 questions"},
		},
		{
			name: "domicile", kind: ragctx.FactIdentity, heads: "j'habite je nous on",
			re: `(?:j'habite|je vis|je reside|nous habitons|nous vivons|on habite|on vit)(?: maintenant|` +
				` actuellement| depuis [a-z0-9 ]+?| desormais)* (?P<v>(?:a|au|aux|en|dans|pres de|chez|sur) .+|` +
				`[a-z-]+$)`, attribute: "home", exclusive: true, profile: true, conf: .88, imp: .85,
			reason: "says where they live", check: not(`(?:dans (?:la peur|un monde|le passe)|en paix|en societe|` +
				`avec)\b`), yes: []string{
				"J'habite à Lyon.", "nous vivons près de Rennes",
				"je vis maintenant en Bretagne",
			}, no: []string{"Si j'habitais à Lyon...", "Est-ce que j'habite à Lyon ?"},
		},
		{
			name: "déménagement", kind: ragctx.FactIdentity, heads: "j'ai je nous on",
			re: `(?:j'ai demenage|nous avons demenage|on a demenage|je viens de demenager|je me suis ` +
				`installee?|on s'est installes?)(?: recemment| hier| il y a [a-z0-9 ]+?)?(?: de (?P<o>[a-z ` +
				`]{2,30}?))? (?P<v>(?:a|au|en|dans|pres de) .+)`, attribute: "home", exclusive: true, profile: true,
			conf: .87, imp: .85, reason: "says where they moved",
			yes: []string{"J'ai déménagé à Nantes le mois dernier.", "on a déménagé au Québec"},
			no:  []string{"on a déménagé le serveur"},
		},
		{
			name: "ne plus", kind: ragctx.FactIdentity, heads: "je j'habite nous on",
			re: `(?:je|nous|on)?\s*(?P<v>(?:n'habite|n'habitons|ne vis|ne travaille|n'utilise|n'utilisons|` +
				`ne mange|ne bois|ne fume|n'etudie|n'aime) plus .+)`, attribute: "past", value: "not {v}",
			profile: true, conf: .84, imp: .78, reason: `says "ne … plus"`,
			yes: []string{"Je n'habite plus à Paris.", "je ne travaille plus chez Orange"}, no: []string{"je ne sais plus"},
		},
		{
			name: "origine", kind: ragctx.FactIdentity, heads: "je",
			re:        `je (?:viens|suis originaire|suis nee?) (?P<v>(?:de|d'|du|des|a|en|au) ?.+)`,
			attribute: "origin", profile: true, conf: .82, imp: .8, reason: "says where they are from",
			check: func(m *match) bool { return isSpecific(m.value) || digits().MatchString(m.value) },
			yes:   []string{"Je viens de Toulouse.", "je suis née à Dakar en 1990"}, no: []string{"je viens de finir"},
		},
		{
			name: "travail", kind: ragctx.FactIdentity, heads: "je j'etudie j'enseigne",
			re: `(?:je (?:travaille|bosse)|j'etudie|j'enseigne|je fais des etudes)(?: actuellement| maintenant|` +
				` depuis [a-z0-9 ]+?)* (?P<v>(?:comme|chez|a|au|en tant que|dans|pour|en|de) .+|(?:le |la |` +
				`l')[a-z].+)`, attribute: "work", profile: true, conf: .85, imp: .8,
			reason: "says what they work or study",
			check:  not(`(?:dessus|sur|pour (?:ca|cela)|dans (?:ce|cette)|a la maison|la question|le sujet)`),
			yes: []string{
				"Je travaille comme infirmière.", "j'étudie le droit à Lille",
				"je bosse chez Renault",
			}, no: []string{"je travaille dessus"},
		},
		{
			name: "profession", kind: ragctx.FactIdentity, heads: "je",
			re: `je suis (?:une? )?(?P<v>(?:[a-z]*(?:ier|iere|iste|eur|euse|trice|ien|ienne|logue|tecte|` +
				`vocate?|ecin|fesseure?)|vegetarien(?:ne)?|vegane?|allergique|coeliaque|diabetique|` +
				`intolerante?|gauchere?|mariee?|divorcee?|celibataire|enceinte|veuf|veuve|retraitee?|` +
				`daltonien(?:ne)?|etudiante?|prof|mere|pere|sourde?|aveugle|francaise?|allemande?|` +
				`espagnole?|suisse|belge|canadien(?:ne)?|quebecois(?:e)?)\b.*)`,
			attribute: "trait", profile: true, conf: .85, imp: .82, reason: "says what they are",
			check: not(`(?:heureu|curieu|premier|premiere|dernier|dernieres|rien|meilleur|bien|serieu|malheur|` +
				`fier|fiere|entier|familier|tranquil|interieur|mieux|ailleurs)`),
			yes: []string{"Je suis infirmier à Brest.", "je suis végétarienne", "Je suis allergique aux arachides."},
			no:  []string{"je suis fatigué", "je suis bien arrivé", "Suis-je végétarien ?"},
		},
		{
			name: "santé", kind: ragctx.FactIdentity, heads: "j'ai je",
			re: `(?:j'ai (?:une? |de l'|du )?(?P<a>(?:allergie|intolerance|asthme|diabete|migraines?|` +
				`hypertension|tdah)\b)|je ne (?:mange|bois|supporte|digere) pas) ?(?P<v>.*)`,
			attribute: "health", profile: true, conf: .86, imp: .88,
			reason: "states what they do not bear or are", value: "{a} {v}", keep: true,
			yes: []string{"J'ai une allergie aux noix.", "je ne mange pas de porc"}, no: []string{"j'ai une question"},
		},
		{
			name: "langue", kind: ragctx.FactIdentity, heads: "je j'apprends ma",
			re: `(?:je parle|j'apprends|ma langue maternelle est)(?: couramment| un peu| bien)* ` +
				`(?P<v>.*(?:francais|anglais|espagnol|allemand|italien|portugais|breton|basque|chinois|` +
				`japonais|arabe|russe|polonais|coreen|neerlandais|wolof|creole|kabyle).*)`,
			attribute: "languages", profile: true, conf: .85, imp: .75, reason: "says which languages they speak",
			yes: []string{"Je parle breton et anglais."}, no: []string{"Tu parles breton ?"},
		},
		{
			name: "proche", kind: ragctx.FactRelation, heads: "mon ma mes notre nos",
			re: `(?P<p>(?:mon|ma|mes|notre|nos) (?P<a>(?:(?:petit|petite|grand|grande|meilleur|meilleure|` +
				`nouveau|nouvelle)[ -])?(?:soeur|sur|sour|soer|frere|fils|fille|pere|mere|maman|papa|femme|` +
				`mari|epouse?|copine?|compagn[a-z]+|conjointe?|grand-mere|grand-pere|oncle|tante|cousine?|` +
				`patronn?e?|chef|cheffe|collegue|amie?|chien|chienne|chat|chatte|voisine?|neveu|niece|` +
				`parents|enfants|belle-mere|beau-pere|medecin|manager)))(?:,? (?P<n>[a-z-]+),?)?? ` +
				`(?P<v>(?:s'appelle(?:nt)?|habite(?:nt)?|vit|vivent|travaille(?:nt)?|est (?:allergique|medecin|` +
				`infirmi|prof|vegan|vegetarien|avocat|ingenieur|ne |nee |de |coeliaque|architecte|musicien|` +
				`mort|morte|decede|enceinte)|a (?:\d|trois|deux|quatre|cinq|six|sept|huit|neuf|dix|une? ` +
				`(?:fille|fils|chien|chat|allergie))|parle|etudie|joue|deteste|prefere|aime|adore|` +
				`vient|demenage|se marie|s'est mariee?) ?.*)`,
			attribute: "{a}", value: "{n} {v}", profile: true, conf: .84, imp: .7,
			reason: "describes a relative or friend", keep: true,
			yes: []string{"Ma sœur s'appelle Élodie.", "mon chien s'appelle Rex", "Mon mari Karim travaille à la " +
				"SNCF"}, no: []string{"mon chef a raison", "ma sœur est fatiguée"},
		},
		{
			name: "enfants", kind: ragctx.FactRelation, heads: "j'ai nous on",
			re: `(?:j'ai|nous avons|on a) (?P<v>(?:une?|deux|trois|quatre) (?:petite? |vieux |jeune ` +
				`)?(?:enfants?|filles?|fils|garcons?|freres?|soeurs?|surs?|chiens?|chiennes?|chats?|jumeaux|` +
				`jumelles|petits-enfants|chev[a-z]+|lapins?|poules|perroquet)\b.*)`, attribute: "family",
			profile: true, conf: .85, imp: .75,
			reason: "describes the family", yes: []string{"J'ai deux enfants, Léo et Inès."}, no: []string{"j'ai deux questions"},
		},
		{
			name: "préféré", kind: ragctx.FactPreference, heads: "mon ma mes",
			re: `(?:mon|ma|mes) (?P<a>[a-z' ]{2,40}?) (?:preferee?s?|favorite?s?)(?: maintenant)? (?:est|sont|` +
				`c'est|reste|a toujours ete)(?: maintenant| toujours| desormais)* {rest}`,
			attribute: "favourite {a}", exclusive: true, profile: true, conf: .9, imp: .72,
			reason: "says what their favourite is",
			yes:    []string{"Ma couleur préférée est le vert.", "mon éditeur préféré est maintenant Helix"},
			no:     []string{"Quelle est ma couleur préférée ?"},
		},
		{
			name: "goûts", kind: ragctx.FactPreference, heads: "j'aime j'adore je j'apprecie nous on j'ai",
			re: `(?:j'aime|j'adore|j'apprecie|je (?:prefere|deteste|hais|deteste|suis fan (?:de|du|des)|suis ` +
				`passionnee? (?:de|par)|ne supporte pas|n'aime pas|n'aime pas trop|raffole de)|(?:nous|on) ` +
				`(?:preferons|prefere|aime|adore|deteste)|j'ai horreur (?:de|du|des)|je ne suis pas fan ` +
				`(?:de|du|des))(?: beaucoup| bien| vraiment| trop| pas| plutot| surtout| enormement)* {rest}`,
			attribute: "opinion of {v}", profile: true, conf: .83, imp: .68,
			reason: "says what they like or dislike",
			check:  not(`(?:ca|cela|ce|cette|ton|ta|tes|votre|vos|comment|que|quand|l'idee|la premiere|le deuxieme|savoir)\b`),
			yes: []string{
				"J'aime le café noir.", "je préfère le train à l'avion", "je n'aime pas la foule",
				"Je déteste la coriandre.",
			}, no: []string{"j'aime ton idée", "j'aime bien ça", "j'aimerais une pizza"},
		},
		{
			name: "usage", kind: ragctx.FactPreference, heads: "j'utilise nous on je d'habitude au",
			re: `(?:(?:au travail|a la maison|d'habitude),? )?(?:j'utilise|nous utilisons|on utilise|` +
				`je programme en|je code en|je roule en|on deploie sur|je me sers de|je bois (?:toujours|` +
				`jamais)|je cours|je fais du)(?: toujours| surtout| actuellement)? {rest}`, attribute: "uses", profile: true,
			conf: .74, imp: .64, reason: "says what they use or do",
			check: not(`(?:ce|cette|cela|ca|le code|la fonction|la commande|le suivant)\b`),
			yes: []string{
				"J'utilise Neovim sous Arch.", "on utilise GitLab pour tout",
				"je cours tous les matins",
			}, no: []string{"j'utilise ce code"},
		},
		{
			name: "décision", kind: ragctx.FactDecision, heads: "nous on j'ai finalement la c'est je", keep: true,
			re: `(?:(?:nous avons|on a|j'ai|on s'est|nous nous sommes)(?: finalement| enfin)? (?:decide|` +
				`choisi|opte pour|convenu|retenu|mis d'accord|accordes?)|finalement,? (?:on|nous|je) (?:prend|` +
				`prenons|prends|garde|gardons|part sur|choisit)|la decision(?: finale)? est|c'est decide[, :]+|` +
				`on part sur|on va (?:utiliser|garder|passer a))(?: de| d'| que| sur| pour)? ?{rest}`,
			attribute: "decision", conf: .86, imp: .8, reason: "says it is decided",
			yes: []string{
				"On a décidé d'utiliser Postgres.", "j'ai décidé de quitter mon travail",
				"Nous avons choisi la cuisine bleue",
			}, no: []string{"On a décidé quoi ?", "on part sur ça"},
			check: not(`(?:ca|cela|ce|cette|de te demander|quoi|rien)\b`),
		},
		{
			name: "changement", kind: ragctx.FactDecision, heads: "nous on j'ai je",
			re: `(?:(?:nous avons|on a|j'ai) (?:migre|bascule|change|arrete|remplace|abandonne)|(?:nous sommes|` +
				`on est|je suis) passee?s?)(?: tout)? (?P<v>(?:de .{2,50}? (?:a|vers|sur)|a|vers|sur|d'|de|le|` +
				`la|les) ?.+)`, attribute: "switch",
			conf: .82, imp: .76, reason: "says what they changed",
			yes: []string{
				"On est passés de Jenkins à GitHub Actions.", "j'ai arrêté de fumer",
				"nous avons migré vers Kubernetes",
			}, no: []string{"on est passés à autre chose"},
			check: not(`a (?:autre chose|la suite)`),
		},
		{
			name: "plan", kind: ragctx.FactPlan, heads: "je j'ai nous on j'irai j'aurai j'arrive j'emmenage",
			tense: future, keep: true, timed: true,
			re: `(?:je |nous |on |j')(?P<v>(?:vais|allons|va|ai|avons|a|pars|partons|part|commence|` +
				`commencons|demenage|demenageons|me marie|se marie|veux|voudrais|dois|doit|serai|sera|ferai|fera|` +
				`irai|ira|aurai|prends|prend|prenons|passe|lance|lancons|lancerons|visite|cours|emmenage|arrive|reprends|quitte) .+)`,
			attribute: "plan", conf: .77, imp: .62, reason: "says what is planned, and when", check: inFuture(`fatiguee?|malade`),
			yes: []string{
				"Demain j'ai rendez-vous chez le dentiste.", "la semaine prochaine on déménage à Nice",
				"Lundi prochain je commence chez Airbus",
			}, no: []string{"je vais dormir", "hier j'ai mangé"},
		},
		{
			name: "objectif", kind: ragctx.FactPlan, heads: "mon notre je nous on j'envisage", tense: future, keep: true,
			re: `(?:(?:mon|notre) (?:objectif|but|reve|projet|plan)(?: pour [a-z0-9 ]+?)? est (?:de |d')?|` +
				`je (?:prevois|compte|projette|m'entraine pour|prepare|economise pour)|(?:nous|on) ` +
				`(?:prevoyons|prevoit|compte|prepare|economise pour|attend|attendons)|j'envisage) ?(?:de |d')?{rest}`,
			attribute: "plan", conf: .76, imp: .62, reason: "says what is planned",
			yes: []string{"Mon objectif est de courir un marathon.", "on prévoit un voyage au Pérou"},
			no:  []string{"est-ce mon objectif ?", "je compte sur toi"}, check: not(`(?:sur toi|sur vous|pas)`),
		},
		{
			name: "événement", kind: ragctx.FactEvent, heads: "je j'ai nous on mon ma notre le la il", keep: true, timed: true,
			re: `(?P<v>(?:j'ai|je suis|je me suis|nous avons|nous sommes|on a|on est|on s'est|(?:mon|ma|` +
				`notre|le|la) [a-z-]+ (?:a|est|s'est) [a-z]{2,}(?:e|i|u|is|it|us|ee|ees|es|ie|ue)) .+)`,
			attribute: "event", conf: .74, imp: .55, reason: "tells what happened, and when",
			check: all(inPast, not(`.*\b(?:fatiguee?|malade|mal dormi|demande|te dit|essaye|pense|question|besoin)\b`)),
			yes: []string{
				"Hier je me suis cassé le bras.", "Vendredi dernier on a acheté un camping-car",
				"Notre voisin est parti en mars.",
			}, no: []string{"hier j'ai mal dormi", "j'ai essayé hier"},
		},
		{
			name: "échéance", kind: ragctx.FactPlan, heads: "le la l'examen mon ma notre l'echeance l'entretien", tense: future,
			timed: true, keep: true, re: `(?P<s>(?:(?:le|la|mon|ma|notre) |l')(?:date limite|echeance|rendu|` +
				`remise|examen|mariage|vol|train|rendez-vous|reunion|lancement|anniversaire|demo|demenagement|` +
				`contrat|operation|voyage|presentation|concert|entretien|bail|soutenance|concours)(?: ` +
				`[a-z' ]{2,30}?)?) (?:est|sera|commence|part|finit|se termine|expire|a lieu|tombe)(?: ` +
				`fixee?)?(?: le| au| pour le)? ?{rest}`,
			subject: "{s}", attribute: "deadline", exclusive: true, conf: .84, imp: .7,
			reason: "states when something is due",
			yes:    []string{"La remise est le 15 janvier.", "mon vol part demain"}, no: []string{"la réunion était longue"},
		},
		{
			name: "projet", kind: ragctx.FactIdentity, heads: "le la les notre nos l'api l'environnement",
			re: `(?P<s>(?:(?:le|la|les|notre|nos) |l')(?:serveur|cluster|base de donnees|base|depot|repo|api|` +
				`projet|branche|environnement|service|application|appli|backend|frontend|staging|prod|` +
				`production|site|budget|entreprise|equipe|scripts?|sauvegardes|wifi|imprimante|cles?|` +
				`documentation|doc|code|wiki)(?: (?:de|d'|en|principale?)[a-z' ]{0,25}?)?)(?P<v> ` +
				`(?:s'appelle(?:nt)?|tourne|tournent|est (?:sur|dans|a|en|de)|sont (?:sur|dans|a|` +
				`en)|ecoute|utilise|a|appartient|est gere|est geree) .+)`,
			subject: "{s}", attribute: "property", conf: .8, imp: .68, reason: "states a property",
			check: func(m *match) bool { return isSpecific(m.value) },
			yes:   []string{"Notre cluster de staging s'appelle Héron.", "l'API écoute sur le port 8443"},
			no:    []string{"le serveur est en panne"},
		},
		{
			name: "responsable", kind: ragctx.FactRelation, heads: "*", has: "responsable charge mon ma notre",
			re: `(?P<v>[a-z]+(?: [a-z]+)?) est (?:(?:la |le )?(?:responsable|chargee?|en charge) (?:de|du|des) ` +
				`(?P<s>.+)|(?:mon|ma|notre) (?:nouveau |nouvelle )?(?P<a>chef|cheffe|soeur|frere|femme|mari|` +
				`copine?|collegue|fille|fils|medecin|voisine?|amie?|cousine?|manager|prof|patronn?e?))`,
			attribute: "responsible {a}",
			conf:      .84, imp: .7, reason: "names a role or a responsible person", check: properName, value: "{v}",
			yes: []string{"Manon est responsable des sauvegardes.", "Diego est mon cousin"},
			no:  []string{"C'est mon chef", "Elle est ma cheffe"},
		},
		{
			name: "retenir", kind: ragctx.FactInstruction, heads: "*", re: `{rest}`, attribute: asksToRemember, conf: .72,
			imp: .85, reason: "asks to remember it", check: askedToRememberIn("fr"), standing: true, keep: true,
			yes: []string{"Retiens que le coffre ferme à six heures."}, no: []string{"Retiens ça."},
		},
	},
}
