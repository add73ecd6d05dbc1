package redact

import (
	"math/rand/v2"
	"strings"
)

// phraseGrammar are forms of passphrases in a language, and the words that they are filled with.
type phraseGrammar struct {
	forms []string            // capitals stand for a word
	words map[string][]string // by capital
	hints []string            // words of texts in this language
}

func grammarOf(forms string, words map[string]string, hints string) phraseGrammar {
	g := phraseGrammar{forms: strings.Split(forms, "|"), words: map[string][]string{}, hints: strings.Fields(hints)}
	for k, list := range words {
		g.words[k] = strings.Fields(list)
	}
	return g
}

// names are names in all languages.
const names = "Bergen Gregory Rosalind Moritz Lucia Oslo Felix Marta Theo Anna Paris Otto Carmen Hugo Lola Tibbles Maria Jonas"

// phraseGrammars are those of English, German, French and Spanish.
//
//nolint:misspell // words of other languages
var phraseGrammars = []phraseGrammar{
	grammarOf(`D P never W|my N V only on A days|old P W like N|D A P by the N|X never liked N|D P and a A N|`+
		`no N over X tonight|the N borrowed my N|X is a kind of N|the N V N|`+
		`A P taste A|the N wears D P|N roof rusted D times|and still the N kept its N|X plays the N badly|`+
		`if it snows we W|P W Mondays|D P no N|X ate my N|never lend P to X|`+
		`we left the N at the N|N before N|where the A N sleeps|P are only N|N waits for nobody|`+
		`the N V at noon|a A N in every N|D P under the N|my N thinks in P|who stole the A N|`+
		`A N on the N|all our P W|X and the A N|only P know the N|the A P of X|do not feed the N|`+
		`N makes the N go round|every N needs a N|nobody knows the A N|D P W in the N`,
		map[string]string{
			"N": "lantern pelican harbor thistle otter willow barrel trumpet saddle candle meadow pepper cactus badger " +
				"tunnel teapot rocket violin moose umbrella soup mustard coffee piano garden goat ladder pancake whistle " +
				"kettle baker mayor bishop river window bread summer moon clock spoon aunt uncle castle ocean",
			"P": "geese trains lanterns spoons wolves pancakes watches violins penguins clouds bells bees otters candles " +
				"books apples foxes bakers sailors kettles windows rabbits stones sisters hats donkeys",
			"A": "quiet rainy cold old broken wobbly hungry gentle rusty lazy purple happy hollow tiny brave loud velvet " +
				"silver frozen sleepy",
			"V": "paints sings hates loves sleeps dances borrows flies eats forgets swims whispers knits bakes climbs steals",
			"W": "argue sing dance smell swim hate bake sleep fly dream whistle shout jump knit",
			"D": "two three four five six seven eight nine eleven twelve twenty forty", "X": names,
		}, "the is my and it with for to you on"),
	grammarOf(`D P auf dem N|der N V bis mittags|X hat das N verkauft|alte P riechen nach N|`+
		`der N lieh sich meinen N|P mögen N|der N V N|D P V im N|kein N ohne N|wenn es regnet backen wir|`+
		`X spielt schlecht N|A P schmecken auch|D P und ein N|mein N V nur sonntags|die P V im N|A N am N|`+
		`unter dem N V ein N|niemand kennt den N|der A N von X|jeder N braucht einen N`,
		map[string]string{
			"N": "Dach Boot Schirm Kaffee Fisch Bäcker Leuchtturm Nebel Garten Igel Kessel Ofen Vogel Winter Honig Elch " +
				"Onkel Mond Löffel Kuchen Wald Fluss Hund Stuhl Käse",
			"P": "Ziegen Züge Gänse Wölfe Löffel Igel Katzen Bücher Pinguine Wolken Glocken Bienen Laternen Vögel Schuhe",
			"A": "alter kalte blauer leise rostige müde kleine braunes warme stiller",
			"V": "schläft singt hasst tanzt fliegt malt isst träumt wohnt pfeift backt",
			"D": "zwei drei vier fünf sechs sieben neun elf zwölf",
			"X": names,
		}, "das ist der die und mit ich für auf ein"),
	grammarOf(`D P ne se disputent jamais|les vieux P sentent le N|le N dort jusqu'à midi|D P dans le N|`+
		`D P et rien d'autre|s'il neige on fait des P|X a vendu le N|le N V le N|les P V le N|`+
		`un N sans N|ma tante V les P|D P sur le N|le N A de X|jamais de N chez X|mon N V la nuit|`+
		`le N porte D P|tous les P V|chaque N a son N`,
		map[string]string{
			"N": "boulanger café lama ascenseur bateau poisson piano hibou jardin velours miroir fromage tambour chapeau " +
				"soleil nuage citron balcon gardien phare",
			"P": "oies trains lamas sous gaufres cloches moutons nuages " +
				"violons pingouins abeilles chaises tasses",
			"A": "bleu tranquille rouillé vieux fatigué",
			"V": "déteste adore mange peint oublie chante dort danse vole",
			"D": "deux trois quatre cinq six sept neuf onze douze",
			"X": names,
		}, "le la est c'est les des pour avec un une du"),
	grammarOf(`D P nunca discuten|los P viejos huelen a N|el N duerme hasta mediodía|D P en el N|D P y nada más|`+
		`si nieva hacemos P|X vendió la N|el N V N|las P V el N|un N sin N|`+
		`mi tía V los P|D P sobre la N|el N A de X|nunca prestes N a X|mi N V de noche|el N lleva D P|`+
		`todos los P V|cada N tiene su N|X está de vacaciones|doña X toca el N`,
		map[string]string{
			"N": "panadero café ascensor barca pescado piano búho jardín terciopelo espejo queso tambor sombrero sol limón " +
				"balcón faro bahía luna escalera",
			"P": "gansos trenes llamas churros campanas ovejas nubes violines " +
				"pingüinos abejas sillas tazas perras",
			"A": "azul tranquilo oxidado viejo cansado",
			"V": "odia adora come pinta olvida canta duerme baila vuela",
			"D": "dos tres cuatro cinco seis siete nueve once doce",
			"X": names,
		}, "el la es los las para con un una del que"),
}

// phrase returns a passphrase of words in the language of a text.
func phrase(r *rand.Rand, text string) string {
	best, most := &phraseGrammars[0], -1
	for i := range phraseGrammars {
		n := 0
		for w := range strings.FieldsSeq(strings.ToLower(text)) {
			for _, h := range phraseGrammars[i].hints {
				if w == h {
					n++
				}
			}
		}
		if n > most {
			best, most = &phraseGrammars[i], n
		}
	}
	words := strings.Fields(best.forms[r.IntN(len(best.forms))])
	for i, w := range words {
		if list := best.words[w]; list != nil {
			words[i] = list[r.IntN(len(list))]
		}
	}
	v := strings.Join(words, " ")
	switch r.IntN(8) {
	case 0:
		return strings.ToUpper(v[:1]) + v[1:]
	case 1:
		return strings.ToUpper(v)
	}
	return v
}
