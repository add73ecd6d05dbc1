package queryexpand

var french = language{
	function: `le la les l un une des du de d au aux ce c cet cette ces ça cela ceci celui celle ceux celles ci là il elle ils elles
	lui leur leurs y en on je j tu nous vous me m te t se s moi toi soi eux mon ma mes ton ta tes son sa ses notre nos votre vos
	qui que qu quoi quel quelle quels quelles quand où pourquoi comment combien dont lequel laquelle lesquels
	suis es est sommes êtes sont était étaient été être sera seront serait ai as a avons avez ont avait avoir aura fait faire font
	faut peut peux pouvons pouvez peuvent pourrait doit dois devons devez doivent va vais vont aller veut veux voudrais
	et ou mais donc or ni car si alors sinon puis ensuite parce puisque lorsque pendant avant après depuis jusque
	à dans sur sous avec sans pour par entre vers chez contre pas ne n plus moins très trop aussi encore déjà jamais toujours
	rien tout toute tous toutes autre autres même mêmes chaque quelque quelques beaucoup peu bien oui non merci bonjour voilà
	temps longtemps souvent grand petit vite ici maintenant dis dire sait savoir besoin chose choses`,
	refers:  `elle ils elles lui eux ça cela ceci celui celle ceux celles dedans dessus dessous`,
	owners:  `son sa ses leur leurs`,
	points:  `autre autres même`,
	places:  `y là`,
	being:   `il a avait aura`,
	openers: `et mais ou alors donc sinon puis`,
	links:   `aussi sinon ensuite plutôt également`,
	breaks:  `et ou mais car si quand lorsque parce puisque pendant avant après depuis alors donc`,
	fillers: `ok oui non merci bien super parfait voilà ah oh bon`,
	phrases: []string{"et si", "et pour", "quoi d'autre", "qui d'autre", "pourquoi pas", "c'est quoi"},
	turns: []string{
		"autre question", "autre sujet", "nouvelle question", "nouveau sujet", "rien à voir",
		"au fait", "changeons de sujet",
	},
	objects: `le la les l`,
	subject: `je j tu il elle on nous vous ils elles ne n`,
	asking: `comment que quel quelle quels quelles qui quoi où quand pourquoi combien peut peux pouvez pourrait pourrais pourriez
	dois doit devons sont avez écris écrivez rédige rédigez explique expliquez montre montrez donne donnez dis dites fais faites liste
	listez résume résumez trouve trouvez aide aidez traduis traduisez compare comparez calcule calculez décris décrivez propose proposez
	crée créez`,
	manners: `bonjour salut maintenant premièrement deuxièmement`,
	requests: []string{
		"est ce que", "qu est ce", "est ce qu", "j ai besoin", "il me faut", "je cherche", "on cherche", "savoir si", "savoir comment",
		"savoir quel", "me demande", "dis moi", "dites moi", "peux tu", "pouvez vous", "pourrais tu", "pourriez vous", "y a t il",
	},
}
