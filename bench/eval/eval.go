package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index/pgvector"
)

// Options are the options of [Run] and [Ablate]. Data and Out are required.
type Options struct {
	// Data is the directory of the sets. Out receives data directories, run files and the report.
	Data, Out string
	// Sets and Modes select what is measured; empty means all.
	Sets, Modes []string
	// Via is how entries are ingested: "auto" (the default), "docs", "turns" or "nameless".
	Via string
	// Fresh ingests again even if the data exists. It is needed after a change of text preparation
	// that changed no version.
	Fresh bool
	// Index, IndexKey, Embedder and VectorGraph are passed to [engine.Options]. The name of the set is added to the name in Index.
	Index, IndexKey string
	Embedder        embed.Embedder
	VectorGraph     string
	// CPU returns the CPU time of this process, and false if it is unknown. May be nil.
	CPU func() (time.Duration, bool)
	// Within returns the ids of all items in the time range that the engine reads from a question,
	// and false if it reads none. If nil, the report says that the engine does not read times.
	Within func(ctx context.Context, e *engine.Engine, q ragctx.ContextQuery) ([]string, bool, error)
	// Progress receives the progress, never concurrently; may be nil.
	Progress func(Progress)
	Logger   *slog.Logger
}

// Progress is the progress of a run.
type Progress struct {
	Set         string
	Stage       string // "ingest" or a mode
	Done, Total int
}

