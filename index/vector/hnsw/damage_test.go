package hnsw

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// uses does everything with a graph whose file may be damaged. It returns the
// error that all of it agrees on.
func uses(tb testing.TB, g *Graph, vectors [][]float32) error {
	tb.Helper()
	_, _, err := g.Search(tb.Context(), Query{Unit: vectors[1], K: 3, Ef: 16}, nil)
	for name, again := range map[string]error{
		"put":  g.Put(1000, vectors[2]),
		"link": g.Link(tb.Context()),
		"tidy": g.Tidy(tb.Context()),
		"save": g.Write(io.Discard, ""),
	} {
		if !errors.Is(again, err) && !errors.Is(err, again) {
			tb.Errorf("%s: %v; search: %v", name, again, err)
		}
	}
	g.Delete(1)
	same := g.Same(2, vectors[2])
	n := 0
	for range g.IDs() {
		n++
	}
	g.Stats()
	if err != nil && (same || n > 0) {
		tb.Errorf("%v, but ids and vectors: %d", err, n)
	}
	return err
}

// TestDamage flips a bit of each byte of what is in use and of a sample of the
// rest.
func TestDamage(t *testing.T) {
	g, vectors := small(t)
	file := fileOf(t, g, "damage")
	o := g.opt
	h := new(header)
	_, _ = binary.Decode(file, binary.NativeEndian, h)
	end := len(file) - 4*(h.chunks()+h.towers()+2)
	for at := 0; at < len(file); at++ {
		if at > int(h.Size)+64 && at < end-1100 {
			at += 997
		}
		flip := byte(1) << (at % 8)
		file[at] ^= flip
		g, _, err := open(file, o)
		if err == nil {
			err = uses(t, g, vectors)
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("byte %d: %v", at, err)
			}
		} else if at > 16 && !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d: %v", at, err)
		}
		file[at] ^= flip
	}
	if err := uses(t, opened(t, file, o), vectors); err != nil {
		t.Fatal(err)
	}
}

func TestTruncated(t *testing.T) {
	g, _ := small(t)
	file := fileOf(t, g, "truncated")
	for n := 0; n < len(file); n++ {
		if n > 1000 && n < len(file)-1000 { // whole parts are missing, or much of one
			n += 16
		}
		if _, _, err := open(file[:n:n], g.opt); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%d of %d bytes: %v", n, len(file), err)
		}
	}
	if _, _, err := open(aligned(append(slices.Clone(file), 0, 0, 0, 0)), g.opt); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
}

// TestForeign has files that are of no use for a reason that the error says.
func TestForeign(t *testing.T) {
	g, _ := small(t)
	for want, c := range map[string]struct {
		change  func(h *header)
		options Options
	}{
		"not a graph file":         {change: func(h *header) { h.Magic[0]++ }},
		"byte order":               {change: func(h *header) { h.Order = 0x04030201 }},
		"version 2, not 1":         {change: func(h *header) { h.Version = 2 }},
		"16 for Dimensions, not 8": {options: Options{Dimensions: 8}},
		"4 for M, not 5":           {options: Options{Dimensions: 16, M: 5}},
		"2048 for slots of a chunk": {
			change: func(h *header) { h.ChunkSlots = 2048 },
		},
		"words of a chunk":   {change: func(h *header) { h.ChunkWords++ }},
		"lists of a tower":   {change: func(h *header) { h.TowerLists++ }},
		"words of a tower":   {change: func(h *header) { h.TowerWords++ }},
		"4294967295 slots":   {change: func(h *header) { h.Slots = 1<<32 - 1 }},
		"4294967295 lists":   {change: func(h *header) { h.Lists = 1<<32 - 1 }},
		"must be within 4":   {change: func(h *header) { h.M = 3 }},
		"counts":             {change: func(h *header) { h.Live++ }},
		"root is not a node": {change: func(h *header) { h.Root = 0 }},
		"entry or its root":  {change: func(h *header) { h.Entry += 1 << 32 }},
	} {
		file := fileOf(t, g, "foreign")
		forge(file, func(h *header) {
			if c.change != nil {
				c.change(h)
			}
		})
		o := c.options
		if o.Dimensions == 0 {
			o = Options{Dimensions: 16}
		}
		f, _, err := open(file, o)
		if err == nil {
			err = f.Check(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// forge changes the header of a file and makes all its sums right.
func forge(file []byte, change func(h *header)) {
	h := new(header)
	_, _ = binary.Decode(file, binary.NativeEndian, h)
	size, parts := int(h.Size), sizes(h)
	change(h)
	_, _ = binary.Encode(file, binary.NativeEndian, h)
	binary.NativeEndian.PutUint32(file[size-4:], atomicfile.Checksum(file[:size-4]))
	sums := binary.NativeEndian.AppendUint32(nil, atomicfile.Checksum(file[:size]))
	rest := file[size:]
	for _, n := range parts {
		sums = binary.NativeEndian.AppendUint32(sums, atomicfile.Checksum(rest[:n]))
		rest = rest[n:]
	}
	copy(rest, binary.NativeEndian.AppendUint32(sums, atomicfile.Checksum(sums)))
}

// sizes returns the lengths of chunks and towers.
func sizes(h *header) []int {
	return append(slices.Repeat([]int{int(4 * h.ChunkWords)}, h.chunks()), slices.Repeat([]int{int(4 * h.TowerWords)}, h.towers())...)
}

// FuzzRead has files with some bytes changed and all sums right.
func FuzzRead(f *testing.F) {
	g, vectors := small(f)
	file := fileOf(f, g, "fuzz")
	h := new(header)
	_, _ = binary.Decode(file, binary.NativeEndian, h)
	lists := int(h.Size) + chunkSlots*g.stride
	parents := int(h.Size) + 4*int(h.ChunkWords) - 5*chunkSlots/8 - 4*chunkSlots
	states := parents + 4*chunkSlots
	for _, at := range []int{8, 16, 24, 64, 72, 80, int(h.Size), lists, lists + 640, parents, parents - 4*chunkSlots, states, states + 520, states + 1030, states + 1560, states + 2100, len(file) - 100} {
		for _, patch := range [][]byte{{0, 0, 0, 0}, {255, 255, 255, 255}, {7, 0, 0, 0}, {1, 2, 0, 0, 3}} {
			f.Add(uint32(at), patch, true)
		}
	}
	f.Add(uint32(0), []byte{1}, false)
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, right bool) {
		b := aligned(file)
		copy(b[int(at)%len(b):], patch)
		if right && int(at) >= 32 {
			repair(b, h)
		}
		g, _, err := open(b, Options{Dimensions: 16, LinkFrom: 1, EfConstruction: 16, Workers: 1})
		if err != nil {
			return
		}
		g.tuning = tuning{walkFrom: 1, visitShare: 1}
		_ = uses(t, g, vectors)
		for i := range 40 {
			_ = g.Put(uint64(i), vectors[i])
			g.Delete(uint64(3 * i))
			_, _, _ = g.Search(t.Context(), Query{Unit: vectors[i], K: 9, Exhaustive: i%3 == 0}, nil)
		}
		_, _ = g.Link(t.Context()), g.Tidy(t.Context())
	})
}

// repair makes the sums of a file right, if its lengths are.
func repair(b []byte, want *header) {
	h := new(header)
	_, _ = binary.Decode(b, binary.NativeEndian, h)
	if h.Size == want.Size && slices.Equal(sizes(h), sizes(want)) {
		forge(b, func(*header) {})
	}
}
