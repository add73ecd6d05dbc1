package extract

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
)

// originalMessage matches the line that some programs put above the quoted original, which they do
// not mark as quoted.
var originalMessage = regexp.MustCompile(`(?i)^-{3,} ?(original message|original appointment|` +
	`ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale|oorspronkelijk bericht) ?-{3,}$`)

// markQuoted adds quote marks to the lines of the quoted original.
func markQuoted(s string) string {
	if !strings.Contains(s, "---") {
		return s
	}
	lines := strings.Split(s, "\n")
	quoted := false
	for i, l := range lines {
		quoted = quoted || len(l) < 60 && originalMessage.MatchString(strings.TrimSpace(l))
		if quoted && !strings.HasPrefix(l, ">") {
			lines[i] = strings.TrimRight("> "+l, " ")
		}
	}
	return strings.Join(lines, "\n")
}

// unflow joins the soft line breaks of RFC 3676.
func unflow(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		body := strings.TrimSuffix(line, "\n")
		soft := strings.HasSuffix(body, " ") && body != "-- " && !strings.HasPrefix(body, ">")
		b.WriteString(strings.TrimPrefix(body, " "))
		if !soft {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// expandMbox reads a mailbox; each mail is a member.
func expandMbox(ctx context.Context, f File, in *container) error {
	rest := f.Data
	if !bytes.HasPrefix(rest, []byte("From ")) {
		return refuse("is not a mailbox: it does not begin with \"From \"")
	}
	for i := 1; len(rest) > 0; i++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		one := rest
		if k := bytes.Index(rest, []byte("\nFrom ")); k >= 0 {
			one, rest = rest[:k+1], rest[k+1:]
		} else {
			rest = nil
		}
		name, ok, err := in.accept(fmt.Sprintf("%d.eml", i))
		if err != nil {
			return err
		}
		if ok && !in.file(File{Name: name, MIME: mimeMail, Data: one}) || !in.more {
			return nil
		}
	}
	return nil
}
