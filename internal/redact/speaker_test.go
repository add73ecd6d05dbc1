package redact

import "testing"

// TestSpeakersAreNoAccounts: the speaker of a line of a conversation is no account with a password beside it.
func TestSpeakersAreNoAccounts(t *testing.T) {
	for text, found := range map[string]int{
		"user: meadow north the cellar window of ferry qwlcmbnfkk vovubi meadow\nassistant: signal duvodo": 0,
		"user: anna, password: hunter2!x": 1, "user: anna\npassword: hunter2!x": 1,
		"user: my password is hunter2!x and I like tea\nassistant: I see.": 1,
	} {
		if out, f := Redact(text); len(f) != found {
			t.Errorf("%q: %v", out, f)
		}
	}
}
