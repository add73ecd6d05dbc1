package facts_test

import (
	"testing"

	"github.com/ragctx/ragctx/providers/memory/facts"
)

// matched are pairs of an earlier and a newer statement, which replaces or ends it, or does not.
var matched = []struct {
	older, newer string
	same         bool
}{
	{"The user lives in Bergen.", "The user has relocated to Turin.", true},
	{"The user is based in Lyon.", "The user is based in Nantes.", true},
	{"The user eats fish twice a week.", "The user no longer eats fish.", true},
	{"The user's backups run on Borg.", "The user says: “we replaced Borg with Restic in March”", true},
	{"Lena is the release manager.", "Omar took over from Lena as release manager.", true},
	{"The board meeting is on 4 March.", "The board meeting was pushed to the 9th.", true},
	{"The user's standup is at 9:30.", "From next week the user's standup is at 10:15.", true},
	{"The build server is on 10.1.0.9.", "The build server moved to 10.1.0.22.", true},
	{"The user works at Pellworm Analytics.", "The user quit the user's job yesterday.", true},
	{"The user has a husband called Rasmus.", "The user says: “we got divorced in spring”", true},
	{"The user plays squash with Dirk.", "The user gave up squash.", true},
	{"The user says: “answer in French”", "The user says: “from now on answer in English”", true},
	{"Der Nutzer sagt: „ich wohne in Kiel“", "Der Nutzer sagt: „Inzwischen wohne ich in Rostock“", true},
	{"Der Nutzer sagt: „Ich esse gern Fleisch“", "Der Nutzer sagt: „Ich esse kein Fleisch mehr“", true},
	{"Der Nutzer sagt: „wir deployen mit Ansible“", "Der Nutzer sagt: „statt Ansible nehmen wir jetzt Terraform“", true},
	{"Der Nutzer sagt: „Der Workshop ist am 12. März“", "Der Nutzer sagt: „Der Workshop wurde auf den 26. März verschoben“", true},
	{"L'utilisateur dit : « je fume un paquet par jour »", "L'utilisateur dit : « je ne fume plus »", true},
	{"L'utilisateur dit : « la CI tourne sur Jenkins »", "L'utilisateur dit : « On est passés de Jenkins à GitLab CI »", true},
	{"L'utilisateur dit : « j'habite à Lille »", "L'utilisateur dit : « Depuis avril je vis à Grenoble »", true},
	{"El usuario dice: «como carne casi a diario»", "El usuario dice: «ya no como carne»", true},
	{"El usuario dice: «vivo en Zaragoza»", "El usuario dice: «Me he mudado a Vigo»", true},
	{"El usuario dice: «mi portátil es un Lenovo»", "El usuario dice: «cambié el Lenovo por un Framework»", true},

	{"The user lives in Porto.", "The user's sister relocated to Turin.", false},
	{"The user lives in Porto.", "The user might move to Ghent next year.", false},
	{"The mail server is on 10.1.0.4.", "The build server moved to 10.1.0.22.", false},
	{"The user flies to Oslo on 3 March.", "The Lisbon conference was moved to June.", false},
	{"The user's office is in York.", "The user lives in Leeds now.", false},
	{"The user uses vim for everything.", "Piet switched to Emacs.", false},
	{"The user is allergic to nuts.", "The user no longer eats fish.", false},
	{"The user says: “we use Buildkite agents in Frankfurt”", "The user says: “we replaced Travis with Buildkite”", false},
	{"The user says: “write code comments in English”", "The user says: “answer in French”", false},
	{"The user has a dog called Mops.", "The user adopted a cat called Tilda.", false},
	{"The user's manager is Petra.", "The user's sister is Anna.", false},
	{"The user works at Pellworm Analytics.", "The user's brother quit his job.", false},
	{"The user drinks tea.", "The user stopped drinking coffee.", false},
	{"The user's sister lives in Faro.", "The user's sister works for Siemens.", false},
	{"Der Nutzer sagt: „ich wohne in Kiel“", "Der Nutzer sagt: „Vielleicht ziehe ich nach Rostock“", false},
	{"Der Nutzer sagt: „Ich fahre einen Skoda“", "Der Nutzer sagt: „Mein Bruder fährt jetzt einen Polestar“", false},
	{"L'utilisateur dit : « j'habite à Lille »", "L'utilisateur dit : « ma sœur vit maintenant à Grenoble »", false},
	{"L'utilisateur dit : « je bois du café »", "L'utilisateur dit : « je ne fume plus »", false},
	{"El usuario dice: «vivo en Sevilla»", "El usuario dice: «estoy pensando en mudarme a Málaga»", false},
	{"El usuario dice: «uso Firefox»", "El usuario dice: «ya no fumo»", false},
}

