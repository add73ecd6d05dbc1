package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx/providers/docs/watch"
)

// TestAFileThatIsSeenAndGone: a file that appears after a scan and disappears before the next one
// may have been ingested. The caller is therefore called once more.
func TestAFileThatIsSeenAndGone(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.md")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	brief, calls := filepath.Join(dir, "brief.md"), make(chan struct{}, 100)
	var once sync.Once
	var running sync.WaitGroup
	running.Go(func() {
		err := watch.Paths(ctx, []string{dir}, watch.Options{Poll: 100 * time.Millisecond}, func(context.Context, watch.Change) error {
			calls <- struct{}{}
			var err error
			once.Do(func() {
				err = os.WriteFile(brief, []byte("brief"), 0o600)
				time.AfterFunc(50*time.Millisecond, func() { _ = os.Remove(brief) })
			})
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer stop()
	for range 2 {
		select {
		case <-calls:
		case <-time.After(patience):
			t.Fatal("what was seen is never looked at again")
		}
	}
}
