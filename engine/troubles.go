package engine

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// maxTroubles is how many warnings and errors are remembered.
const maxTroubles = 20

// Trouble is a warning or an error of the log.
type Trouble struct {
	Time    time.Time `json:"time"`
	Level   string    `json:"level" enum:"WARN,ERROR"`
	Message string    `json:"message"`
	Details string    `json:"details,omitempty" doc:"what the log has beside the message, as name=value"`
}

// troubles remembers the newest warnings and errors of a log.
type troubles struct {
	mu   sync.Mutex
	list []Trouble
}

func (t *troubles) add(n Trouble) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list = append(t.list, n); len(t.list) > maxTroubles {
		t.list = slices.Delete(t.list, 0, 1)
	}
}

// newest returns what is remembered, the newest first.
func (t *troubles) newest() []Trouble {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := slices.Clone(t.list)
	slices.Reverse(out)
	return out
}

// remembering hands log records on, and warnings and errors to troubles as well.
type remembering struct {
	slog.Handler

	to *troubles
	// with are the attributes of loggers that were made of this one.
	with []slog.Attr
}

// Enabled implements [slog.Handler].
func (r remembering) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn || r.Handler.Enabled(ctx, l)
}

// Handle implements [slog.Handler].
func (r remembering) Handle(ctx context.Context, rec slog.Record) error {
	if rec.Level >= slog.LevelWarn {
		var details []string
		note := func(a slog.Attr) bool {
			details = append(details, ragctx.Clip(a.String()))
			return true
		}
		for _, a := range r.with {
			note(a)
		}
		rec.Attrs(note)
		r.to.add(Trouble{rec.Time.UTC(), rec.Level.String(), ragctx.Clip(rec.Message), strings.Join(details, " ")})
	}
	if !r.Handler.Enabled(ctx, rec.Level) {
		return nil
	}
	return r.Handler.Handle(ctx, rec)
}

// WithAttrs implements [slog.Handler].
func (r remembering) WithAttrs(attrs []slog.Attr) slog.Handler {
	return remembering{r.Handler.WithAttrs(attrs), r.to, slices.Concat(r.with, attrs)}
}

// WithGroup implements [slog.Handler].
func (r remembering) WithGroup(name string) slog.Handler {
	return remembering{r.Handler.WithGroup(name), r.to, r.with}
}
