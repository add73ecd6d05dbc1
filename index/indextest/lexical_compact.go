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

// goneID is the id of a unit that is deleted; its bytes are nowhere else.
const goneID = 0xA1B2_C3D4_E5F6_0718

// wantNowhere checks that none of the patterns is in any file under dir.
func wantNowhere(t *testing.T, dir string, patterns ...[]byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		for _, p := range patterns {
			if at := bytes.Index(b, p); at >= 0 {
				t.Errorf("%s holds %x of a deleted unit, at %d", filepath.Base(name), p, at)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// idPatterns returns how an id may be written.
func idPatterns(id uint64) [][]byte {
	return [][]byte{binary.LittleEndian.AppendUint64(nil, id), binary.BigEndian.AppendUint64(nil, id)}
}

// lexicalCompact deletes a unit among others, alone, and together with the last
// other one. Legs that keep terms in a form of their own look for them in tests
// of their own.
func lexicalCompact(t *testing.T, open OpenLexical) {
	for name, others := range map[string]int{"Alone": 0, "Few": 3, "Many": 60} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := &lex{t: t, leg: open(t, dir)}
			model := newLexicalModel()
			apply := func(upserts []index.TextUnit, deletes ...uint64) {
				l.apply(upserts, deletes...)
				model.apply(upserts, deletes)
			}
			apply([]index.TextUnit{{ID: goneID, Text: "common zyzzyva"}, {ID: 7, Text: "common keeps seven"}})
			for i := range others {
				apply([]index.TextUnit{{ID: uint64(100 + i), Text: fmt.Sprint("common word", i%5)}})
				if i%20 == 19 {
					l.flush()
				}
			}
			for range 2 {
				l.flush()
				apply(nil, goneID)
				l.compact()
				wantNowhere(t, dir, append(idPatterns(goneID), []byte("zyzzyva"))...)
				model.compare(l, "common zyzzyva word1 seven")
				apply([]index.TextUnit{{ID: goneID, Text: "common zyzzyva"}})
			}
			apply(nil, goneID, 7)
			l.compact()
			wantNowhere(t, dir, idPatterns(goneID)...)
			if err := l.leg.Close(); err != nil {
				t.Fatal(err)
			}
			if l.leg = open(t, dir); l.leg.Cursor() == l.seq {
				model.compare(l, "common word1 seven")
			}
			if err := l.leg.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func (l *lex) compact() {
	l.t.Helper()
	if err := l.leg.Compact(context.Background()); err != nil {
		l.t.Fatalf("Compact: %v", err)
	}
}

// lexicalCompactBeside compacts beside changes and searches.
func lexicalCompactBeside(t *testing.T, open OpenLexical) {
	l := openLex(t, open)
	l.put(1, "moving text")
	stop := l.beside(func(res index.LexicalResult) {
		if len(res.Hits) == 0 {
			t.Error("nothing was found while the index was compacted")
		}
	}, index.LexicalQuery{Text: "moving text", K: 5})
	done := make(chan error, 1)
	go func() {
		for range 3 {
			if err := l.leg.Compact(context.Background()); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for i := range uint64(60) {
		l.apply([]index.TextUnit{{ID: i, Text: fmt.Sprint("moving text ", i)}}, i/2)
		if i%20 == 19 {
			l.flush()
		}
	}
	if err := <-done; err != nil {
		t.Errorf("Compact: %v", err)
	}
	stop()
	if n := len(l.find("moving")); n != 30 {
		t.Errorf("%d units, want 30", n)
	}
}
