package engine_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store/postgres/pgtest"
)

var (
	modelSeed = flag.Uint64("model.seed", 0, "seed of TestModel; 0 draws one")
	modelOps  = flag.Int("model.ops", 0, "operations of TestModel; 0 is 5,000, or 500 with -short or a server")
)

// TestModel compares an engine with a model that holds everything in plain maps.
// Both are taken through the same long row of random operations; after each
// write both legs must find what was written, and no answer ever may hold what
// the model does not show. Between operations the engine is closed and opened,
// or crashes, and its indexes are lost or damaged. The row follows from the seed
// alone:
//
//	go test ./engine -run TestModel -model.seed=SEED -model.ops=200000
func TestModel(t *testing.T) {
	m := newMachine(t, nil)
	if testing.Short() {
		m.ops = cmp.Or(*modelOps, shortModelOps)
	}
	m.runAll()
}

// TestModelOnPostgres does the same with the store in a PostgreSQL server.
func TestModelOnPostgres(t *testing.T) {
	newMachine(t, pgtest.Start(t, false)).runAll()
}

// TestModelOfNodesOnPostgres asks another engine than the one that writes: one that follows it. Both share a
// database, and each has its own indexes.
func TestModelOfNodesOnPostgres(t *testing.T) {
	m := newMachine(t, pgtest.Start(t, false), func(m *machine) { m.nodes = true })
	m.runAll()
}

func (m *machine) runAll() {
	for m.done = range m.ops {
		if m.done%10_000 == 0 {
			m.Logf("seed %d, %d operations of %d, %d spaces of %d", m.seed, m.done, m.ops, len(m.world.spaces), m.world.made)
		}
		m.step()
	}
	m.finish()
}

// machine is the engine, the model, and the dice.
type machine struct {
	*testing.T

	seed  uint64
	ops   int
	done  int
	rand  *rand.Rand
	clock *stepClock
	opts  engine.Options
	eng   *engine.Engine
	world *world
	// active is where operations happen, but for a look at older spaces now and
	// then: so a collection stays small enough for the model to search.
	active []*modelSpace

	saved *saved // an older copy of the database
	snap  *saved // a snapshot
	// server has the store; nil is a file.
	server    *pgtest.Server
	databases int
	// nodes says that a follower of eng is asked instead of it. The follower has its own directory.
	nodes     bool
	follower  *engine.Engine
	following string
	// wentBack is set after the database was replaced by an older copy, which is refused unless accepted.
	wentBack bool
	hurt     bool // a file of an index was damaged
	tokens   int  // words made so far
	ids      atomic.Int64
	uses     map[string]int // texts that a token is in
	log      []string       // the last operations
	counts   map[string]int // by name
}

// stepClock stands still while an operation runs, so that the model knows every
// time exactly.
type stepClock struct{ micros atomic.Int64 }

func (c *stepClock) now() time.Time { return time.UnixMicro(c.micros.Load()).UTC() }

const (
	activeSpaces = 3
	keptSpaces   = 8    // more are emptied, so that a long row costs no more per operation than a short one
	spaceOps     = 1500 // operations after which the oldest active space is no longer active, in short rows fewer
	keptLog      = 30
	keptVersions = 4 // of a document; few, so that old ones are pruned all the time
)

// Operations of TestModel by default.
const (
	defaultModelOps = 5000
	shortModelOps   = 500
)

func newMachine(t *testing.T, server *pgtest.Server, change ...func(*machine)) *machine {
	m := &machine{
		T: t, seed: *modelSeed, ops: cmp.Or(*modelOps, defaultModelOps), clock: new(stepClock), world: new(world),
		uses: make(map[string]int), counts: make(map[string]int), server: server,
	}
	if server != nil { // which takes ten times as long
		m.ops = cmp.Or(*modelOps, shortModelOps)
	}
	for m.seed == 0 {
		m.seed = uint64(rand.Uint32())
	}
	m.rand = rand.New(rand.NewPCG(m.seed, 1))
	m.clock.micros.Store(t0.UnixMicro())
	m.opts = engine.Options{
		Dir: t.TempDir(), Now: m.clock.now,
		KeepVersions: keptVersions, MaxWorking: maxWorking,
		NewID: func() string { return fmt.Sprintf("made-%d", m.ids.Add(1)) },
	}
	for _, c := range change {
		c(m)
	}
	t.Cleanup(m.report)
	m.newDatabase()
	m.open()
	for range activeSpaces {
		m.addSpace()
	}
	return m
}

