package weaviate

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx/index"
)

// program names the server, of which tests start a cluster. It opens ports on all interfaces, so they run in a network namespace.
const program = "RAGCTX_TEST_WEAVIATE_PROGRAM"

// nodes are three Weaviate servers of one cluster.
type nodes struct {
	*testing.T

	running [3]*exec.Cmd
	logs    [3]bytes.Buffer
	dirs    [3]string
}

func (n *nodes) host(i int) string { return fmt.Sprintf("127.0.0.1:%d", 8180+i) }

// start starts a node, which joins one of the others.
func (n *nodes) start(i int) {
	n.Helper()
	gossip := func(i int) int { return 7200 + 2*i }
	raft := func(i int) string { return fmt.Sprintf("wv%d:%d", i, 8400+2*i) }
	cmd := exec.Command(os.Getenv(program), "--scheme", "http", "--host", "127.0.0.1", "--port", fmt.Sprint(8180+i))
	join := ""
	if other := (i + 1) % len(n.running); i > 0 || n.running[other] != nil {
		join = fmt.Sprintf("127.0.0.1:%d", gossip(other))
		if n.running[other] == nil {
			join = fmt.Sprintf("127.0.0.1:%d", gossip(0))
		}
	}
	cmd.Env = append(os.Environ(),
		"AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=true", "PERSISTENCE_DATA_PATH="+n.dirs[i], "DEFAULT_VECTORIZER_MODULE=none",
		"ENABLE_MODULES=", "DISABLE_TELEMETRY=true", "GO_PROFILING_DISABLE=true", "LOG_LEVEL=error", "GOMEMLIMIT=2GiB",
		fmt.Sprint("CLUSTER_HOSTNAME=wv", i), "CLUSTER_IN_LOCALHOST=true", "CLUSTER_BIND_ADDR=127.0.0.1", "CLUSTER_ADVERTISE_ADDR=127.0.0.1",
		fmt.Sprint("CLUSTER_ADVERTISE_PORT=", gossip(i)), fmt.Sprint("CLUSTER_GOSSIP_BIND_PORT=", gossip(i)),
		fmt.Sprint("CLUSTER_DATA_BIND_PORT=", gossip(i)+1), "CLUSTER_JOIN="+join, fmt.Sprint("RAFT_PORT=", 8400+2*i),
		fmt.Sprint("RAFT_INTERNAL_RPC_PORT=", 8401+2*i), "RAFT_JOIN="+strings.Join([]string{raft(0), raft(1), raft(2)}, ","),
		"RAFT_BOOTSTRAP_EXPECT=3", fmt.Sprint("GRPC_PORT=", 50151+i), "MEMBERLIST_FAST_FAILURE_DETECTION=true",
	)
	cmd.Stdout, cmd.Stderr = &n.logs[i], &n.logs[i]
	if err := cmd.Start(); err != nil {
		n.Fatal(err)
	}
	n.running[i] = cmd
}

