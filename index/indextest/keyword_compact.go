package indextest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// goneID is the id of a deleted chunk; its bytes occur nowhere else.
const goneID = 0xA1B2_C3D4_E5F6_0718

// wantNowhere checks that no file under dir contains one of the patterns.
func wantNowhere(t *testing.T, dir string, patterns ...[]byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		for _, p := range patterns {
			if at := bytes.Index(b, p); at >= 0 {
				t.Errorf("%s holds %x of a deleted chunk, at %d", filepath.Base(name), p, at)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// idPatterns returns the possible encodings of an id.
func idPatterns(id uint64) [][]byte {
	return [][]byte{binary.LittleEndian.AppendUint64(nil, id), binary.BigEndian.AppendUint64(nil, id)}
}

// keywordCompact deletes a chunk among others, alone, and together with the last other one. Indexes
// that encode terms check for them in tests of their own.
func keywordCompact(t *testing.T, open OpenKeyword, compare compareKeyword) {
	for name, others := range map[string]int{"Alone": 0, "Few": 3, "Many": 60} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := &keywordIndex{t: t, ix: open(t, dir)}
			model := newKeywordModel()
			apply := func(upserts []index.TextChunk, deletes ...uint64) {
				l.apply(upserts, deletes...)
				model.apply(upserts, deletes)
			}
			apply([]index.TextChunk{{ID: goneID, Text: "common zyzzyva"}, {ID: 7, Text: "common keeps seven"}})
			for i := range others {
				apply([]index.TextChunk{{ID: uint64(100 + i), Text: fmt.Sprint("common word", i%5)}})
				if i%20 == 19 {
					l.flush()
				}
			}
			for range 2 {
				l.flush()
				apply(nil, goneID)
				l.compact()
				wantNowhere(t, dir, append(idPatterns(goneID), []byte("zyzzyva"))...)
				compare(model, l, "common zyzzyva word1 seven")
				apply([]index.TextChunk{{ID: goneID, Text: "common zyzzyva"}})
			}
			apply(nil, goneID, 7)
			l.compact()
			wantNowhere(t, dir, idPatterns(goneID)...)
			if err := l.ix.Close(); err != nil {
				t.Fatal(err)
			}
			if l.ix = open(t, dir); l.ix.Cursor() == l.seq {
				compare(model, l, "common word1 seven")
			}
			if err := l.ix.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func (l *keywordIndex) compact() {
	l.t.Helper()
	if err := l.ix.Compact(context.Background()); err != nil {
		l.t.Fatalf("Compact: %v", err)
	}
}

// keywordCompactConcurrently compacts during changes and searches.
func keywordCompactConcurrently(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.put(1, "moving text")
	stop := l.concurrently(func(res index.KeywordResult) {
		if len(res.Hits) == 0 {
			t.Error("nothing was found while the index was compacted")
		}
	}, index.KeywordQuery{Text: "moving text", K: 5})
	done := make(chan error, 1)
	go func() {
		for range 3 {
			if err := l.ix.Compact(context.Background()); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for i := range uint64(60) {
		l.apply([]index.TextChunk{{ID: i, Text: fmt.Sprint("moving text ", i)}}, i/2)
		if i%20 == 19 {
			l.flush()
		}
	}
	if err := <-done; err != nil {
		t.Errorf("Compact: %v", err)
	}
	stop()
	if n := len(l.find("moving")); n != 30 {
		t.Errorf("%d chunks, want 30", n)
	}
}
