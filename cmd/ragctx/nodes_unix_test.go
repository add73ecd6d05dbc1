//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/internal/store/postgres/pgtest"
)

// nodeCount is the number of servers over one database.
const nodeCount = 3

// TestNodesOnPostgres kills one server after another of three that share a database, the one that writes most of
// all. Then that one hangs for as long as it takes another one to lead, and goes on. Each acknowledged write is found through every node at once, nothing deleted is found, and the other nodes
// answer meanwhile.
func TestNodesOnPostgres(t *testing.T) {
	t.Setenv("RAGCTX_STORE", pgtest.Start(t, true).Database(t, "nodes"))
	c := &cluster{T: t, longest: make([]time.Duration, 3)}
	for i := range nodeCount {
		c.dirs[i] = t.TempDir()
		c.begin(i)
	}
	life, end := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() { c.write(life, i) })
		wg.Go(func() { c.question(life, i) })
	}
	for round := range 5 {
		time.Sleep(2 * time.Second)
		victim := c.leader()
		if round%3 == 2 {
			victim = (victim + 1) % nodeCount
		}
		c.stop(victim)
		time.Sleep(time.Second)
		c.begin(victim)
	}
	c.hang(c.leader())
	time.Sleep(time.Second)
	end()
	wg.Wait()
	if c.written.Load() == 0 || c.asked.Load() == 0 {
		t.Error("nothing was put to the test")
	}
	t.Logf("%d writes acknowledged, %d refused or cut off; %d questions answered, %d not; longest wait for an answer %v",
		c.written.Load(), c.refused.Load(), c.asked.Load(), c.silent.Load(), c.longest)
}

// cluster is a group of servers over one database.
type cluster struct {
	*testing.T

	dirs [nodeCount]string

	mu    sync.RWMutex
	nodes [nodeCount]*server
	urls  [nodeCount]string // "" of one that does not run

	written, refused, asked, silent atomic.Int64
	longest                         []time.Duration // by questioner
}

// begin starts a server and waits until it answers.
func (c *cluster) begin(i int) {
	s := startServer(c.T, c.dirs[i])
	url, err := s.url()
	if err != nil {
		c.Fatalf("node %d: %v\n%s", i, err, s.stderr.String())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[i], c.urls[i] = s, url
	c.Cleanup(func() { _ = s.cmd.Process.Signal(os.Kill); _ = s.cmd.Wait() })
}

// stop kills a server.
func (c *cluster) stop(i int) {
	c.mu.Lock()
	s := c.nodes[i]
	c.urls[i] = ""
	c.mu.Unlock()
	_ = s.cmd.Process.Signal(syscall.SIGKILL)
	_ = s.cmd.Wait()
}

// hang stops the node that leads without ending it, until another one leads. When it goes on, it notices that and ends.
func (c *cluster) hang(i int) {
	c.mu.Lock()
	s, url := c.nodes[i], c.urls[i]
	c.urls[i] = "" // whoever asks it already waits
	c.mu.Unlock()
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		c.Fatal(err)
	}
	began := time.Now()
	next := c.leader()
	c.Logf("node %d hangs, and node %d leads after %v", i, next, time.Since(began).Round(time.Second))
	time.Sleep(time.Second)
	c.mu.Lock()
	c.urls[i] = url
	c.mu.Unlock()
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		c.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		c.Fatal("a node that was replaced goes on")
	}
	c.mu.Lock()
	c.urls[i] = ""
	c.mu.Unlock()
	c.begin(i)
}

// leader returns the node that writes.
func (c *cluster) leader() int {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		for i := range nodeCount {
			c.mu.RLock()
			runs := c.urls[i] != ""
			c.mu.RUnlock()
			if !runs {
				continue
			}
			if st, err := c.node(i).Status(c.Context()); err == nil && st.Leads {
				return i
			}
		}
	}
	c.Fatal("no node leads")
	return 0
}

// node returns a client of a node; of another one, if it does not run.
func (c *cluster) node(i int) *api.Client {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for c.urls[i] == "" {
		i = (i + 1) % nodeCount
	}
	return api.NewClient(c.urls[i])
}

// write stores, replaces and deletes documents through all nodes, and looks for each through another node.
func (c *cluster) write(ctx context.Context, writer int) {
	dice := rand.New(rand.NewPCG(uint64(writer), 1))
	known := make(map[string]string) // ids and the words of their texts; "" is deleted
	var lives [40]int                // the next id of a slot, once a write of the one before was cut off, which may still be done
	for n := 0; ctx.Err() == nil; n++ {
		slot := dice.IntN(len(lives))
		id := fmt.Sprintf("w%d-%d-%d", writer, slot, lives[slot])
		word := fmt.Sprintf("zq%dx%dv", writer, n)
		at := c.node(dice.IntN(nodeCount))
		var err error
		if known[id] != "" && dice.IntN(3) == 0 {
			word = ""
			err = at.DeleteDocument(ctx, "default", id)
		} else {
			_, err = at.PutDocument(ctx, "default", ragctx.Document{ExternalID: id, Text: "The word of the hour is " + word + "."}, "")
		}
		at.Close()
		if err != nil {
			c.refused.Add(1)
			delete(known, id) // either may hold
			lives[slot]++
			if code, _ := ragctx.CodeOf(err); ctx.Err() == nil && code != "unavailable" && !strings.Contains(err.Error(), "EOF") {
				c.Logf("a write failed: %v", err)
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		c.written.Add(1)
		before := known[id]
		known[id] = word
		c.check(ctx, dice.IntN(nodeCount), id, word, true)
		c.check(ctx, dice.IntN(nodeCount), id, before, false)
	}
	if c.Failed() {
		return
	}
	for id, word := range known {
		for i := range nodeCount {
			c.check(c.Context(), i, id, word, true)
		}
	}
}

// check requires that a node finds a document by a word, or that it does not.
func (c *cluster) check(ctx context.Context, node int, id, word string, want bool) {
	if word == "" {
		return
	}
	at := c.node(node)
	defer at.Close()
	found, err := at.Search(ctx, ragctx.NewQuery(word))
	if err != nil || len(found.Degraded) > 0 {
		return // killed meanwhile
	}
	for _, it := range found.Items {
		if strings.Contains(it.Content, word) {
			if !want {
				c.Errorf("%s is found by %s, which it no longer has", id, word)
			}
			return
		}
	}
	if want {
		c.Errorf("%s is not found by %s", id, word)
	}
}

// question asks the nodes, each after the other, and measures how long there is no answer.
func (c *cluster) question(ctx context.Context, asker int) {
	last := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		at := c.node(n % nodeCount)
		short, end := context.WithTimeout(ctx, time.Second)
		_, err := at.Context(short, ragctx.NewQuery("what is the word of the hour?"))
		end()
		at.Close()
		if err != nil {
			c.silent.Add(1)
			continue
		}
		c.asked.Add(1)
		c.longest[asker] = max(c.longest[asker], time.Since(last))
		last = time.Now()
		time.Sleep(10 * time.Millisecond)
	}
}