// TestMatcher measures the matcher by itself, and holds its precision and recall on these pairs.
func TestMatcher(t *testing.T) {
	var right, wrong, missed int
	for _, p := range matched {
		read := func(s string) *facts.Statements { return facts.ReadStatements(s, false) }
		why, rest, same := facts.Supersedes(read(p.newer), read(p.older))
		switch {
		case same && p.same:
			right++
		case same:
			wrong++
			t.Logf("%q does not change %q, but: %s; left %q", p.newer, p.older, why, rest)
		case p.same:
			missed++
			t.Logf("%q changes %q", p.newer, p.older)
		}
	}
	precision, recall := float64(right)/float64(right+wrong), float64(right)/float64(right+missed)
	t.Logf("precision %.3f, recall %.3f of %d pairs", precision, recall, len(matched))
	if precision < 0.95 || recall < 0.9 {
		t.Error("the least precision is .95, the least recall .90")
	}
}

// TestMatcherLeavesTheRest checks that only a part of a content becomes obsolete.
func TestMatcherLeavesTheRest(t *testing.T) {
	older := facts.ReadStatements("The user's CI runs on Travis, releases are cut every second Thursday and Lena is the product manager.", false)
	_, rest, ok := facts.Supersedes(facts.ReadStatements("Omar took over from Lena as product manager.", false), older)
	if want := "The user's CI runs on Travis, releases are cut every second Thursday."; !ok || rest != want {
		t.Errorf("left is %q (%v), want %q", rest, ok, want)
	}
}

// BenchmarkMatcher compares a statement with 500 others.
func BenchmarkMatcher(b *testing.B) {
	newer := facts.ReadStatements("The user has relocated to Turin.", false)
	for b.Loop() {
		for i := range 500 {
			facts.Supersedes(newer, facts.ReadStatements(matched[i%len(matched)].older, false))
		}
	}
}

// TestMatcherLeavesOtherStatements checks what stays of a memory when a part of it is obsolete.
func TestMatcherLeavesOtherStatements(t *testing.T) {
	for _, x := range []struct{ older, newer, rest string }{
		{
			"L'utilisateur dit : « j'habite à Lille avec ma fille Zoé »", "L'utilisateur dit : « Depuis avril je vis à Grenoble »",
			"L'utilisateur dit : « ma fille Zoé »",
		},
		{"The user lives in Bergen with the user's daughter Ida.", "The user has relocated to Turin.", "The user's daughter is Ida."},
		{
			"Der Nutzer sagt: „mein Bruder einen Volvo, und meine Tochter Lotte geht in die dritte Klasse“",
			"Der Nutzer sagt: „Mein Bruder hat seinen Volvo verkauft“", "Der Nutzer sagt: „meine Tochter Lotte geht in die dritte Klasse“",
		},
		{
			"L'utilisateur dit : « On utilise Jira et je suis abonné au Monde »", "L'utilisateur dit : « J'ai résilié mon abonnement au Monde »",
			"L'utilisateur dit : « On utilise Jira »",
		},
	} {
		_, rest, ok := facts.Supersedes(facts.ReadStatements(x.newer, false), facts.ReadStatements(x.older, false))
		if !ok || rest != x.rest {
			t.Errorf("%q leaves %q of %q (%v), want %q", x.newer, rest, x.older, ok, x.rest)
		}
	}
}
