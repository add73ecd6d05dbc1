package main_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// This test measures one user's queries in a namespace that many users share:
//
//	go test . -run TestMemories -memories 1000000 -memories-dir DIR -timeout 2h -v
//
// A filled directory is reused. Every user has equally many turns, in sessions of twenty, and all
// users talk at once.
var (
	memories      = flag.Int("memories", 0, "how many turns TestMemories asks among; 0 leaves it out")
	memoriesDir   = flag.String("memories-dir", "", "where they are kept; \"\" is a temporary directory")
	memoriesUsers = flag.Int("memories-users", 10_000, "how many users share them")
	memoriesFacts = flag.Bool("memories-facts", false, "have every fourth turn say something that is learnt; "+
		"give it an own -memories-dir")
	memoriesRest = flag.Duration("memories-rest", 0, "how long to wait before they are asked; an index that "+
		"nothing is written to is tidied after 20 s")
	memoriesAsked = flag.Int("memories-asked", 2000, "how many questions are asked")
)

const (
	memorySession   = 20 // turns
	memoryWriters   = 64
	memoryNamespace = "shared"
)

// spoken generates sentences with a vocabulary of a language's size and word frequencies, whose words
// share few 4-grams.
type spoken struct {
	words

	vocabulary []string
}

func newSpoken(seed uint64) spoken {
	r := rand.New(rand.NewPCG(3, 3)) // all have one vocabulary
	s := spoken{words: newWords(seed)}
	for range vocabularySize {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString([...]string{
				"b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "w", "st", "tr",
				"ch", "pl",
			}[r.IntN(18)])
			b.WriteString([...]string{"a", "e", "i", "o", "u", "ea", "ou", "ai"}[r.IntN(8)])
			b.WriteString([...]string{"", "", "n", "r", "l", "s", "t", "m", "ck", "ng"}[r.IntN(10)])
		}
		s.vocabulary = append(s.vocabulary, b.String())
	}
	return s
}

func (s spoken) sentence(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = s.vocabulary[s.zipf.Uint64()]
		if s.r.IntN(2) == 0 { // half of what is said says nothing
			list[i] = [...]string{"the", "and", "to", "of", "a", "in", "is", "it", "you", "that"}[s.r.IntN(10)]
		}
	}
	return strings.Join(list, " ")
}

// harmful are the things to which generated users are allergic.
var harmful = strings.Fields("peanuts almonds walnuts milk eggs wheat soy fish shellfish sesame mustard " +
	"celery lupin latex pollen dust penicillin aspirin nickel wool cats dogs horses bees wasps")

// turn returns the nth turn of all users together.
func (s spoken) turn(n, users int, start time.Time) ragctx.Turn {
	user, nth := n%users, n/users
	prompt := s.sentence(6 + s.r.IntN(20))
	if *memoriesFacts && n%4 == 0 {
		prompt = fmt.Sprintf("I'm allergic to %s. %s", harmful[s.r.IntN(len(harmful))], prompt)
	}
	return ragctx.Turn{
		ID: fmt.Sprintf("t%d", n), Namespace: memoryNamespace, UserID: fmt.Sprintf("u%d", user), AgentID: "bench",
		SessionID: fmt.Sprintf("u%d-%d", user, nth/memorySession), Occurred: start.Add(time.Duration(nth) * 3 * time.Hour),
		Prompt: prompt, Response: s.sentence(10 + s.r.IntN(40)),
	}
}

var memoriesStart = time.Date(2025, 1, 1, 9, 0, 0, 0, time.UTC)

// fillMemories sends the missing turns.
func fillMemories(ctx context.Context, e *engine.Engine, note string, n, users int) error {
	done := 0
	if b, err := os.ReadFile(note); err == nil {
		_, _ = fmt.Sscan(string(b), &done)
	}
	start := time.Now()
	for from := done; from < n; {
		to := min(n, from+10_000)
		if err := sendTurns(ctx, e, from, to, users); err != nil {
			return err
		}
		from = to
		if err := os.WriteFile(note, fmt.Append(nil, from), 0o600); err != nil {
			return err
		}
		if from%50_000 == 0 {
			fmt.Printf("%d turns, %.0f a second\n", from, float64(from-done)/time.Since(start).Seconds())
		}
	}
	return nil
}

func sendTurns(ctx context.Context, e *engine.Engine, from, to, users int) error {
	var next atomic.Int64
	next.Store(int64(from))
	errs := make([]error, memoryWriters)
	var wg sync.WaitGroup
	for w := range memoryWriters {
		wg.Go(func() {
			s := newSpoken(uint64(from + w + 10))
			for errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= to {
					return
				}
				_, errs[w] = e.CompleteTurn(ctx, s.turn(i, users, memoriesStart))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// TestMemories asks questions of single users one after another. It reports latencies and the CPU time
// of all threads, which other programs hardly affect.
func TestMemories(t *testing.T) {
	if *memories <= 0 {
		t.Skip("-memories says how many")
	}
	dir := *memoriesDir
	if dir == "" {
		dir = t.TempDir()
	}
	start := time.Now()
	e, err := engine.Open(t.Context(), engine.Options{
		Dir: dir, Now: func() time.Time { return memoriesStart.AddDate(2, 0, 0) },
		FactExtraction: engine.FactExtraction{Off: !*memoriesFacts}, // made-up words teach nothing
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	if err := fillMemories(t.Context(), e, filepath.Join(dir, "turns-sent"), *memories, *memoriesUsers); err != nil {
		t.Fatal(err)
	}
	if err := e.Sessions().SettleAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d turns of %d users after %v", *memories, *memoriesUsers, time.Since(start).Round(time.Millisecond))
	if *memoriesRest > 0 {
		// This opens the index, which then finishes its background work.
		if _, err := e.Context(t.Context(), ragctx.ContextQuery{Query: "what was " +
			"said", Namespace: memoryNamespace, UserID: "u1"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(*memoriesRest)
	}
	s := newSpoken(1)
	ask := func(method string) ragctx.ContextQuery {
		q := ragctx.NewQuery(s.sentence(14))
		q.ContextTypes, q.Namespace = nil, memoryNamespace
		q.UserID = fmt.Sprintf("u%d", s.r.IntN(*memoriesUsers))
		if method == "time" {
			q.Query = "what did we talk about two sessions ago?"
		}
		if method == "recall" {
			q.Query = ""
		}
		return q
	}
	// Whole answers are measured twice, because the first question counts each term.
	for _, method := range []string{"context", "convex", "keyword", "vector", "time", "recall", "context"} {
		var took, used []time.Duration
		for i := range *memoriesAsked {
			q := ask(method)
			begin, before := time.Now(), processTime()
			switch method {
			case "convex", "keyword", "vector":
				_, _, err = e.Indexes().Hits(t.Context(), q,
					engine.HitsOptions{Kind: store.KindMemories, K: 20, Ranking: index.Ranking{Method: method}})
			default:
				_, err = e.Context(t.Context(), q)
			}
			if err != nil {
				t.Fatal(err)
			}
			if i >= *memoriesAsked/10 { // the first ones warm up
				took, used = append(took, time.Since(begin)), append(used, processTime()-before)
			}
		}
		t.Logf("%-8s %s; CPU time %s", method, percentiles(took), percentiles(used))
	}
}

// percentiles formats times, which it sorts.
func percentiles(times []time.Duration) string {
	slices.Sort(times)
	at := func(p int) time.Duration {
		return times[min(len(times)-1, len(times)*p/100)].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %v, p90 %v, p99 %v, max %v", at(50), at(90), at(99), at(100))
}
