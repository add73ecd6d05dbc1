package memory

import "testing"

// TestWithoutPronouns checks which words of a question are left out.
func TestWithoutPronouns(t *testing.T) {
	for question, want := range map[string]string{
		"When does she exercise?": "When does exercise?", "What is Her job?": "What is job?", "Is it his?": "Is it",
		"When's he's here": "When's here", "she": "she", "her, his": "her, his", "the hero sheds history": "the hero sheds history",
		`"her*" and he_said  twice`: `"her*" and he_said  twice`, "": "",
	} {
		if got := withoutPronouns(question); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}
