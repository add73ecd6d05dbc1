package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

// The file "catalog" holds the catalog up to a change, so that opening an index
// reads only later ones from the store. It is a cache: one that is missing,
// damaged, of another version or of another store is made again.
//
//	magic, CRC-32C of the rest (4 bytes, little-endian), rest:
//	origin, change, strings, parents, voices, units
//
// Numbers are varints; a string is its length and bytes; in parents and voices,
// strings are numbers in the list of strings. Ids are differences to the one before.
const (
	catalogFile  = "catalog"
	catalogMagic = "ragctx catalog 2\n"
	// catalogLimit is far above 100 million units.
	catalogLimit = 8 << 30
	// leastSaved is from how many units a catalog is worth a file: fewer are read
	// from the store in no time, and small namespaces keep no files.
	leastSaved = 1000
)

// savedCatalog knows what the file holds.
type savedCatalog struct {
	mu    sync.Mutex // one at a time writes
	seq   atomic.Uint64
	units atomic.Int64
}

// saveDue reports whether so much has changed since the file was written that it
// is worth writing it again: a tenth, so that all writing together is a small
// multiple of what is kept, and reading what is newer stays short.
func (h *Hybrid) saveDue() bool {
	if h.opts.Dir == "" {
		return false
	}
	n, saved := int64(len(h.view.Load().ids)), h.saved.units.Load()
	return n >= leastSaved && n-saved >= max(leastSaved, saved/10)
}

// save writes the file if it is behind; always if there is one and force is set.
func (h *Hybrid) save(force bool) error {
	if h.opts.Dir == "" {
		return nil
	}
	h.saved.mu.Lock()
	defer h.saved.mu.Unlock()
	h.write.Lock()
	view, seq := h.view.Load(), h.applied.Load()
	h.write.Unlock()
	known := h.saved.seq.Load()
	if known == 0 && len(view.ids) < leastSaved || known == seq && !force {
		return nil
	}
	if err := atomicfile.MakeDir(h.opts.FS, h.opts.Dir, 0o700); err != nil {
		return fmt.Errorf("save catalog: %w", err)
	}
	b := view.encode(h.opts.Origin(), seq)
	err := atomicfile.WriteFile(h.opts.FS, filepath.Join(h.opts.Dir, catalogFile), func(w io.Writer) error {
		head := binary.LittleEndian.AppendUint32([]byte(catalogMagic), atomicfile.Checksum(b))
		if _, err := w.Write(head); err != nil {
			return err
		}
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return fmt.Errorf("save catalog: %w", err)
	}
	h.saved.seq.Store(seq)
	h.saved.units.Store(int64(len(view.ids)))
	return nil
}

// restore reads the file. It leaves the catalog empty if it cannot.
func (h *Hybrid) restore() error {
	if h.opts.Dir == "" {
		return nil
	}
	name := filepath.Join(h.opts.Dir, catalogFile)
	b, err := atomicfile.ReadFile(h.opts.FS, name, catalogLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	rest, ok := strings.CutPrefix(string(b[:min(len(b), len(catalogMagic))]), catalogMagic)
	if !ok || rest != "" || len(b) < len(catalogMagic)+4 {
		return errors.New("it is of another version")
	}
	b = b[len(catalogMagic):]
	if binary.LittleEndian.Uint32(b) != atomicfile.Checksum(b[4:]) {
		return errors.New("checksum does not match")
	}
	r := catalogReader{b: b[4:]}
	c, origin, seq := r.catalog()
	switch {
	case r.bad:
		return errors.New("it cannot be read")
	case !h.opts.Knows(origin):
		return errors.New("it belongs to another store, or to a later state of this one")
	}
	h.adopt(&c)
	h.applied.Store(seq)
	h.saved.seq.Store(seq)
	h.saved.units.Store(int64(len(c.ids)))
	return nil
}

// adopt makes c, which nobody else has seen, the view.
func (h *Hybrid) adopt(c *catalog) {
	for i, v := range c.voices {
		h.voiceOf[v] = uint32(i) //nolint:gosec // far fewer than 2³¹ speakers
	}
	units := make([]known, len(c.ids))
	for i, p := range c.parents {
		if h.byParent[p.ID] == nil {
			h.byParent[p.ID] = p
			p.thread = h.threads.of(p.Parent)
		}
		units[i] = known{c.ids[i], p, c.ordinal[i], c.voice[i]}
	}
	h.threads.add(units)
	count(units)
	if c.marked {
		*c = c.withPlain()
	}
	h.view.Store(c)
}

// encode writes the catalog, without what was removed.
func (c *catalog) encode(origin string, seq uint64) []byte {
	w := catalogWriter{strings: make(map[string]uint64)}
	order := make(map[*parent]uint64)
	var parents []*parent
	heard := make([]uint32, len(c.voices)) // their new places; 0 for whom only removed units have
	voices := []Voice{{}}
	units := 0
	for i, p := range c.parents {
		if p.removed.Load() {
			continue
		}
		units++
		if v := c.voice[i] >> 1; v > 0 && heard[v] == 0 {
			heard[v] = uint32(len(voices)) //nolint:gosec // far fewer than 2³¹ speakers
			voices = append(voices, c.voices[v])
		}
		if _, ok := order[p]; !ok {
			order[p] = uint64(len(parents))
			parents = append(parents, p)
		}
	}
	w.number(uint64(len(parents)))
	for _, p := range parents {
		w.parent(p)
	}
	w.number(uint64(len(voices)))
	for _, v := range voices {
		w.shared(string(v.Role))
		w.shared(v.Name)
	}
	w.number(uint64(units)) //nolint:gosec // a count
	var id, of uint64
	for i, p := range c.parents {
		if p.removed.Load() {
			continue
		}
		w.number(c.ids[i] - id)
		w.signed(int64(order[p] - of)) //nolint:gosec // wraps and is unwrapped
		w.number(uint64(c.ordinal[i])) //nolint:gosec // not negative
		w.number(uint64(heard[c.voice[i]>>1]<<1 | c.voice[i]&1))
		id, of = c.ids[i], order[p]
	}
	head := catalogWriter{}
	head.text(origin)
	head.number(seq)
	head.number(uint64(len(w.list)))
	for _, s := range w.list {
		head.text(s)
	}
	return append(head.b, w.b...)
}

type catalogWriter struct {
	b       []byte
	strings map[string]uint64
	list    []string
}

func (w *catalogWriter) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }
func (w *catalogWriter) signed(n int64)  { w.b = binary.AppendVarint(w.b, n) }

func (w *catalogWriter) text(s string) {
	w.number(uint64(len(s)))
	w.b = append(w.b, s...)
}

// shared writes the number of a string that other parents may have, too.
func (w *catalogWriter) shared(s string) {
	n, ok := w.strings[s]
	if !ok {
		n = uint64(len(w.list))
		w.strings[s] = n
		w.list = append(w.list, s)
	}
	w.number(n)
}

// moment writes a time of microseconds; 0 stands for none.
func (w *catalogWriter) moment(t time.Time) {
	if t.IsZero() {
		w.number(0)
		return
	}
	w.number(1)
	w.signed(t.UnixMicro())
}

func (w *catalogWriter) parent(p *parent) {
	w.number(p.ID)
	w.number(p.ended.Load())
	for _, s := range []string{p.User, p.Agent, p.Source, p.Session} {
		w.shared(s)
	}
	w.number(uint64(len(p.Tags)))
	for _, t := range p.Tags {
		w.shared(t)
	}
	w.number(uint64(len(p.Metadata)))
	for _, k := range slices.Sorted(maps.Keys(p.Metadata)) {
		w.shared(k)
		w.shared(p.Metadata[k])
	}
	superseded := time.Time{}
	if at := p.superseded.Load(); at != noTime {
		superseded = time.UnixMicro(at)
	}
	for _, t := range []time.Time{p.Occurred, p.Recorded, superseded, p.Expires} {
		w.moment(t)
	}
}

// catalogReader reads what catalogWriter wrote. It survives anything: bad is set
// when something cannot be.
type catalogReader struct {
	b       []byte
	bad     bool
	strings []string
}

func (r *catalogReader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *catalogReader) signed() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

// count reads how many things follow, each of which takes a byte or more.
func (r *catalogReader) count() int {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return 0
	}
	return int(n) //nolint:gosec // at most the length of a slice
}

