package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
)

// The ways to ingest entries.
const (
	ViaAuto  = "auto"  // turns for sets of conversations, documents for all others
	ViaDocs  = "docs"  // each entry as a document
	ViaTurns = "turns" // each entry as a turn of one message
	// ViaNameless is ViaTurns without speakers: each message comes from an unnamed user.
	ViaNameless = "nameless"
)

// lanes is the number of concurrent ingests. Each has scopes of its own, because within a scope the
// corpus order is kept.
const lanes = 8

// saveEvery is the interval at which the manifest is written during an ingest.
const saveEvery = 2 * time.Second

// manifestFile is the file in a data directory that describes its contents.
const manifestFile = "eval.json"

// manifest describes the contents of a data directory.
type manifest struct {
	// Fingerprint identifies the corpus and the rules of its preparation.
	Fingerprint string       `json:"fingerprint"`
	Complete    bool         `json:"complete"`
	Ingest      ingestReport `json:"ingest"`
}

// ingestReport describes what was ingested.
type ingestReport struct {
	Entries int `json:"entries"`
	// Chunks and Seconds add up all parts of an interrupted ingest. If a process was killed, up to
	// the last [saveEvery] of its part is missing, so both can be too small. Entries and Refused
	// always cover the whole corpus.
	Chunks int `json:"chunks"`
	// Refused counts entries that the engine rejects, such as empty ones; Refusals lists them with
	// the reasons.
	Refused  int     `json:"refused"`
	Refusals Reasons `json:"refusals,omitempty"`
	Seconds  float64 `json:"seconds"`
}

// continues returns the figures of an ingest after another part.
func (i ingestReport) continues(part ingestReport) ingestReport {
	part.Chunks += i.Chunks
	part.Seconds += i.Seconds
	return part
}

// perSecond returns the chunks ingested per second.
func (i ingestReport) perSecond() float64 {
	if i.Seconds == 0 {
		return 0
	}
	return float64(i.Chunks) / i.Seconds
}

// ingestVersion is the version of this package's rules that turn an entry into a document or a
// turn, such as how its time is read.
const ingestVersion = "ingest-2"

// fingerprint identifies the contents of a data directory. It includes the scope field, which
// depends on the questions and determines the namespaces.
func fingerprint(set *Set, via string, e embed.Embedder) (string, error) {
	f, err := os.Open(filepath.Join(set.Dir, corpusFile))
	if err != nil {
		return "", fmt.Errorf("read set: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n", ingestVersion, via, set.Field, docs.Version, chunk.Version,
		analysis.Version, e.Identity())
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read set: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// openManifest returns the manifest of dir. It empties dir if its fingerprint differs or fresh is
// set.
func openManifest(dir, fingerprint string, fresh bool) (manifest, error) {
	m := manifest{Fingerprint: fingerprint}
	b, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		if found, err := os.ReadDir(dir); err == nil && len(found) > 0 {
			return m, ragctx.Invalid("out", "%s holds files that no evaluation wrote; move them away or choose "+
				"another directory", dir)
		}
		return m, m.write(dir)
	}
	if err != nil {
		return m, fmt.Errorf("open data directory: %w", err)
	}
	var have manifest
	if json.Unmarshal(b, &have) == nil && have.Fingerprint == fingerprint && !fresh {
		return have, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return m, fmt.Errorf("empty data directory: %w", err)
	}
	return m, m.write(dir)
}

func (m manifest) write(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return writeJSON(filepath.Join(dir, manifestFile), m)
}

// ingester ingests the corpus of a set.
type ingester struct {
	set      *Set
	eng      *engine.Engine
	via      string
	progress func(ingestReport) error // never called concurrently

	start time.Time
	mu    sync.Mutex
	sum   ingestReport
}

// run ingests every entry. Entries that exist already are checked, which takes time, and add no
// chunks.
func (in *ingester) run(ctx context.Context) (ingestReport, error) {
	in.start = time.Now()
	g, ctx := errgroup.WithContext(ctx)
	var queues [lanes]chan entry
	for i := range queues {
		queues[i] = make(chan entry, 16)
		g.Go(func() error { return in.lane(ctx, queues[i]) })
	}
	g.Go(func() error {
		defer func() {
			for _, q := range queues {
				close(q)
			}
		}()
		return in.set.each(func(e entry) error {
			select {
			case queues[laneOf(e.field(in.set.Field))] <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	err := g.Wait()
	in.sum.Seconds = time.Since(in.start).Seconds()
	return in.sum, err
}

func laneOf(scope string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, scope) // a hash takes everything
	return int(h.Sum32() % lanes)
}

// lane ingests the entries of some of the scopes, in order.
func (in *ingester) lane(ctx context.Context, entries <-chan entry) error {
	last := make(map[string]time.Time) // by scope
	for e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := e.field(in.set.Field)
		// A message without a time has the time of the previous one.
		if t, err := in.set.occurred(&e); err == nil && !t.IsZero() {
			last[name] = t
		}
		chunks, err := in.put(ctx, e, name, last[name])
		if err != nil {
			if _, status := ragctx.CodeOf(err); status >= 499 {
				return fmt.Errorf("ingest %s: %w", e.ID, err)
			}
		}
		if err := in.note(e.ID, chunks, err); err != nil {
			return err
		}
	}
	return nil
}

func (in *ingester) note(id string, chunks int, refused error) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if refused != nil {
		in.sum.Refused++
		in.sum.Refusals.add(refused.Error(), id, "")
	} else {
		in.sum.Entries++
	}
	in.sum.Chunks += chunks
	in.sum.Seconds = time.Since(in.start).Seconds()
	return in.progress(in.sum)
}

// put stores one entry and returns how many chunks that wrote.
func (in *ingester) put(ctx context.Context, e entry, namespace string, at time.Time) (int, error) {
	if in.via == ViaDocs {
		p, err := in.eng.Documents().Put(ctx, namespace,
			ragctx.Document{ExternalID: e.ID, Title: strings.TrimSpace(e.Title), Text: e.Text}, "")
		if err != nil || p.Status == store.Unchanged {
			return 0, err
		}
		return p.Chunks, nil
	}
	t := e.turn(namespace, at)
	if in.via == ViaNameless {
		t.Messages[0].Name, t.Messages[0].Role = "", ragctx.RoleUser
	}
	res, err := in.eng.CompleteTurn(ctx, t)
	if err != nil || res.Status == store.Unchanged {
		return 0, err
	}
	_, units, _, err := memory.Episode(t)
	return len(units), err
}

// diskBytes returns the total size of the files below dir.
func diskBytes(dir string) (int64, error) {
	var n int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	return n, err
}
