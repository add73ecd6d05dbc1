package web

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestSentence(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "no space is left": "No space is left.", "élan": "Élan.", "A.": "A.",
		"max_tokens 600 excluded 7 items": "max_tokens 600 excluded 7 items.", // the field is written as requests write it
	} {
		if got := sentence(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestPlainJSON checks that texts are shown as JSON without escapes for HTML, and that the JSON still says the same.
func TestPlainJSON(t *testing.T) {
	if got := plainJSON([]byte(`{"a":"\u003cb\u003e \u0026 \\u003c"}`)); got != `{"a":"<b> & \\u003c"}` {
		t.Error(got)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\\<>&u03ce"]*`)).Draw(t, "text")
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got, plain string
		if err := json.Unmarshal([]byte(plainJSON(raw)), &got); err != nil {
			t.Fatalf("%s: %v", plainJSON(raw), err)
		}
		if err := json.Unmarshal(raw, &plain); err != nil || got != plain {
			t.Fatalf("%q, want %q, %v", got, plain, err)
		}
	})
}