func (r *catalogReader) text() string {
	n := r.count()
	if r.bad {
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *catalogReader) shared() string {
	n := r.number()
	if n >= uint64(len(r.strings)) {
		r.bad = true
		return ""
	}
	return r.strings[n]
}

func (r *catalogReader) moment() time.Time {
	if r.number() == 0 {
		return time.Time{}
	}
	return time.UnixMicro(r.signed()).UTC()
}

func (r *catalogReader) catalog() (c catalog, origin string, seq uint64) {
	origin, seq = r.text(), r.number()
	r.strings = make([]string, r.count())
	for i := range r.strings {
		r.strings[i] = r.text()
	}
	all := make([]Parent, r.count())
	parents := make([]parent, len(all))
	for i := range all {
		r.parent(&all[i])
		parents[i].Parent = &all[i]
		parents[i].ended.Store(all[i].Ended)
		parents[i].superseded.Store(micros(all[i].Superseded))
		c.marked = c.marked || !parents[i].plain()
	}
	c.voices = make([]Voice, r.count())
	for i := range c.voices {
		c.voices[i] = Voice{Role: ragctx.Role(r.shared()), Name: r.shared()}
	}
	r.bad = r.bad || len(c.voices) == 0 || c.voices[0] != Voice{}
	n := r.count()
	c.ids, c.parents, c.ordinal, c.voice = make([]uint64, n), make([]*parent, n), make([]int32, n), make([]uint32, n)
	var id, of uint64
	for i := range n {
		step := r.number()
		of += uint64(r.signed()) //nolint:gosec // unwraps
		if step == 0 && i > 0 || of >= uint64(len(parents)) {
			r.bad = true
			break
		}
		id += step
		c.ids[i], c.parents[i] = id, &parents[of]
		c.ordinal[i] = int32(r.number()) //nolint:gosec // was one
		voice := r.number()
		if voice>>1 >= uint64(len(c.voices)) {
			r.bad = true
			break
		}
		c.voice[i] = uint32(voice) //nolint:gosec // is far smaller
	}
	r.bad = r.bad || len(r.b) > 0
	return c, origin, seq
}

func (r *catalogReader) parent(p *Parent) {
	p.ID, p.Ended = r.number(), r.number()
	p.User, p.Agent, p.Source, p.Session = r.shared(), r.shared(), r.shared(), r.shared()
	if n := r.count(); n > 0 {
		p.Tags = make([]string, n)
		for i := range p.Tags {
			p.Tags[i] = r.shared()
		}
	}
	if n := r.count(); n > 0 {
		p.Metadata = make(map[string]string, n)
		for range n {
			k := r.shared()
			p.Metadata[k] = r.shared()
		}
	}
	p.Occurred, p.Recorded, p.Superseded, p.Expires = r.moment(), r.moment(), r.moment(), r.moment()
}
