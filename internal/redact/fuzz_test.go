package redact_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/redact"
)

// checkRedaction verifies the invariants of a redaction.
func checkRedaction(t interface{ Fatalf(string, ...any) }, text string) {
	got, found := redact.Redact(text)
	var want strings.Builder
	at := 0
	for _, f := range found {
		if f.Start < at || f.End <= f.Start || f.End > len(text) {
			t.Fatalf("%q: finding %+v after %d", text, f, at)
		}
		want.WriteString(text[at:f.Start] + "[redacted: " + f.Kind + "]")
		at = f.End
	}
	want.WriteString(text[at:])
	if got != want.String() {
		t.Fatalf("%q: %q, but the findings make %q", text, got, want.String())
	}
	if again, more := redact.Redact(got); again != got || len(more) > 0 {
		t.Fatalf("%q is redacted to\n%q and that to\n%q", text, got, again)
	}
	for _, before := range []string{text, text + "?", text + " ?", text + "…?", text + ". ?\n"} {
		head := redact.Head(before)
		if head != "" && !strings.HasSuffix(head, "? ") && !strings.HasSuffix(head, ". ") && !strings.HasSuffix(head, ": ") {
			t.Fatalf("the words for the secret of %q are %q, without a sign at the end", before, head)
		}
		redact.Redact(head + text)
	}
}

func FuzzRedact(f *testing.F) {
	for _, name := range []string{"secrets.txt", "harmless.txt"} {
		for _, line := range lines(f, name) {
			f.Add(strings.NewReplacer("⟦", "", "⟧", "").Replace(line))
		}
	}
	f.Fuzz(func(t *testing.T, text string) { checkRedaction(t, text) })
}

// TestRedactPieces puts secrets, words for them and what stands between into any
// order: removing one secret must not reveal another.
func TestRedactPieces(t *testing.T) {
	pieces := strings.Fields(`password passphrase PIN token secret api key access code is was = : := -> | , ; . ( ` +
		`) [ ] " ' \" ** < > / @ & ? # -- - for the to
		4111 1111 1111111 4111111111111111 5500-0000-0000-0004 3782 822463 10005 123-45-6789 ssn DE89 3704 0044 ` +
		`0532 0130 00 12/27 123 4711 hunter2
		Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z ghp_ sk- eyJhbGciOiJIUzI1NiJ9 .eyJzdWIiOiIxMjM0NTY3ODkwIn0. ` +
		`AKIAIOSFODNN7EXAMPLE https:// ada: x.org cookie session=
		bearer authorization basic card order id cvv -----BEGIN PRIVATE KEY----- -----END ----- swordfish broken ` +
		`seed phrase [redacted: password] [redacted: <password> value: abandon`)
	pieces = append(pieces, "\n", " ", "  ", "\t", "\u00a0", "`", "é", "\xff", "[redacted: card number]",
		"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
		"abandon ability able about above absent absorb abstract absurd abuse access accident")
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 14).Draw(t, "pieces") {
			b.WriteString(rapid.SampledFrom(pieces).Draw(t, "piece"))
			b.WriteString(rapid.SampledFrom([]string{"", " ", " ", "\n"}).Draw(t, "gap"))
		}
		checkRedaction(t, b.String())
	})
}
