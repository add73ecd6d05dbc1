//go:build unix

package vector

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// A mapped file that shrinks is an error, not the end of the process.
func TestTruncatedWhileMapped(t *testing.T) {
	q := index.VectorQuery{Vector: []float32{1, 0, 0, 0}, K: 5}
	for name, use := range map[string]func(s *stored) error{
		"Search": func(s *stored) error {
			_, err := s.Search(t.Context(), q)
			return err
		},
		"Apply":   func(s *stored) error { return s.Apply(t.Context(), 9, nil, []uint64{45_000}) },
		"Compact": func(s *stored) error { return s.Compact(t.Context()) },
		"Similarity": func(s *stored) error {
			if _, ok := s.Similarity(q.Vector)(80_000); ok {
				t.Error("Similarity has an answer")
			}
			return s.usable(t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := Options{Dir: dir, Dimensions: 4, FlushChanges: 1 << 20}
			s := mustOpen(t, o)
			chunks := random(rand.New(rand.NewPCG(1, 1)), 0, 50_000, 4)
			for i := range chunks {
				chunks[i].ID *= 2 // no id can be guessed
			}
			fill(t, s, chunks)
			mustFlush(t, s)
			if err := s.Apply(t.Context(), 2, nil, []uint64{0}); err != nil {
				t.Fatal(err)
			}
			for _, f := range segmentFiles(t, dir) {
				if err := os.Truncate(f, 100); err != nil {
					t.Fatal(err)
				}
			}
			if err := use(s); err == nil {
				t.Error("no error")
			}
			if _, err := s.Search(t.Context(), q); err == nil {
				t.Error("Search after it: no error")
			}
			_ = s.Close()
			if again := mustOpen(t, o); again.Recovered() == "" || again.Cursor() != 0 {
				t.Errorf("reopened: recovered %q, Cursor %d", again.Recovered(), again.Cursor())
			}
		})
	}
}
