package keyword

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ragctx/ragctx/index"
)

func TestMain(m *testing.M) {
	if raceDetector { // a quarter of the random operations, unless the command line says otherwise
		if err := flag.Set("rapid.checks", "25"); err != nil {
			panic(err)
		}
	}
	if dir := os.Getenv("KEYWORD_CRASH_DIR"); dir != "" {
		crashChild(dir)
	}
	goleak.VerifyTestMain(m)
}

// Scores are identical, bit for bit, before and after scorch merges its segments.
func TestMergedScores(t *testing.T) {
	ix := mustOpen(t, t.TempDir(), Options{})
	chunks := benchChunks(600)
	for i := 0; i < len(chunks); i += 50 {
		var gone []uint64
		for id := i - 25; id >= 0 && id < i; id++ { // the last item before
			gone = append(gone, uint64(id))
		}
		if err := ix.Apply(t.Context(), uint64(i+1), chunks[i:i+50], gone); err != nil {
			t.Fatal(err)
		}
		flush(t, ix)
	}
	before := search(t, ix, "w0 w1 w5 w20 w333")
	s, ok := ix.store.(*scorchStore)
	if !ok {
		t.Fatalf("store is a %T", ix.store)
	}
	if err := s.index.ForceMerge(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	many := len(ix.view.Load().parts)
	flush(t, ix)
	if n := len(ix.view.Load().parts); n >= many && many > 1 {
		t.Errorf("%d segments after merging %d", n, many)
	}
	if diff := cmp.Diff(before, search(t, ix, "w0 w1 w5 w20 w333")); diff != "" {
		t.Errorf("merging changed the answer (-before +after):\n%s", diff)
	}
}

const crashChunks = 20 // of each batch

// crashChild applies and flushes batches until it is killed, and prints each durable cursor.
func crashChild(dir string) {
	ix, err := Open(dir, Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ctx := context.Background()
	for seq := ix.Cursor() + 1; ; seq++ {
		if err := ix.Apply(ctx, seq, crashBatch(seq), nil); err != nil {
			os.Exit(1)
		}
		if err := ix.Flush(ctx); err != nil {
			os.Exit(1)
		}
		fmt.Println(ix.Cursor())
	}
}

func crashBatch(seq uint64) (chunks []index.TextChunk) {
	for i := range uint64(crashChunks) {
		chunks = append(chunks, index.TextChunk{ID: seq*crashChunks + i, Item: seq, Text: fmt.Sprint("survivor batch", seq)})
	}
	return chunks
}

// All changes up to the cursor survive a kill of the process.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	for round := range 4 {
		promised := runAndKill(t, dir, 3+2*round)
		ix := mustOpen(t, dir, Options{})
		if ix.Recovered() != "" || ix.Cursor() < promised {
			t.Fatalf("recovered %q, Cursor %d, promised %d", ix.Recovered(), ix.Cursor(), promised)
		}
		if n := uint64(len(search(t, ix, "survivor").Hits)); n != min(ix.Cursor()*crashChunks, 1000) {
			t.Fatalf("%d chunks at cursor %d", n, ix.Cursor())
		}
		if err := ix.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// runAndKill kills a child after it has printed a number of cursors.
func runAndKill(t *testing.T, dir string, after int) (last uint64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "KEYWORD_CRASH_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if n == after {
			_ = cmd.Process.Kill()
		}
		if last, err = strconv.ParseUint(strings.TrimSpace(lines.Text()), 10, 64); err != nil {
			t.Fatalf("child says %q", lines.Text())
		}
	}
	_ = cmd.Wait()
	return last
}
