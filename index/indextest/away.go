package indextest

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// TestAway checks the errors of an opener of indexes in a server that refuses connections, hangs, or ends each connection.
func TestAway(t *testing.T, at func(t *testing.T, address string) index.Opener) {
	for _, name := range []string{"refuses", "hangs", "ends"} {
		t.Run(name, func(t *testing.T) {
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			switch name {
			case "refuses":
				_ = l.Close()
			case "ends":
				go func() {
					for c, err := l.Accept(); err == nil; c, err = l.Accept() {
						_ = c.Close()
					}
				}()
			default: // the system accepts connections, which nobody serves
			}
			o := at(t, l.Addr().String())
			for range 3 {
				err := o.KeepSpace(t.Context(), space.Name)
				if !errors.Is(err, index.ErrAway) || !errors.Is(err, ragctx.ErrUnavailable) {
					t.Errorf("the server is not away: %v", err)
				}
			}
			short, end := context.WithTimeout(t.Context(), time.Nanosecond)
			defer end()
			if err := o.KeepSpace(short, space.Name); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, index.ErrAway) {
				t.Errorf("the caller ends the request: %v", err)
			}
		})
	}
}

// TestOneFails checks the errors of a search and a write in a collection of a server that answers and rejects them.
func TestOneFails(t *testing.T, x index.KeywordIndex) {
	_, search := x.Search(t.Context(), index.KeywordQuery{Text: "walrus", K: 1})
	write := x.Apply(t.Context(), 9, []index.TextChunk{{ID: 9, Item: 9, Text: "walrus"}}, nil)
	for _, err := range []error{search, write} {
		if !errors.Is(err, ragctx.ErrUnavailable) || errors.Is(err, index.ErrAway) {
			t.Errorf("the failure concerns other collections: %v", err)
		}
	}
}