// newDatabase makes an empty database, if the store is in a server.
func (m *machine) newDatabase() {
	if m.server != nil {
		m.databases++
		m.opts.Store = m.server.Database(m, fmt.Sprint("model", m.databases))
		m.following = m.TempDir()
	}
}

// report says how to see a failure again.
func (m *machine) report() {
	if m.follower != nil {
		m.follower.Close()
	}
	if m.eng != nil {
		m.eng.Close()
	}
	m.Logf("seed %d, %d operations: %v", m.seed, m.done+1, m.counts)
	if !m.Failed() {
		return
	}
	m.Logf("operation %d of the row of seed %d failed; see it again with\n\tgo test ./engine -run TestModel -model.seed=%d -model.ops=%d\nThe last operations:\n%s",
		m.done, m.seed, m.seed, m.ops, strings.Join(m.log, "\n"))
}

// note remembers an operation for the report.
func (m *machine) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf("%6d ", m.done)+fmt.Sprintf(format, args...))
	m.log = m.log[max(0, len(m.log)-keptLog):]
}

// operation is something that can happen, and how often it does.
type operation struct {
	name   string
	weight int
	run    func(*machine)
}

var operations = []operation{
	{"put", 240, (*machine).putDocument},
	{"delete", 60, (*machine).deleteDocument},
	{"turn", 160, (*machine).turn},
	{"remember", 120, (*machine).remember},
	{"forget", 50, (*machine).forget},
	{"topic", 60, (*machine).searchTopic},
	{"near", 50, (*machine).searchNear},
	{"past", 60, (*machine).searchPast},
	{"gone", 60, (*machine).searchGone},
	{"ask", 30, (*machine).ask},
	{"get", 40, (*machine).get},
	{"list", 20, (*machine).list},
	{"bulk", 8, (*machine).bulk},
	{"reembed", 2, (*machine).reembed},
	{"erase", 6, (*machine).erase},
	{"snapshot", 3, (*machine).snapshot},
	{"restart", 8, (*machine).restart},
}

func (m *machine) step() {
	m.tick()
	if m.done > 0 && m.done%min(spaceOps, 1+m.ops/3) == 0 {
		m.active = slices.Delete(m.active, 0, 1)
		m.addSpace()
		m.retireSpaces()
	}
	total := 0
	for _, o := range operations {
		total += o.weight
	}
	n := m.rand.IntN(total)
	for _, o := range operations {
		if n -= o.weight; n < 0 {
			m.counts[o.name]++
			o.run(m)
			return
		}
	}
}

// tick moves the clock: often not at all, mostly by little, seldom by hours.
func (m *machine) tick() {
	steps := [...]time.Duration{
		0, time.Microsecond, time.Microsecond, time.Millisecond, time.Millisecond, time.Second, time.Minute,
	}
	d := pick(m, steps[:])
	if m.rand.IntN(200) == 0 {
		d = time.Duration(m.rand.IntN(48)) * time.Hour
	}
	m.clock.micros.Add(d.Microseconds())
}

func (m *machine) addSpace() {
	s := newSpace(fmt.Sprintf("space-%d", m.world.made))
	m.world.made++
	m.world.spaces = append(m.world.spaces, s)
	m.active = append(m.active, s)
}

// space returns where the next operation happens.
func (m *machine) space() *modelSpace {
	if m.rand.IntN(25) == 0 {
		return pick(m, m.world.spaces)
	}
	return pick(m, m.active)
}

// dice returns dice of its own for choices that depend on which files there are
// and how long they are: that differs from run to run, and the row must not.
func (m *machine) dice() *rand.Rand { return rand.New(rand.NewPCG(m.rand.Uint64(), 2)) }

func pick[T any](m *machine, from []T) T { return from[m.rand.IntN(len(from))] }

// chance is true in one of n cases.
func (m *machine) chance(n int) bool { return m.rand.IntN(n) == 0 }

// finish compares everything at the end, as it is and after a last opening.
func (m *machine) finish() {
	m.compareAll(m.world.spaces)
	m.wantSound()
	m.closeEngine()
	m.open()
	m.compareAll(m.world.spaces)
	m.wantEmptied(m.world.relics)
}
