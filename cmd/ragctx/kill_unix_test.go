//go:build unix

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store/postgres/pgtest"
)

var (
	killSeed   = flag.Uint64("kill.seed", 0, "seed of TestKill; 0 draws one")
	killRounds = flag.Int("kill.rounds", 0, "how often TestKill kills; 0 is 10, or 3 with -short")
)

// TestKill kills a server at random moments, as it starts, as it recovers and
// under load, and looks each time at what a new process makes of the directory:
// every acknowledged write is found by both legs, nothing is there by half,
// nothing deleted comes back.
//
//	go test ./cmd/ragctx -run TestKill -kill.rounds=200
func TestKill(t *testing.T) {
	rounds := killsByDefault
	if testing.Short() {
		rounds = 3
	}
	newKiller(t, nil).runAll(rounds)
}

// TestKillOnPostgres does the same with the store in a PostgreSQL server, which goes on.
func TestKillOnPostgres(t *testing.T) { newKiller(t, pgtest.Start(t, true)).runAll(killsByDefault) }

func newKiller(t *testing.T, database *pgtest.Server) *killer {
	k := &killer{T: t, seed: *killSeed, dir: t.TempDir(), database: database}
	for k.seed == 0 {
		k.seed = uint64(rand.Uint32())
	}
	t.Cleanup(func() { t.Logf("go test ./cmd/ragctx -run TestKill -kill.seed=%d; %v", k.seed, &k.total) })
	k.rand = rand.New(rand.NewPCG(k.seed, 1))
	return k
}

func (k *killer) runAll(rounds int) {
	for k.round = range cmp.Or(*killRounds, rounds) {
		if k.round%freshAfter == 0 {
			k.fresh()
		}
		k.once()
		if k.Failed() {
			k.Fatalf("round %d failed", k.round)
		}
	}
}

// killsByDefault is the number of rounds without the flag.
const killsByDefault = 10

// freshAfter rounds a new directory is begun, as each round copies the old one.
const freshAfter = 20

// killer runs the rounds.
type killer struct {
	*testing.T

	seed  uint64
	rand  *rand.Rand
	round int
	dir   string
	// database has the store, at URL store; nil is a file.
	database *pgtest.Server
	store    string

	clients []*killClient
	killed  atomic.Bool
	total   killCount
}

// killCount counts what was put to the test.
type killCount struct{ kills, early, acknowledged, flying, flyingDone atomic.Int64 }

// String implements [fmt.Stringer].
func (c *killCount) String() string {
	return fmt.Sprintf("%d kills (%d before the server served), %d writes acknowledged, %d cut off of which %d were done",
		c.kills.Load(), c.early.Load(), c.acknowledged.Load(), c.flying.Load(), c.flyingDone.Load())
}

// fresh begins with an empty directory.
func (k *killer) fresh() {
	k.dir = k.TempDir()
	if k.database != nil {
		k.store = k.database.Database(k, fmt.Sprint("kill", k.round))
		k.Setenv("RAGCTX_STORE", k.store)
	}
	k.clients = nil
	for i := range killClients {
		k.clients = append(k.clients, newClient(k, i))
	}
}

// once is one life of the server, its end, and the look at what it left.
func (k *killer) once() {
	s := k.start()
	if k.rand.IntN(4) == 0 {
		time.Sleep(time.Duration(k.rand.IntN(int(120 * time.Millisecond))))
		k.total.early.Add(1)
		s.kill(k)
	} else {
		k.load(s)
	}
	k.total.kills.Add(1)
	k.inspect()
}

// load has all clients work until the server is killed.
func (k *killer) load(s *server) {
	url, err := s.url()
	if err != nil {
		k.Fatalf("round %d: the server did not start: %v\n%s", k.round, err, s.stderr.String())
	}
	k.killed.Store(false)
	var wg sync.WaitGroup
	for _, c := range k.clients {
		c.rand = rand.New(rand.NewPCG(k.seed, uint64(k.round)<<8|uint64(c.number)))
		wg.Go(func() { c.work(url) })
	}
	time.Sleep(50*time.Millisecond + time.Duration(k.rand.IntN(int(900*time.Millisecond))))
	s.kill(k)
	wg.Wait()
}

// server is a process of its own that serves the directory.
type server struct {
	cmd    *exec.Cmd
	stdout io.ReadCloser
	stderr bytes.Buffer
}

// start starts a server in the directory of the killer.
func (k *killer) start() *server { return startServer(k.T, k.dir) }

// startServer starts the command that TestMain has put into the path: this very
// program, which then does what ragctx does. before is what it is started with.
func startServer(t *testing.T, dir string, before ...string) *server {
	t.Helper()
	home := t.TempDir()
	line := slices.Concat(before, []string{"ragctx", "serve", "--addr", "127.0.0.1:0", "--data", dir, "--log-level", "warn"})
	s := &server{cmd: exec.Command(line[0], line[1:]...)}
	s.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
	s.cmd.Stderr = &s.stderr
	var err error
	if s.stdout, err = s.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// end asks the server to end, and returns its exit status.
func (s *server) end(t *testing.T, with os.Signal) int {
	t.Helper()
	if err := s.cmd.Process.Signal(with); err != nil {
		t.Fatalf("the server was gone: %v\n%s", err, s.stderr.String())
	}
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// url waits until the server says where it is.
func (s *server) url() (string, error) {
	r := bufio.NewReader(s.stdout)
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	go io.Copy(io.Discard, r) // ends with the process
	var url string
	_, err = fmt.Sscanf(line, "ragctx serves %s ", &url)
	return url, err
}

func (s *server) kill(k *killer) {
	k.killed.Store(true)
	if err := s.cmd.Process.Kill(); err != nil {
		k.Errorf("round %d: the server was gone before it was killed: %v\n%s", k.round, err, s.stderr.String())
	}
	_ = s.cmd.Wait()
	if ws, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		k.Errorf("round %d: the server ended by itself: %v\n%s", k.round, s.cmd.ProcessState, s.stderr.String())
	}
}

// inspect opens a copy of what the server left, so that the next server finds
// the directory as the kill left it.
func (k *killer) inspect() {
	k.noBytes()
	dir := filepath.Join(k.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(k.dir)); err != nil {
		k.Fatal(err)
	}
	defer os.RemoveAll(dir)
	eng, err := engine.Open(context.Background(), engine.Options{Dir: dir, Store: k.store})
	if err != nil {
		k.Fatalf("round %d: the directory cannot be opened: %v", k.round, err)
	}
	defer eng.Close()
	look := inspection{killer: k, eng: eng, rand: k.rand}
	look.await()
	for _, c := range k.clients {
		for _, r := range c.records {
			look.record(c, r)
		}
		for _, r := range c.records {
			look.group(r)
		}
	}
	look.counts()
}