// await waits until a node is ready.
func (n *nodes) await(i int) {
	n.Helper()
	n.within(2*time.Minute, "a node is not ready", func() bool {
		resp, err := http.Get("http://" + n.host(i) + "/v1/.well-known/ready")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// stop kills a node.
func (n *nodes) stop(i int) {
	if c := n.running[i]; c != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
		n.running[i] = nil
	}
}

func (n *nodes) within(limit time.Duration, problem string, ok func() bool) {
	n.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(300 * time.Millisecond) {
		if time.Now().After(end) {
			for i := range n.logs {
				n.Logf("node %d:\n%s", i, n.logs[i].String())
			}
			n.Fatal(problem)
		}
	}
}

// past is a feed of the changes that were made so far.
type past []index.Batch

func (p *past) All(ctx context.Context, apply func(index.Batch) error) error {
	return ctx.Err()
}

func (p *past) Follow(_ context.Context, after uint64, _ index.Want) (b index.Batch, err error) {
	for _, b := range *p {
		if b.Seq > after {
			b.Add = slices.Clone(b.Add)
			return b, nil
		}
	}
	return index.Batch{Seq: after}, nil
}

// TestDeletedWhileNodeIsAway removes chunks while a node of the cluster is away. When it is back, no search finds them, and after a sweep
// no node has them. The same deletion without its time brings them back, so the test can see that.
func TestDeletedWhileNodeIsAway(t *testing.T) {
	if os.Getenv(program) == "" {
		t.Skipf("no Weaviate server: %s is not set; tools/cluster/weaviate.sh sets it", program)
	}
	n := &nodes{T: t}
	for i := range n.running {
		n.dirs[i] = t.TempDir()
		t.Cleanup(func() { n.stop(i) })
		n.start(i)
	}
	for i := range n.running {
		n.await(i)
	}
	p, err := New(Options{
		URL: "weaviate://" + n.host(0) + "," + n.host(1) + "," + n.host(2),
		Now: func() time.Time { return time.Now().Add(-time.Minute) }, // a clock that is behind those of the nodes
	})
	if err != nil {
		t.Fatal(err)
	}
	p.client.slack = time.Minute
	for i, timed := range []bool{true, false} {
		t.Run(fmt.Sprint("timed=", timed), func(t *testing.T) {
			n.T = t
			n.deleteWhileAway(p, int64(i+1), timed)
		})
	}
}

// removed is the number of chunks that a test removes, of twice as many.
const removed = 30

func (n *nodes) deleteWhileAway(p *Opener, namespace int64, timed bool) {
	n.Helper()
	ctx := n.Context()
	feed := &past{}
	o := index.Opening{
		Collection: index.Collection{Namespace: namespace, Kind: "documents"}, Feed: feed,
		Space: index.Space{Name: "2", Dimensions: 2, Identity: "test"},
	}
	e, err := p.Open(ctx, o)
	if err != nil {
		n.Fatal(err)
	}
	defer e.Close()
	add := index.Batch{Seq: 1}
	for id := uint64(1); id <= 2*removed; id++ {
		add.Add = append(add.Add, index.Chunk{
			ID: id, Seq: 1, Item: &index.Item{ID: id, Recorded: time.Now()}, Text: fmt.Sprint("walrus ", id), Vector: []float32{1, float32(id)},
		})
	}
	change := func(b index.Batch) {
		n.Helper()
		*feed = append(*feed, b)
		if err := e.CatchUp(ctx, b.Seq); err != nil {
			n.Fatal(err)
		}
	}
	change(add)
	// stored counts the chunks that are in the copy of each node, of both classes.
	stored := func() (sum [3]int) {
		for _, class := range []string{p.wordClass("documents"), p.vectorClass("documents", "2")} {
			x := tenant{client: p.client, class: class, name: tenantName(o.Collection), follows: p.follows}
			for i := range n.running {
				_ = x.storedAt(ctx, i, func(chunks []uint64) error { sum[i] += len(chunks); return nil })
			}
		}
		return sum
	}
	all := func(count int) func() bool {
		return func() bool { return stored() == [3]int{2 * count, 2 * count, 2 * count} }
	}
	n.within(time.Minute, "the chunks do not reach every node", all(2*removed))

	n.stop(2)
	gone := index.Batch{Seq: 2}
	for id := uint64(1); id <= removed; id++ {
		gone.Removed = append(gone.Removed, index.Removal{Item: id, Chunks: []uint64{id}})
	}
	if !timed {
		n.deleteWithoutTime(p, o.Collection, gone.Removed)
	}
	change(gone)
	n.start(2)
	n.await(2)
	back := time.Now()
	n.finds(e, 2*removed)
	if !timed {
		n.within(time.Minute, "nothing comes back without the time of the deletion: the test sees nothing", func() bool {
			return slices.Max(func() []int { s := stored(); return s[:2] }()) > 2*removed
		})
	}
	time.Sleep(time.Until(back.Add(time.Minute)))
	before := stored()
	n.finds(e, 2*removed)
	deleted, err := e.(hybrid).Sweep(ctx)
	if err != nil {
		n.Fatal(err)
	}
	if timed && slices.Max(before[:]) > 2*removed {
		n.Errorf("deleted chunks came back although their deletion had a time: the nodes have %v objects", before)
	}
	n.Logf("a minute after the return the nodes have %v objects; the sweep deleted %d", before, deleted)
	n.within(10*time.Second, "the index is not clean after a sweep", all(removed))
	n.finds(e, 2*removed)
}

// deleteWithoutTime deletes chunks as a client does that does not know of the time of a deletion.
func (n *nodes) deleteWithoutTime(p *Opener, c index.Collection, gone []index.Removal) {
	n.Helper()
	ids := make([]string, len(gone))
	for i, r := range gone {
		ids[i] = objectID(r.Chunks[0])
	}
	for _, class := range []string{p.wordClass(c.Kind), p.vectorClass(c.Kind, "2")} {
		body := map[string]any{"match": map[string]any{
			"class": class, "where": map[string]any{"path": []string{"id"}, "operator": "ContainsAny", "valueTextArray": ids},
		}}
		to := "/batch/objects?consistency_level=QUORUM&tenant=" + tenantName(c)
		if err := p.do(n.Context(), writeTime, http.MethodDelete, to, body, nil); err != nil {
			n.Fatal(err)
		}
	}
}

// finds requires that a search for all chunks finds no removed one, and the others unless it is degraded.
func (n *nodes) finds(e index.Engine, k int) {
	n.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(300 * time.Millisecond) {
		f, err := e.Retrieve(n.Context(), index.Retrieval{
			Where: index.Where{Now: time.Now()}, Text: "walrus", Vector: []float32{1, 1}, Space: "2", WordDepth: k, VectorDepth: k,
		})
		for _, c := range f.Candidates {
			if c.ID <= removed {
				n.Fatalf("the removed chunk %d is found", c.ID)
			}
		}
		if err == nil && len(f.Degraded) == 0 && len(f.Candidates) == removed {
			return
		}
		if time.Now().After(end) {
			n.Fatalf("%d chunks are found, degraded %v, %v", len(f.Candidates), f.Degraded, err)
		}
	}
}
