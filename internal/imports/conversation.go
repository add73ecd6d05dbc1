package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// conversation is a conversation of a user and an assistant, in order.
type conversation struct {
	id, title string
	started   time.Time
	messages  []message
	leftOut   []string // reasons of left out parts
}

// message is a message of a conversation.
type message struct {
	id   string
	role ragctx.Role
	text string
	at   time.Time
}

// conversations returns a reader of the files conversations*.json, whose elements parse reads.
func conversations(kind string, parse func(json.RawMessage) (conversation, error),
) func(context.Context, string, func(Item) error) error {
	return func(ctx context.Context, source string, emit func(Item) error) error {
		found := false
		err := each(source, emit, func(files []file) error {
			for _, f := range files {
				if ok, _ := path.Match("conversations*.json", f.base()); !ok && len(files) > 1 {
					if err := emit(Item{Name: f.name, LeftOut: "a file without conversations"}); err != nil {
						return err
					}
					continue
				}
				found = true
				err := elements(f, func(n int, raw json.RawMessage) error {
					if err := ctx.Err(); err != nil {
						return err
					}
					c, err := parse(raw)
					name := f.name + ": " + cmp.Or(ragctx.Clip(c.title), ragctx.Clip(c.id), fmt.Sprintf("conversation %d", n))
					if err == nil && c.id == "" {
						err = ragctx.Invalid("id", "is missing; the file is of another kind or damaged")
					}
					if err != nil {
						return emit(Item{Name: name, Err: err})
					}
					return c.emit(kind, name, emit)
				}, "conversations")
				if err := leave(f, err, emit); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil && !found {
			return fmt.Errorf("%s has no conversations.json; give the archive as it was downloaded", source)
		}
		return err
	}
}

// emit emits the exchanges of a conversation. An exchange begins with a user's message after an
// assistant's. Its id has the last message's id, so that an answer that was made again is a turn of its own.
func (c conversation) emit(kind, name string, emit func(Item) error) error {
	for _, why := range c.leftOut {
		if err := emit(Item{Name: name, LeftOut: why}); err != nil {
			return err
		}
	}
	var turn []message
	flush := func() error {
		if len(turn) == 0 {
			return nil
		}
		last := turn[len(turn)-1]
		t := &ragctx.Turn{
			ID: fmt.Sprintf("%s:%s:%s", kind, c.id, last.id), SessionID: kind + ":" + c.id, Tags: []string{kind},
			Metadata: map[string]any{"source": kind},
		}
		if c.title != "" {
			t.Metadata["title"] = c.title
		}
		for _, m := range turn {
			one := ragctx.TextMessage(m.role, m.text)
			one.CreatedAt = m.at
			t.Messages = append(t.Messages, one)
			if m.at.After(t.Occurred) {
				t.Occurred = m.at
			}
		}
		if t.Occurred.IsZero() {
			t.Occurred = c.started
		}
		turn = turn[:0]
		return emit(Item{Name: name, Turn: t})
	}
	for i, m := range c.messages {
		if strings.TrimSpace(m.text) == "" {
			continue
		}
		m.id = cmp.Or(m.id, fmt.Sprint(i+1))
		if len(turn) > 0 && m.role == ragctx.RoleUser && turn[len(turn)-1].role != ragctx.RoleUser {
			if err := flush(); err != nil {
				return err
			}
		}
		turn = append(turn, m)
	}
	return flush()
}
