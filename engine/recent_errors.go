package engine

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ragctx/ragctx/internal/text/sentence"
)

// maxRecentErrors is how many warnings and errors are kept, maxErrorChars how many characters of each
// one's message and details.
const (
	maxRecentErrors = 20
	maxErrorChars   = 1000
)

// Trouble is a warning or an error of the log.
type Trouble struct {
	Time    time.Time `json:"time"`
	Level   string    `json:"level" enum:"WARN,ERROR"`
	Message string    `json:"message"`
	Details string    `json:"details,omitempty" doc:"attributes of the log entry, as name=value"`
	Count   int       `json:"count" doc:"how many entries are equal except for numbers, times and ids"`
}

// variablePart matches the variable parts of equal entries: numbers, times, addresses and ids.
var variablePart = regexp.MustCompile(`\b(?:[0-9a-f]{8}-[0-9a-f-]{27}|\d[\w.:+-]*)`)

// similar reports whether two entries are equal except for variable parts.
func (t Trouble) similar(o Trouble) bool {
	same := func(a, b string) bool {
		return a == b || variablePart.ReplaceAllString(a, "#") == variablePart.ReplaceAllString(b, "#")
	}
	return t.Level == o.Level && same(t.Message, o.Message) && same(t.Details, o.Details)
}

// recentErrors keeps the newest warnings and errors of a log, equal ones once.
type recentErrors struct {
	mu   sync.Mutex
	list []Trouble
}

func (t *recentErrors) add(n Trouble) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n.Count = 1
	if i := slices.IndexFunc(t.list, n.similar); i >= 0 {
		n.Count += t.list[i].Count
		t.list = slices.Delete(t.list, i, i+1)
	}
	if t.list = append(t.list, n); len(t.list) > maxRecentErrors {
		t.list = slices.Delete(t.list, 0, 1)
	}
}

// newest returns the kept entries, newest first.
func (t *recentErrors) newest() []Trouble {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := slices.Clone(t.list)
	slices.Reverse(out)
	return out
}

// recentErrorsHandler passes log records on, and copies warnings and errors to troubles.
type recentErrorsHandler struct {
	slog.Handler

	to *recentErrors
	// with are the attributes of derived loggers.
	with []slog.Attr
}

// Enabled implements [slog.Handler].
func (r recentErrorsHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn || r.Handler.Enabled(ctx, l)
}

// Handle implements [slog.Handler].
func (r recentErrorsHandler) Handle(ctx context.Context, rec slog.Record) error {
	if rec.Level >= slog.LevelWarn {
		var details []string
		note := func(a slog.Attr) bool {
			details = append(details, a.String())
			return true
		}
		for _, a := range r.with {
			note(a)
		}
		rec.Attrs(note)
		r.to.add(Trouble{
			Time: rec.Time.UTC(), Level: rec.Level.String(),
			Message: sentence.Clip(rec.Message, maxErrorChars),
			Details: sentence.Clip(strings.Join(details, " "), maxErrorChars),
		})
	}
	if !r.Handler.Enabled(ctx, rec.Level) {
		return nil
	}
	return r.Handler.Handle(ctx, rec)
}

// WithAttrs implements [slog.Handler].
func (r recentErrorsHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return recentErrorsHandler{r.Handler.WithAttrs(attrs), r.to, slices.Concat(r.with, attrs)}
}

// WithGroup implements [slog.Handler].
func (r recentErrorsHandler) WithGroup(name string) slog.Handler {
	return recentErrorsHandler{r.Handler.WithGroup(name), r.to, r.with}
}
