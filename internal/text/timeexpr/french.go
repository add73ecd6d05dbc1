//nolint:misspell // the words are French
package timeexpr

var frenchTable = table{
	language: french,
	months: "janvier janv, fevrier fevr fev, mars, avril avr, mai, juin, juillet juill juil, aout, septembre sept, octobre oct, " +
		"novembre nov, decembre dec",
	weekdays: "lundi lundis, mardi mardis, mercredi mercredis, jeudi jeudis, vendredi vendredis, samedi samedis, " +
		"dimanche dimanches",
	units: "minute minutes, heure heures, jour jours journee, semaine semaines, quinzaine, weekend weekends, mois, " +
		"trimestre trimestres, an ans annee annees",
	parts:   "matin matinee, midi, aprem, soir soiree, nuit",
	seasons: "printemps, ete, automne, hiver",
	cardinals: "un une, deux, trois, quatre, cinq, six, sept, huit, neuf, dix, onze, douze, treize, quatorze, quinze, seize, " +
		"-, -, -, vingt vingts, trente, quarante, cinquante, soixante, septante, huitante octante, nonante, cent",
	ordinals: "premier premiere premiers premieres unieme, deuxieme second seconde, troisieme, quatrieme, cinquieme, sixieme, " +
		"septieme, huitieme, neuvieme, dixieme, onzieme, douzieme, treizieme, quatorzieme, quinzieme, seizieme, -, -, -, " +
		"vingtieme, trentieme, quarantieme, cinquantieme, soixantieme, septantieme, huitantieme octantieme, nonantieme, " +
		"centieme",
	roles: []words{
		{leadIn, "en durant pendant dans"},
		{leadOn, "le du au"},
		{lead, "la les l de d des a aux notre nos lors cours ma mon ces"},
		{between, "entre"},
		{from, "du de depuis"},
		{and, "et"},
		{to, "au a jusqu jusque"},
		{since, "depuis partir"},
		{lasting, "depuis"},
		{after, "apres"},
		{before, "avant"},
		{until, "jusqu jusque"},
		{last, "dernier derniere derniers dernieres precedente precedent passee passe"},
		{past, "derniere dernier dernieres derniers"},
		{passed, "dernier derniere passe passee precedent precedente"},
		{this, "ce cet cette actuelle actuel"},
		{ago, "tot auparavant"},
		{of, "de du d des"},
		{earlier, "tot"},
		{more, "plus"},
		{early, "debut"},
		{mid, "mi milieu"},
		{late, "fin"},
		{penult, "penultieme"},
		{couple, "paire"},
		{few, "quelques"},
		{several, "plusieurs"},
		{session, "seance seances conversation conversations session sessions discussion discussions dialogue dialogues chat " +
			"chats"},
		{weakly, "echange echanges entretien entretiens entrevue reunion appel"},
		{plural, "seances conversations sessions discussions dialogues chats echanges entretiens jours semaines trimestres ans " +
			"annees heures"},
		{numero, "numero no n"},
		{today, "aujourd"},
		{yesterday, "hier"},
		{tens, "et"},
		{coming, "prochain prochaine prochains prochaines chaque"},
		{opener, "il y"},
		{our, "notre nos"},
		{their, "sa son ses"},
		{occasion, "fois"},
		{someDay, "autre"},
		{doubtful, "mars"},
		{generic, "que qu quoi quel quels quelle quelles quand ou qui comment est ce c il y nous vous je tu on avons avez ai as a " +
			"avait avions ete etait etaient sont s t te m me moi se si de du des d le la les l un une et en sur au aux tout " +
			"tous toutes dont ca cela peux pouvez peut pourrais veux plait stp svp j n"},
		{generic, "parle parler parles parlions parlait discute discuter discutions evoque evoquer evoques aborde abordes abordees " +
			"aborder dit dire dites raconte bavarde traite traites mentionne passe arrive fait echange echanger dialogue " +
			"discutons"},
		{generic, "sujet sujets chose choses theme themes point points contenu resume resumer resumez resumes recapitule " +
			"recapitulatif rappelle rappelles rappelez rappeler souviens souvenez dis montre liste donne jour jours semaine " +
			"mois annee date propos week end"},
	},
}
