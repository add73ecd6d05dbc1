package procedures

import "testing"

// A question for the way to do something is no question for a fact.
func TestAsksForFact(t *testing.T) {
	for question, want := range map[string]bool{
		"when does the certificate expire?": true, "¿Cuándo caduca el certificado?": true, "wie heißt der neue Kollege?": true,
		"Wie erneuere ich das Zertifikat?": false, "how do I restore a backup?": false, "what do I do to restore the orders database?": false,
		"que faire pour renouveler le certificat ?": false, "renew the certificate": false, "whatever, deploy it": false,
	} {
		if got := asksForFact(question); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
}
