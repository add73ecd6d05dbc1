package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/store"
	convo "github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/view"
)

// TestClockJumps sets the clock 20 years ahead and back, between restarts and under a running server.
// Written items are always found, in the version written last. Deleted and erased ones stay so. An
// item is hidden while the clock is past its expiry, and found again when the clock is set back.
func TestClockJumps(t *testing.T) {
	const years = 20 * 365 * 24 * time.Hour
	for name, restarts := range map[string]bool{"restarts": true, "running": false} {
		t.Run(name, func(t *testing.T) {
			f := open(t, spelling)
			f.Jobs().Start()
			key, err := f.Keys().Create(t.Context(), access.Key{Name: "k", Role: access.Read, Expires: t0.AddDate(1, 0, 0)})
			if err != nil {
				t.Fatal(err)
			}
			passing := t0.AddDate(1, 0, 0)
			f.remember(ragctx.Memory{ID: "passing", Content: "Zqpassing is said for a year.", Expires: passing})
			conv := convo.Key{Namespace: "default", ID: "s"}
			f.converse(t.Context(), conv)
			var stamp ledger.Message
			for era, by := range []time.Duration{0, years, 0, -years, 0} {
				f.clock.set(t0.Add(by + time.Duration(era)*time.Hour))
				if restarts {
					f.reopen()
					f.Jobs().Start()
				}
				n := fmt.Sprint("era", era)
				f.put(n, "Zq"+n+" is in the harbour.")
				f.put("newest", "Zqnewest"+n+" is the last word.")
				f.put("deleted", "Zqdeleted"+n+" goes.")
				f.put("erased", "Zqerased"+n+" goes for good.")
				f.remember(ragctx.Memory{ID: n, Content: "Zqmemory" + n + " is remembered."})
				f.remember(ragctx.Memory{ID: "hour", Content: "Zqhour" + n + " is said for an hour.", Expires: f.clock.now().Add(time.Hour)})
				f.turn(ragctx.Turn{ID: "t" + n, SessionID: "s", Prompt: "Zqturn" + n + " was asked.", Response: "Yes."})
				if j := f.await(f.spool("b" + n + "=Zqbulk" + n).ID); j.State != store.JobDone {
					t.Errorf("era %d: the job is %+v", era, j)
				}
				if _, _, err := f.Sessions().Views().Append(t.Context(), conv, view.AppendOptions{}, ragctx.TextMessage(ragctx.RoleUser, "message "+n)); err != nil {
					t.Fatal(err)
				}
				msg, err := f.Ledger().Append(t.Context(), clusterMessages("team", n))
				if err != nil || msg[0].Timestamp <= stamp.Timestamp || msg[0].Sequence <= stamp.Sequence {
					t.Errorf("era %d: the message %+v, %v does not follow %+v", era, msg, err, stamp)
				} else {
					stamp = msg[0]
				}
				if err := f.Documents().Delete(t.Context(), "", "deleted"); err != nil {
					t.Fatal(err)
				}
				if _, err := f.Documents().Erase(t.Context(), "", "erased"); err != nil {
					t.Fatal(err)
				}
				finds := func(word string, want bool) {
					t.Helper()
					got := false
					for _, it := range f.ask(query(word)).Items {
						got = got || strings.Contains(it.Content, word)
					}
					if got != want {
						t.Errorf("era %d: %s is found: %v", era, word, got)
					}
				}
				for i := range era + 1 {
					w := fmt.Sprint("era", i)
					for _, word := range []string{"Zq", "Zqmemory", "Zqturn", "Zqbulk"} {
						finds(word+w, true)
					}
					finds("Zqnewest"+w, i == era)
					finds("Zqhour"+w, i == era)
					finds("Zqdeleted"+w, false)
					finds("Zqerased"+w, false)
				}
				alive := f.clock.now().Before(passing)
				finds("Zqpassing", alive)
				if _, err := f.Keys().Authenticate(key.Text); (err == nil) != alive || err != nil && !errors.Is(err, ragctx.ErrUnauthenticated) {
					t.Errorf("era %d: the key: %v", era, err)
				}
				if !f.Keys().Needed() {
					t.Errorf("era %d: no key is asked for", era)
				}
				if d, _, err := f.Documents().Get(t.Context(), "", "newest", 0); err != nil || d.Version != era+1 {
					t.Errorf("era %d: the newest version is %d, %v", era, d.Version, err)
				}
				if a, _, err := convo.Export(t.Context(), f.Sessions().Storage(), conv); err != nil || len(a.Entries) != era+1 {
					t.Errorf("era %d: the session is %+v, %v", era, a, err)
				}
				if m, err := f.Ledger().Messages(t.Context(), ledger.Query{Filter: ledger.Filter{Cluster: "team"}}); err != nil || len(m) != era+1 {
					t.Errorf("era %d: %d messages in the ledger, %v", era, len(m), err)
				}
				if n := tracesIn(t, f.opts.Dir, "Zqerased"); len(n) != 0 {
					t.Errorf("era %d: what was erased is in %v", era, n)
				}
			}
			if r, err := f.Admin().Doctor(t.Context(), engine.DoctorOptions{Searching: -1}); err != nil || !r.Sound() {
				t.Errorf("the checkup: %+v, %v", r.Store.Findings, err)
			}
		})
	}
}
