//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/ledger"
)

// TestKillLedger kills a server while agents append to its ledger and follow it.
// Nothing that was acknowledged is lost, batches are whole, the order holds, and
// subscribers go on where they were: they see each message once, in order, and none
// that is not stored. Seeds and rounds are those of TestKill.
func TestKillLedger(t *testing.T) {
	seed := cmp.Or(*killSeed, uint64(rand.Uint32()))
	t.Logf("-kill.seed=%d", seed)
	rounds := cmp.Or(*killRounds, 4)
	if testing.Short() && *killRounds == 0 {
		rounds = 2
	}
	k := &killLedger{killer: &killer{T: t, rand: rand.New(rand.NewPCG(seed, 2)), dir: t.TempDir()}}
	for i := range killFollowers {
		k.followers = append(k.followers, &follower{killLedger: k, filter: ledger.Filter{Namespace: "space", Cluster: "team"}})
		if i == 1 {
			k.followers[i].filter.Topics = []string{"ODD"}
		}
	}
	for k.round = range rounds {
		k.life()
		if k.round%2 == 0 || k.round == rounds-1 { // else the next server recovers the directory
			k.inspect()
		}
	}
	t.Logf("%d messages acknowledged", len(k.acked))
}

const (
	killWriters   = 6
	killFollowers = 3
)

// killLedger is the test's state.
type killLedger struct {
	*killer

	mu        sync.Mutex
	acked     []ledger.Message
	number    atomic.Int64 // of batches
	followers []*follower
}

// follower is a subscriber that outlives the server.
type follower struct {
	*killLedger

	filter ledger.Filter
	seen   []ledger.Message
}

func (f *follower) last() ledger.Sequence {
	if len(f.seen) == 0 {
		return 0
	}
	return f.seen[len(f.seen)-1].Sequence
}

// life is one life of the server under load.
func (k *killLedger) life() {
	s := k.start()
	url, err := s.url()
	if err != nil {
		k.Fatalf("round %d: the server did not start: %v\n%s", k.round, err, s.stderr.String())
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	k.killed.Store(false)
	var wg sync.WaitGroup
	for i := range killWriters {
		rng := rand.New(rand.NewPCG(k.rand.Uint64(), uint64(i)))
		wg.Go(func() { k.write(api.NewClient(url), rng, i) })
	}
	for _, f := range k.followers {
		wg.Go(func() { f.follow(ctx, url) })
	}
	time.Sleep(50*time.Millisecond + time.Duration(k.rand.IntN(int(400*time.Millisecond))))
	s.kill(k.killer)
	cancel()
	wg.Wait()
}

// write appends single messages and batches until the server is gone.
func (k *killLedger) write(c *api.Client, rng *rand.Rand, writer int) {
	defer c.Close()
	for !k.killed.Load() {
		n := k.number.Add(1)
		batch := make([]ledger.Message, 1+rng.IntN(3)*rng.IntN(20))
		for i := range batch {
			batch[i] = ledger.Message{
				Namespace: "space", Cluster: "team", Topic: []string{"EVEN", "ODD"}[rng.IntN(2)], Sender: fmt.Sprint(writer),
				Text: fmt.Sprintf("%d %d of %d", n, i, len(batch)), Data: fmt.Appendf(nil, "%q", bytes.Repeat([]byte("x"), rng.IntN(1000))),
			}
		}
		stored, err := c.AppendMessages(context.Background(), batch)
		if err != nil {
			if !k.killed.Load() {
				k.Errorf("round %d: %v", k.round, err)
			}
			return
		}
		k.mu.Lock()
		k.acked = append(k.acked, stored...)
		k.mu.Unlock()
	}
}

// follow goes on from where the follower was, until the server is gone.
func (f *follower) follow(ctx context.Context, url string) {
	c := api.NewClient(url)
	defer c.Close()
	for m, err := range c.FollowMessages(ctx, f.filter, f.last()) {
		if err != nil {
			if !errors.Is(err, context.Canceled) && !f.killed.Load() {
				f.Errorf("round %d: follow: %v", f.round, err)
			}
			return
		}
		f.seen = append(f.seen, m)
	}
}

// inspect opens what the server left, and recovers it.
func (k *killLedger) inspect() {
	eng, err := engine.Open(context.Background(), engine.Options{Dir: k.dir})
	if err != nil {
		k.Fatalf("round %d: the directory cannot be opened: %v", k.round, err)
	}
	defer eng.Close()
	stored, err := eng.Ledger().Messages(context.Background(), ledger.Query{Filter: ledger.Filter{Namespace: "space", Cluster: "team"}})
	if err != nil {
		k.Fatal(err)
	}
	k.inOrder(stored)
	byID := make(map[string]ledger.Message, len(stored))
	for _, m := range stored {
		byID[m.ID] = m
	}
	for _, m := range k.acked {
		if got := byID[m.ID]; got.Sequence != m.Sequence || got.Timestamp != m.Timestamp || got.Text != m.Text || !bytes.Equal(got.Data, m.Data) {
			k.Fatalf("round %d: acknowledged %+v, stored %+v", k.round, m, got)
		}
	}
	for i, f := range k.followers {
		f.compare(i, stored)
	}
}

// inOrder checks that sequence and time grow and that batches are whole.
func (k *killLedger) inOrder(stored []ledger.Message) {
	for i, m := range stored {
		if i > 0 && (m.Sequence <= stored[i-1].Sequence || m.Timestamp <= stored[i-1].Timestamp) {
			k.Fatalf("round %d: %+v follows %+v", k.round, m, stored[i-1])
		}
		var number, at, of int
		if _, err := fmt.Sscanf(m.Text, "%d %d of %d", &number, &at, &of); err != nil {
			k.Fatal(err)
		}
		if first := i - at; first < 0 || first+of > len(stored) || stored[first].Text != fmt.Sprintf("%d 0 of %d", number, of) {
			k.Fatalf("round %d: of the batch of %q a part is missing", k.round, m.Text)
		}
	}
}

// compare checks that a follower has seen the beginning of what is stored for it.
func (f *follower) compare(number int, stored []ledger.Message) {
	i := 0
	for _, m := range stored {
		if !f.filter.Matches(m) || i == len(f.seen) {
			continue
		}
		if f.seen[i].ID != m.ID {
			f.Fatalf("round %d: follower %d has seen %+v where %+v is stored", f.round, number, f.seen[i], m)
		}
		i++
	}
	if i < len(f.seen) {
		f.Fatalf("round %d: follower %d has seen %d messages that are not stored", f.round, number, len(f.seen)-i)
	}
}
