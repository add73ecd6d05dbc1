package facts

import (
	"slices"
	"testing"

	"github.com/ragctx/ragctx"
)

// TestForms checks the forms of values.
func TestForms(t *testing.T) {
	for content, want := range map[string]string{
		"The user's physio is on Tuesdays.":                     "@day",
		"The thesis is due 15 May.":                             "@date",
		"Der Nutzer sagt: „die Krone kommt erst am 26.“":        "@date",
		"L'utilisateur dit : « ce sera le 2 avril »":            "@date",
		"The standup is at 9:15.":                               "@hour",
		"Der Nutzer sagt: „das Daily beginnt um zehn“":          "@hour",
		"El usuario dice: «la reunión es a las siete»":          "@hour",
		"The rent is 1,150.":                                    "@cash",
		"The user pays €31.":                                    "@cash",
		"The user drinks four coffees a day.":                   "@coffe",
		"The service runs on Python 3.9.":                       "@9.9",
		"Mila is in 4b.":                                        "@9b",
		"L'utilisateur dit : « mon fils est en CE1 »":           "@a9",
		"Der Nutzer sagt: „Ich bin Vegetarierin“":               "@diet",
		"Der Nutzer sagt: „Die Miete ist 1.150 €“":              "@cash",
		"The lease is £1,150 from May":                          "@cash",
		"The lease is as it was since March.":                   "",
		"The user has a dog.":                                   "",
		"The user says: “from August the office opens earlier”": "",
	} {
		found := ReadStatements(content, false, "").parts[0].forms()
		if keys := Keys(content, false); want != "" && !slices.Contains(keys, want) {
			t.Errorf("%q has the keys %q, want %q", content, keys, want)
		}
		if _, ok := found[want]; len(found) > 1 && !ok || want == "" != (len(found) == 0) || want != "" && !ok {
			t.Errorf("%q has %v, want %q", content, found, want)
		}
	}
}

// TestKeysHaveForms checks that contents whose values have the same form are compared: [Keys] reads the words by itself.
func TestKeysHaveForms(t *testing.T) {
	n := 0
	for _, d := range readDialogues(t) {
		for _, turn := range d.turns {
			for _, x := range Explain(ragctx.Turn{Messages: turn.Messages}, turn.At).Facts {
				keys := Keys(x.Content, false)
				for _, s := range ReadStatements(x.Content, false, "").parts {
					for form := range s.forms() {
						if n++; !slices.Contains(keys, form) {
							t.Errorf("%q has %s, but its keys are %q", x.Content, form, keys)
						}
					}
				}
			}
		}
	}
	if n < 500 {
		t.Errorf("%d values", n)
	}
}

// TestComparable checks which contents are compared at all: the form of a value counts if one known content has it.
func TestComparable(t *testing.T) {
	gym, phone := Keys("The gym is 29 euros.", false), Keys("My phone plan costs 19 euros.", false)
	sums := Keys("Show sums in euros.", true)
	newer := Keys("It's 45 euros from August.", false)
	for _, c := range []struct {
		known [][]string
		older []string
		want  bool
	}{
		{[][]string{gym}, gym, true},
		{[][]string{gym, phone}, gym, false},
		{[][]string{gym, phone}, sums, true}, // a wish, and on money
	} {
		if got := Comparable(newer, c.older, Common(slices.Values(c.known))); got != c.want {
			t.Errorf("%q and %q of %q: %v", newer, c.older, c.known, got)
		}
	}
}
