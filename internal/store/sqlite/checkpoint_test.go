package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// bulk returns a document of 128 KB of what cannot be compressed.
func bulk(rng *rand.Rand, id string) (passage.PreparedDocument, store.Content) {
	b := make([]byte, 1<<17)
	for i := range b {
		b[i] = 'a' + byte(rng.IntN(26))
	}
	c := store.Content{Text: string(b)}
	c.Chunks = []store.Chunk{{Chunk: chunk.Chunk{Text: c.Text[:400], End: chunk.Pos{Byte: 400}}}}
	return passage.PreparedDocument{Document: ragctx.Document{ExternalID: id, Text: c.Text}}, c
}

// TestLogStaysShort writes much more than the log may hold, beside readers that
// always overlap.
func TestLogStaysShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), path, Options{KeepVersions: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ns, err := s.Namespace(t.Context(), "default", true)
	if err != nil {
		t.Fatal(err)
	}
	s.log.mu.Lock()
	s.log.limits = logLimits{copy: 10, reset: 80, full: 640}
	s.log.mu.Unlock()
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				_ = s.View(ctx, func(tx *sqlstore.Tx) error { // as long as a search
					var n int
					return tx.QueryRowContext(ctx, `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 500)
						SELECT count(*) + (SELECT count(*) FROM items) FROM c`).Scan(&n)
				})
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 1))
	longest := int64(0)
	for i := range 80 {
		d, c := bulk(rng, fmt.Sprint(i%3))
		d.Hash[0] = byte(i)
		if _, err := s.PutDocument(t.Context(), ns, d, "", c); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path + "-wal"); err == nil {
			longest = max(longest, st.Size())
		}
	}
	stop()
	wg.Wait()
	t.Logf("the log had %d MB at most", longest>>20)
	if longest > 2*640*4096 {
		t.Errorf("the log had %d bytes", longest)
	}
	if err := s.log.empty(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path + "-wal"); err != nil || st.Size() != 0 {
		t.Errorf("the emptied log: %v, %v", st.Size(), err)
	}
}
