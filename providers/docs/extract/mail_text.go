package extract

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
)

// originalMessage is the line that some programs put above the mail that is
// answered, which they do not mark.
var originalMessage = regexp.MustCompile(`(?i)^-{3,} ?(original message|original appointment|ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale|oorspronkelijk bericht) ?-{3,}$`)

// markQuoted marks the lines of a mail that is answered as quoted.
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

// unflow joins the lines of a paragraph that RFC 3676 broke.
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

// expandMbox reads a mailbox: each mail is a file inside.
func expandMbox(ctx context.Context, f File, in *inside) error {
	rest := f.Data
	if !bytes.HasPrefix(rest, []byte("From ")) {
		return refuse("is no mailbox: it does not begin with \"From \"")
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
		name, ok, err := in.want(fmt.Sprintf("%d.eml", i))
		if err != nil {
			return err
		}
		if ok && !in.file(File{Name: name, MIME: mimeMail, Data: one}) || !in.more {
			return nil
		}
	}
	return nil
}