// dataTime is the engine's clock. It is fixed, so that equal runs give equal bytes.
func dataTime() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func (o Options) withDefaults() (Options, error) {
	o.Via = cmp.Or(o.Via, ViaAuto)
	if len(o.Modes) == 0 {
		o.Modes = Modes()
	}
	if o.Embedder == nil {
		o.Embedder = builtin.Default()
	}
	if o.CPU == nil {
		o.CPU = func() (time.Duration, bool) { return 0, false }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Data == "" {
		return o, ragctx.Invalid("data", "is empty; name the directory that holds the sets")
	}
	if o.Out == "" {
		return o, ragctx.Invalid("out", "is empty; name a directory for the results")
	}
	if !slices.Contains([]string{ViaAuto, ViaDocs, ViaTurns, ViaNameless}, o.Via) {
		return o, ragctx.Invalid("via", "%q is unknown; use auto, docs, turns or nameless", ragctx.Clip(o.Via))
	}
	o.Modes = distinct(o.Modes)
	for _, m := range o.Modes {
		if !slices.Contains(Modes(), m) {
			return o, ragctx.Invalid("modes", "%q is unknown; use %s", ragctx.Clip(m), strings.Join(Modes(), ", "))
		}
	}
	all, err := ListSets(o.Data)
	if err != nil {
		return o, err
	}
	if len(all) == 0 {
		return o, ragctx.Invalid("data", "%s has no sets: no directory in it holds a %s", o.Data, corpusFile)
	}
	o.Sets = distinct(o.Sets)
	for _, s := range o.Sets {
		if !slices.Contains(all, s) {
			return o, ragctx.Invalid("sets", "%q is not in %s; there are %s", ragctx.Clip(s), o.Data, strings.Join(all, ", "))
		}
	}
	if len(o.Sets) == 0 {
		o.Sets = all
	}
	return o, nil
}

// distinct removes duplicate names. A set that is measured twice would count twice in the macro
// mean.
func distinct(names []string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// Run measures the sets one after another. It writes the report to Out as report.json after every
// set, so after an error the report covers the sets that were finished. A second run does not
// ingest again, and an interrupted ingest continues. A question that the engine rejects, such as
// one that is too long, counts 0; the report counts them.
func Run(ctx context.Context, o Options) (Report, error) {
	r := Report{Cores: runtime.GOMAXPROCS(0), Sets: []setReport{}}
	o, err := o.withDefaults()
	if err != nil {
		return r, err
	}
	r.Embedder = o.Embedder.Identity().String()
	if err := os.MkdirAll(o.Out, 0o750); err != nil {
		return r, fmt.Errorf("out: %w", err)
	}
	start := time.Now()
	for _, name := range o.Sets {
		s, err := runSet(ctx, o, name)
		if err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
		r.Sets = append(r.Sets, s)
		r.Seconds = time.Since(start).Seconds()
		r.Macro = macros(r.Sets)
		if err := writeJSON(filepath.Join(o.Out, "report.json"), r); err != nil {
			return r, err
		}
	}
	return r, nil
}

// opened is a set and the engine that holds it.
type opened struct {
	set    *Set
	via    string
	dir    string // data directory of the engine
	eng    *engine.Engine
	ingest ingestReport
}

// openSet opens a set and ingests it, unless that was done before.
func openSet(ctx context.Context, o Options, name string) (s opened, err error) {
	if s.set, err = OpenSet(filepath.Join(o.Data, name)); err != nil {
		return s, err
	}
	s.via = o.viaOf(s.set)
	s.undated().warn(ctx, o.Logger,
		"entries without a known time get the previous entry's, or else the data's", name)
	s.dir = filepath.Join(o.Out, name+"."+s.via+".data")
	sum, err := fingerprint(s.set, s.via, o.Embedder)
	if err != nil {
		return s, err
	}
	m, err := openManifest(s.dir, sum, o.Fresh)
	if err != nil {
		return s, err
	}
	s.eng, err = engine.Open(ctx, engine.Options{
		Dir: s.dir, Index: o.indexOf(name + s.via), IndexKey: o.IndexKey,
		Embedder: o.Embedder, VectorGraph: o.VectorGraph, Logger: o.Logger, Now: dataTime,
	})
	if err != nil {
		return s, err
	}
	if !m.Complete {
		if err := ingest(ctx, o, s.set, s.eng, s.via, s.dir, &m); err != nil {
			return s, errors.Join(err, s.eng.Close())
		}
	}
	if err := s.eng.Sessions().SettleAll(ctx); err != nil { // memories extracted from turns are searched, too
		return s, errors.Join(err, s.eng.Close())
	}
	if err := s.eng.Indexes().AwaitEmbedded(ctx); err != nil {
		return s, errors.Join(err, s.eng.Close())
	}
	s.ingest = m.Ingest
	return s, nil
}

// indexOf returns the URL of the indexes of a set: each database needs a name of its own.
func (o *Options) indexOf(set string) string {
	if o.Index == "" {
		return ""
	}
	name := strings.NewReplacer("_", "", "-", "").Replace(set)
	if u, err := url.Parse(o.Index); err == nil && pgvector.Serves(o.Index) {
		params := u.Query()
		params.Set("schema", cmp.Or(params.Get("schema"), "eval")+name)
		u.RawQuery = params.Encode()
		return u.String()
	}
	if scheme, rest, _ := strings.Cut(o.Index, "://"); !strings.Contains(rest, "/") {
		o.Index = scheme + "://" + rest + "/eval"
	}
	return o.Index + name
}

// undated returns the entries without a known time, if entries have times.
func (s *opened) undated() Reasons {
	if s.via == ViaDocs {
		return nil
	}
	return s.set.undated.most()
}

// warn logs the reasons as warnings.
func (r Reasons) warn(ctx context.Context, log *slog.Logger, problem, set string) {
	for _, x := range r.most() {
		log.WarnContext(ctx, "some entries of a set have a problem", "problem", problem, "set", set,
			"entries", x.Count, "why", x.Why, "such_as", x.Such, "first", x.IDs)
	}
}

// runSet ingests a set and asks its questions in every mode.
func runSet(ctx context.Context, o Options, name string) (r setReport, err error) {
	s, err := openSet(ctx, o, name)
	if err != nil {
		return setReport{Set: name}, err
	}
	defer func() {
		if err = errors.Join(err, s.eng.Close()); err == nil {
			err = r.measureSizes(s.dir)
		}
	}()
	r = setReport{
		Set: name, Via: s.via, Docs: s.set.Docs, Questions: len(s.set.Questions), Scopes: len(s.set.scopes),
		Ingest: s.ingest, Undated: s.undated(),
	}
	s.ingest.Refusals.warn(ctx, o.Logger, "entries were refused", name)
	return r, r.ask(ctx, o, asker{eng: s.eng, set: s.set, via: s.via, cpu: o.CPU})
}

// viaOf returns how a set's entries are ingested.
func (o Options) viaOf(s *Set) string {
	switch {
	case o.Via != ViaAuto:
		return o.Via
	case s.Dialogue:
		return ViaTurns
	default:
		return ViaDocs
	}
}

// ask asks the questions in every mode.
func (r *setReport) ask(ctx context.Context, o Options, a asker) error {
	for _, mode := range o.Modes {
		m, err := runMode(ctx, o, &a, mode)
		if err != nil {
			return err
		}
		r.Modes = append(r.Modes, m)
	}
	return r.readTimes(ctx, o, &a)
}

// ingest fills the data directory and records its progress, so that an interrupted ingest counts.
func ingest(ctx context.Context, o Options, set *Set, eng *engine.Engine, via, dir string, m *manifest) error {
	before, saved := m.Ingest, time.Now()
	in := &ingester{set: set, eng: eng, via: via, progress: func(sum ingestReport) error {
		o.Progress(Progress{Set: set.Name, Stage: "ingest", Done: sum.Entries + sum.Refused, Total: set.Docs})
		if time.Since(saved) < saveEvery {
			return nil
		}
		saved = time.Now()
		m.Ingest = before.continues(sum)
		return m.write(dir)
	}}
	sum, err := in.run(ctx)
	m.Ingest, m.Complete = before.continues(sum), err == nil
	return errors.Join(err, m.write(dir))
}

// writeJSON writes a file atomically: a reader sees the old file or the new one.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
