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

// The file "catalog" holds the catalog up to a change, so that opening an index reads only later
// changes from the store. It is a cache: a file that is missing, damaged, or of another version or
// store is rebuilt.
//
//	magic, CRC-32C of the rest (4 bytes, little-endian), rest:
//	origin, change, strings, items, speakers, chunks
//
// Numbers are varints; a string is its length and bytes. In items and speakers, strings are indexes
// into the list of strings. Ids are stored as differences to the previous one.
const (
	catalogFile  = "catalog"
	catalogMagic = "ragctx catalog 2\n"
	// catalogLimit is far above 100 million chunks.
	catalogLimit = 8 << 30
	// minSaved is the number of chunks from which a catalog is written to a file. Fewer are read
	// from the store quickly, and small namespaces then keep no files.
	minSaved = 1000
)

// savedCatalog describes the contents of the file.
type savedCatalog struct {
	mu     sync.Mutex // held while the file is written
	seq    atomic.Uint64
	chunks atomic.Int64
}

// saveDue reports whether a tenth has changed since the file was written. The total of all writes
// is then a small multiple of the size, and reading newer changes stays short.
func (h *Hybrid) saveDue() bool {
	if h.opts.Dir == "" {
		return false
	}
	n, saved := int64(len(h.view.Load().ids)), h.saved.chunks.Load()
	return n >= minSaved && n-saved >= max(minSaved, saved/10)
}

// save writes the file if it is out of date. With force it rewrites an existing file in any case.
func (h *Hybrid) save(force bool) error {
	if h.opts.Dir == "" {
		return nil
	}
	h.saved.mu.Lock()
	defer h.saved.mu.Unlock()
	h.write.Lock()
	view, seq := h.view.Load(), h.applied.Load()
	h.write.Unlock()
	savedSeq := h.saved.seq.Load()
	if savedSeq == 0 && len(view.ids) < minSaved || savedSeq == seq && !force {
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
	h.saved.chunks.Store(int64(len(view.ids)))
	return nil
}

// restore loads the file. On an error it leaves the catalog empty.
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
		return errors.New("it has another version")
	}
	b = b[len(catalogMagic):]
	if binary.LittleEndian.Uint32(b) != atomicfile.Checksum(b[4:]) {
		return errors.New("checksum does not match")
	}
	r := catalogReader{b: b[4:]}
	c, origin, seq := r.catalog()
	switch {
	case r.bad:
		return errors.New("its contents are invalid")
	case !h.opts.Knows(origin):
		return errors.New("it belongs to another store, or to a later state of this store")
	}
	h.adopt(&c)
	h.applied.Store(seq)
	h.saved.seq.Store(seq)
	h.saved.chunks.Store(int64(len(c.ids)))
	return nil
}

// adopt makes c the view. No other goroutine has a reference to c.
func (h *Hybrid) adopt(c *catalog) {
	for i, v := range c.speakers {
		h.speakerCodes[v] = uint32(i) //nolint:gosec // far fewer than 2³¹ speakers
	}
	chunks := make([]catalogEntry, len(c.ids))
	for i, p := range c.items {
		if h.byItem[p.ID] == nil {
			h.byItem[p.ID] = p
			p.thread = h.threads.threadOf(p.Item)
		}
		chunks[i] = catalogEntry{c.ids[i], p, c.ordinal[i], c.speaker[i]}
	}
	h.threads.add(chunks)
	countChunks(chunks)
	if c.anyRestricted {
		*c = c.withUnrestricted()
	}
	h.view.Store(c)
}

// encode encodes the catalog without removed items.
func (c *catalog) encode(origin string, seq uint64) []byte {
	w := catalogWriter{strings: make(map[string]uint64)}
	order := make(map[*item]uint64)
	var items []*item
	codes := make([]uint32, len(c.speakers)) // their new indexes; 0 for speakers of removed chunks only
	speakers := []Speaker{{}}
	chunks := 0
	for i, p := range c.items {
		if p.removed.Load() {
			continue
		}
		chunks++
		if v := c.speaker[i] >> 1; v > 0 && codes[v] == 0 {
			codes[v] = uint32(len(speakers)) //nolint:gosec // far fewer than 2³¹ speakers
			speakers = append(speakers, c.speakers[v])
		}
		if _, ok := order[p]; !ok {
			order[p] = uint64(len(items))
			items = append(items, p)
		}
	}
	w.number(uint64(len(items)))
	for _, p := range items {
		w.item(p)
	}
	w.number(uint64(len(speakers)))
	for _, v := range speakers {
		w.shared(string(v.Role))
		w.shared(v.Name)
	}
	w.number(uint64(chunks)) //nolint:gosec // a count
	var id, of uint64
	for i, p := range c.items {
		if p.removed.Load() {
			continue
		}
		w.number(c.ids[i] - id)
		w.signed(int64(order[p] - of)) //nolint:gosec // wraps and is unwrapped
		w.number(uint64(c.ordinal[i])) //nolint:gosec // not negative
		w.number(uint64(codes[c.speaker[i]>>1]<<1 | c.speaker[i]&1))
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

// shared writes the index of a string that other items may share.
func (w *catalogWriter) shared(s string) {
	n, ok := w.strings[s]
	if !ok {
		n = uint64(len(w.list))
		w.strings[s] = n
		w.list = append(w.list, s)
	}
	w.number(n)
}

// moment writes a time in microseconds; 0 stands for the zero time.
func (w *catalogWriter) moment(t time.Time) {
	if t.IsZero() {
		w.number(0)
		return
	}
	w.number(1)
	w.signed(t.UnixMicro())
}

func (w *catalogWriter) item(p *item) {
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

// catalogReader reads the output of catalogWriter. It handles arbitrary input: bad is set on
// invalid data.
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

// count reads the number of following elements, each of which takes at least a byte.
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
	all := make([]Item, r.count())
	items := make([]item, len(all))
	for i := range all {
		r.item(&all[i])
		items[i].Item = &all[i]
		items[i].ended.Store(all[i].Ended)
		items[i].superseded.Store(micros(all[i].Superseded))
		c.anyRestricted = c.anyRestricted || !items[i].unrestricted()
	}
	c.speakers = make([]Speaker, r.count())
	for i := range c.speakers {
		c.speakers[i] = Speaker{Role: ragctx.Role(r.shared()), Name: r.shared()}
	}
	r.bad = r.bad || len(c.speakers) == 0 || c.speakers[0] != Speaker{}
	n := r.count()
	c.ids, c.items, c.ordinal, c.speaker = make([]uint64, n), make([]*item, n), make([]int32, n), make([]uint32, n)
	var id, of uint64
	for i := range n {
		step := r.number()
		of += uint64(r.signed()) //nolint:gosec // unwraps
		if step == 0 && i > 0 || of >= uint64(len(items)) {
			r.bad = true
			break
		}
		id += step
		c.ids[i], c.items[i] = id, &items[of]
		c.ordinal[i] = int32(r.number()) //nolint:gosec // was one
		speaker := r.number()
		if speaker>>1 >= uint64(len(c.speakers)) {
			r.bad = true
			break
		}
		c.speaker[i] = uint32(speaker) //nolint:gosec // is far smaller
	}
	r.bad = r.bad || len(r.b) > 0
	return c, origin, seq
}

func (r *catalogReader) item(p *Item) {
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
