package eval_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/logtest"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory/facts"
)

var misses = flag.String("misses", "", "list each miss of TestMemoryDialogues for a half, dev or held")

// The measures of dialogues, in the order of the report. The last ones count errors.
const (
	mRecall     = "facts when said, recall"
	mPrecision  = "facts when said, precision"
	mTwice      = "said once, stored twice"
	mRetired    = "updates retired"
	mEnded      = "ends retired"
	mHistory    = "retired and found as of before"
	mWrong      = "wrong retirements"
	mRight      = "right at the end"
	mStanding   = "standing instructions present"
	mStale      = "overruled ones in the stable block"
	mNever      = "never facts taken"
	mQuarantine = "quarantined"
	mFound1     = "found @1"
	mFound      = "found @k"
	mSkill      = "procedures found"
	mNoSkill    = "procedures found wrongly"
	mSteps      = "procedure steps right"
	mLeak       = "secrets in clear"
	mAlarm      = "false alarms"
)

var measures = []string{
	mRecall, mPrecision, mTwice, mRetired, mEnded, mHistory, mWrong, mRight, mStanding, mStale, mNever,
	mQuarantine, mFound1, mFound, mSkill, mNoSkill, mSteps, mLeak, mAlarm,
}

// ratio counts n of of.
type ratio struct{ n, of int }

func (r ratio) String() string {
	if r.of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d %.1f%%", r.n, r.of, 100*float64(r.n)/float64(r.of))
}

// dialogueScore holds the figures of one half by column: all, a language or a theme.
type dialogueScore struct {
	figures map[string]map[string]ratio
	misses  []string
}

// count counts a case of d; bad is a line for the list of misses, if the case is one.
func (s *dialogueScore) count(d *labelledDialogue, measure string, hit bool, bad bool, detail string) {
	for _, column := range [...]string{"all", d.Lang, d.theme} {
		if s.figures[column] == nil {
			s.figures[column] = make(map[string]ratio)
		}
		r := s.figures[column][measure]
		if r.of++; hit {
			r.n++
		}
		s.figures[column][measure] = r
	}
	if bad {
		detail = strings.ReplaceAll(strings.TrimSpace(detail), "\n", " / ")
		s.misses = append(s.misses, fmt.Sprintf("%-34s %-22s %s", measure, d.ID, detail))
	}
}

// good counts a case that should be hit.
func (s *dialogueScore) good(d *labelledDialogue, m string, hit bool, detail string) {
	s.count(d, m, hit, !hit, detail)
}

// error counts a case that should not be hit.
func (s *dialogueScore) error(d *labelledDialogue, m string, hit bool, detail string) {
	s.count(d, m, hit, hit, detail)
}

// table renders the figures.
func (s *dialogueScore) table(columns []string, rows []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-36s", "")
	for _, c := range columns {
		fmt.Fprintf(&b, "%17s", c)
	}
	for _, m := range rows {
		fmt.Fprintf(&b, "\n%-36s", m)
		for _, c := range columns {
			fmt.Fprintf(&b, "%17s", s.figures[c][m])
		}
	}
	return b.String()
}

// dialogueRun is what was seen of a dialogue while its turns were completed.
type dialogueRun struct {
	*labelledDialogue

	said   [][]ragctx.Memory // the facts found in each turn
	active [][]ragctx.Memory // the active facts after each turn
	after  []time.Time       // the clock after each turn
}

// last returns the index of the last turn after which an active fact matched p, or -1.
func (r *dialogueRun) last(p pattern) int {
	for i, facts := range slices.Backward(r.active) {
		if anyFact(facts, p) {
			return i
		}
	}
	return -1
}

func anyFact(all []ragctx.Memory, p pattern) bool {
	return slices.ContainsFunc(all, func(m ragctx.Memory) bool { return p.matches(m.Content) })
}

func contentsOf(all []ragctx.Memory) string {
	var out []string
	for _, m := range all {
		out = append(out, m.Content)
	}
	return fmt.Sprintf("%q", out)
}

// dialogueBench runs dialogues against one engine.
type dialogueBench struct {
	t     *testing.T
	eng   *engine.Engine
	dir   string
	now   atomic.Pointer[time.Time]
	log   logtest.Buffer
	seen  logtest.Buffer // events
	score map[string]*dialogueScore

	secrets []secret
}

// secret is a secret of a dialogue and the places where it was seen in clear.
type secret struct {
	d      *labelledDialogue
	turn   int
	text   string
	places []string
}

// shortSecret is the length up to which a secret counts only as a word of its own: four digits are also
// parts of times and ids.
const shortSecret = 5

// inClear reports whether a text contains the secret, or two adjacent words of it. The text is in lower
// case.
func (s secret) inClear(text string) bool {
	words := strings.Fields(strings.ToLower(s.text))
	if len(s.text) <= shortSecret {
		return regexp.MustCompile(`(?:^|[^0-9a-z])` + regexp.QuoteMeta(words[0]) + `(?:$|[^0-9a-z])`).MatchString(text)
	}
	if len(words) == 1 {
		return strings.Contains(text, words[0])
	}
	for i := range words[1:] {
		if strings.Contains(text, words[i]+" "+words[i+1]) {
			return true
		}
	}
	return false
}

// step is the completion of a turn, or the checks at the end if turn is negative.
type step struct {
	at   time.Time
	run  *dialogueRun
	turn int
}

// TestMemoryDialogues plays the dialogues of testdata/memory without a model and prints how well they
// are remembered. It has no thresholds yet. -misses dev lists what went wrong.
func TestMemoryDialogues(t *testing.T) {
	b := &dialogueBench{t: t, dir: t.TempDir(), score: make(map[string]*dialogueScore)}
	var steps []step
	each := 1 // picks all dialogues
	if testing.Short() {
		each = 10
	}
	for _, half := range []string{"dev", "held"} {
		b.score[half] = &dialogueScore{figures: make(map[string]map[string]ratio)}
		all, err := readDialogues(half)
		mustDo(t, err)
		for n, d := range all {
			if n%each != 0 {
				continue
			}
			run := &dialogueRun{labelledDialogue: d}
			for i := range d.Turns {
				at, _ := parseAt(d.Turns[i].At)
				steps = append(steps, step{at, run, i})
			}
			steps = append(steps, step{d.end(), run, -1})
		}
	}
	slices.SortStableFunc(steps, func(x, y step) int { return x.at.Compare(y.at) })
	b.open(steps[0].at)
	for _, s := range steps {
		b.now.Store(&s.at)
		if s.turn >= 0 {
			b.complete(s.run, s.turn)
		} else {
			b.finish(s.run)
		}
	}
	mustDo(t, b.eng.Close())
	b.leaks()
	for _, half := range []string{"dev", "held"} {
		b.report(half)
	}
}

// open opens the engine, and collects its events until it is closed.
func (b *dialogueBench) open(at time.Time) {
	b.now.Store(&at)
	var mu sync.Mutex
	last := at
	var err error
	b.eng, err = engine.Open(b.t.Context(), engine.Options{
		Dir: b.dir,
		Now: func() time.Time { // strictly increasing, so that changes have an order
			mu.Lock()
			defer mu.Unlock()
			if last = last.Add(time.Microsecond); last.Before(*b.now.Load()) {
				last = *b.now.Load()
			}
			return last
		},
		Logger: slog.New(slog.NewJSONHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	mustDo(b.t, err)
	after, err := b.eng.Events().Last(b.t.Context(), events.Filter{})
	mustDo(b.t, err)
	go func() {
		for ev, err := range b.eng.Events().Follow(context.WithoutCancel(b.t.Context()), events.Filter{}, after) {
			if err != nil {
				return
			}
			_ = json.NewEncoder(&b.seen).Encode(ev)
		}
	}()
}

// complete completes a turn, waits for its facts and scores them.
func (b *dialogueBench) complete(r *dialogueRun, i int) {
	t, ctx, turn := b.t, b.t.Context(), r.Turns[i]
	if i == 0 {
		b.publish(r)
	}
	res, err := b.eng.CompleteTurn(ctx, r.turn(i))
	mustDo(t, err)
	mustDo(t, b.eng.Sessions().SettleAll(ctx))
	active, found := b.facts(r, ragctx.MemoryActive), []ragctx.Memory(nil)
	for _, m := range slices.Concat(active, b.facts(r, ragctx.MemorySuperseded)) {
		if slices.ContainsFunc(m.Sources, func(p ragctx.Provenance) bool { return p.Turn == r.turnID(i) }) {
			found = append(found, m)
		}
	}
	r.said, r.active, r.after = append(r.said, found), append(r.active, active), append(r.after, b.eng.Now())
	s := b.score[r.half]
	for _, p := range turn.Says {
		s.good(r.labelledDialogue, mRecall, anyFact(found, p), fmt.Sprintf("%s in %q; has %s", p.text, turn.User, contentsOf(found)))
	}
	b.precision(r, i, found)
	if len(turn.Secrets) == 0 {
		s.error(r.labelledDialogue, mAlarm, len(res.Redacted) > 0, fmt.Sprintf("%v in %q", res.Redacted, turn.User))
	}
	for _, text := range turn.Secrets {
		b.secrets = append(b.secrets, secret{d: r.labelledDialogue, turn: i, text: text})
	}
}

// precision judges the facts found in a turn.
func (b *dialogueBench) precision(r *dialogueRun, i int, found []ragctx.Memory) {
	if r.theme == "secrets" || r.theme == "harmless" || r.endOnly() {
		return // they label only secrets, or only the end
	}
	turn, s := r.Turns[i], b.score[r.half]
	used := make(map[int]string)
	for _, m := range found {
		hit := slices.IndexFunc(turn.Says, func(p pattern) bool { return p.matches(m.Content) })
		may := slices.ContainsFunc(turn.May, func(p pattern) bool { return p.matches(m.Content) })
		if may && hit < 0 {
			continue
		}
		s.good(r.labelledDialogue, mPrecision, hit >= 0, fmt.Sprintf("%q (%s) of %q", m.Content, m.About.Rule, turn.User))
		if hit >= 0 {
			said := 0
			for _, p := range turn.Says {
				if p.matches(m.Content) {
					said++
				}
			}
			before, again := used[hit]
			s.error(r.labelledDialogue, mTwice, again && said == 1, fmt.Sprintf("%q and %q", before, m.Content))
			used[hit] = m.Content
		}
	}
}

// publish stores the procedures of a dialogue.
func (b *dialogueBench) publish(r *dialogueRun) {
	for _, p := range r.Procedures {
		k := engine.ProcedureKey{Namespace: r.ID, Name: p.Name}
		_, err := b.eng.Procedures().PutDraft(b.t.Context(), k, p.ProcedureBody)
		mustDo(b.t, err)
		_, err = b.eng.Procedures().Publish(b.t.Context(), k)
		mustDo(b.t, err)
	}
}

func (b *dialogueBench) facts(r *dialogueRun, state ragctx.MemoryState) []ragctx.Memory {
	return b.list(r, store.MemoryFilter{Kinds: facts.Kinds(), State: state})
}

func (b *dialogueBench) list(r *dialogueRun, f store.MemoryFilter) []ragctx.Memory {
	f.UserID, f.Limit = dialogueUser, engine.MaxPage
	all, _, err := b.eng.Memories().List(b.t.Context(), r.ID, f)
	mustDo(b.t, err)
	return all
}

// finish makes the checks at the end of a dialogue.
func (b *dialogueBench) finish(r *dialogueRun) {
	s, d := b.score[r.half], r.labelledDialogue
	end := b.facts(r, ragctx.MemoryActive)
	r.active = append(r.active, end)
	has := func(p pattern) bool { return anyFact(end, p) }
	existed := func(p pattern) bool { return r.last(p) >= 0 }
	for measure, patterns := range map[string][]pattern{mRetired: d.Gone, mEnded: d.Ended} {
		for _, p := range patterns {
			retired := existed(p) && !has(p)
			detail := "still active: "
			if !existed(p) {
				detail = "never learnt: "
			}
			s.good(d, measure, retired, detail+p.text+" in "+contentsOf(end))
			if existed(p) {
				s.good(d, mRight, retired, "still active: "+p.text)
			}
			if retired {
				before := r.after[r.last(p)]
				s.good(d, mHistory, anyFact(b.list(r, store.MemoryFilter{Kinds: facts.Kinds(), AsOf: before}), p), p.text)
			}
		}
	}
	for _, p := range slices.Concat(d.Known, d.Kept) {
		s.good(d, mRight, has(p), "missing: "+p.text+" in "+contentsOf(end))
		if existed(p) {
			s.error(d, mWrong, !has(p), p.text+" in "+contentsOf(end))
		}
	}
	for _, p := range d.Never {
		s.error(d, mNever, existed(p) || slices.ContainsFunc(r.said, func(all []ragctx.Memory) bool { return anyFact(all, p) }),
			p.text+" in "+contentsOf(slices.Concat(r.said...)))
	}
	if len(d.Quarantined) > 0 {
		list, _, err := b.eng.Memories().Quarantine(b.t.Context(), r.ID, store.MemoryFilter{UserID: dialogueUser, Limit: 100}, 0)
		mustDo(b.t, err)
		for _, p := range d.Quarantined {
			in := slices.ContainsFunc(list, func(q store.Quarantined) bool { return p.matches(q.Content) })
			s.good(d, mQuarantine, in, p.text)
		}
	}
	b.standing(d)
	b.finds(d)
	b.steps(d)
	b.clear(r)
}

// standing asks for the stable block of each query.
func (b *dialogueBench) standing(d *labelledDialogue) {
	for _, c := range d.Standing {
		q := ragctx.NewQuery(c.Query)
		q.Namespace, q.UserID, q.SessionID, q.Blocks = d.ID, dialogueUser, "asking", true
		a, err := b.eng.Context(b.t.Context(), q)
		mustDo(b.t, err)
		var stable string
		for _, block := range a.Blocks {
			if block.Name == "stable" {
				stable = block.Text
			}
		}
		for _, p := range c.Must {
			b.score[d.half].good(d, mStanding, p.matches(stable), fmt.Sprintf("%s for %q in %q", p.text, c.Query, stable))
		}
		for _, p := range c.Not {
			b.score[d.half].error(d, mStale, p.matches(stable), p.text)
		}
	}
}

// finds searches the memories, or the procedures, for each query.
func (b *dialogueBench) finds(d *labelledDialogue) {
	s := b.score[d.half]
	for _, f := range d.Finds {
		q := ragctx.NewQuery(f.Query)
		q.Namespace, q.UserID, q.SessionID = d.ID, dialogueUser, f.Session
		if f.Skill {
			a, err := b.eng.Context(b.t.Context(), q.WithTypes(ragctx.TypeSkill))
			mustDo(b.t, err)
			if len(f.Must.words) == 0 {
				s.error(d, mNoSkill, len(a.Items) > 0, f.Query)
				continue
			}
			found := func(it ragctx.ContextItem) bool { return f.Must.matches(it.Content) }
			s.good(d, mSkill, slices.ContainsFunc(a.Items, found), f.Query)
			continue
		}
		res, err := b.eng.Search(b.t.Context(), q.WithTypes(ragctx.TypeMemory))
		mustDo(b.t, err)
		k := f.K
		if k == 0 {
			k = 5
		}
		rank := slices.IndexFunc(res.Items, func(it ragctx.ContextItem) bool { return f.Must.matches(it.Content + " " + it.Since) })
		detail := fmt.Sprintf("%q: %s at rank %d of %d", f.Query, f.Must.text, rank+1, len(res.Items))
		s.count(d, mFound1, rank == 0, false, "")
		s.good(d, mFound, rank >= 0 && rank < k, detail)
	}
}

// steps checks the procedures that were extracted from the dialogue.
func (b *dialogueBench) steps(d *labelledDialogue) {
	if d.Steps == nil {
		return
	}
	list, err := b.eng.Procedures().List(b.t.Context(), d.ID, store.ProcedureFilter{AnyUser: true, Limit: 100})
	mustDo(b.t, err)
	var text strings.Builder
	for _, entry := range list {
		p, err := b.eng.Procedures().Get(b.t.Context(), engine.ProcedureKey{Namespace: d.ID, Name: entry.Name, ProcedureOwner: entry.ProcedureOwner})
		mustDo(b.t, err)
		versions := p.Versions
		if p.Draft != nil {
			versions = append(versions, *p.Draft)
		}
		for _, v := range versions {
			fmt.Fprintln(&text, strings.Join(slices.Concat(v.Steps, v.Verification, v.Pitfalls), "\n"))
		}
	}
	for _, p := range d.Steps.Must {
		b.score[d.half].good(d, mSteps, p.matches(text.String()), "missing: "+p.text+" in "+text.String())
	}
	for _, p := range d.Steps.Not {
		b.score[d.half].good(d, mSteps, !p.matches(text.String()), "taken over: "+p.text+" in "+text.String())
	}
}

// clear looks for the secrets of a dialogue in its turns and memories.
func (b *dialogueBench) clear(r *dialogueRun) {
	stored := map[string]string{}
	for i := range r.Turns {
		turn, err := b.eng.Sessions().Turn(b.t.Context(), r.ID, r.turnID(i), engine.Viewer{User: dialogueUser})
		mustDo(b.t, err)
		for _, m := range turn.Transcript() {
			stored["turn"] += strings.ToLower(m.Content.String()) + "\n"
		}
	}
	for _, m := range slices.Concat(b.list(r, store.MemoryFilter{}), b.facts(r, ragctx.MemorySuperseded)) {
		text, err := json.Marshal(m)
		mustDo(b.t, err)
		stored["memory"] += strings.ToLower(m.Content+"\n"+string(text)) + "\n"
		if m.About != nil {
			stored["fact"] += strings.ToLower(m.Content+"\n"+m.About.Value) + "\n"
		}
	}
	for i := range b.secrets {
		if b.secrets[i].d != r.labelledDialogue {
			continue
		}
		for place, text := range stored {
			if b.secrets[i].inClear(text) {
				b.secrets[i].places = append(b.secrets[i].places, place)
			}
		}
	}
}

// uuids matches ids. By chance a group of one is the PIN of a dialogue.
var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// leaks looks for all secrets in the log, the events and the raw files, and counts them.
func (b *dialogueBench) leaks() {
	raw := map[string]string{"log": strings.ToLower(b.log.String()), "event": strings.ToLower(b.seen.String())}
	if len(raw["event"]) == 0 {
		b.t.Error("no events were seen")
	}
	mustDo(b.t, filepath.WalkDir(b.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		raw["file"] += strings.ToLower(string(text)) + "\n"
		return err
	}))
	for place, text := range raw {
		raw[place] = uuids.ReplaceAllString(text, "")
	}
	for _, s := range b.secrets {
		for place, text := range raw {
			if s.inClear(text) {
				s.places = append(s.places, place)
			}
		}
		slices.Sort(s.places)
		b.score[s.d.half].error(s.d, mLeak, len(s.places) > 0,
			fmt.Sprintf("%q in %v: %q", s.text, s.places, s.d.Turns[s.turn].User))
	}
}

func (b *dialogueBench) report(half string) {
	s := b.score[half]
	b.t.Logf("%s%s", half, s.table([]string{"all", "en", "de", "fr", "es"}, measures))
	var themes []string
	for c := range s.figures {
		if c != "all" && len(c) > 2 {
			themes = append(themes, c)
		}
	}
	slices.Sort(themes)
	var b2 strings.Builder
	for _, theme := range themes {
		fmt.Fprintf(&b2, "\n%-14s", theme)
		for _, m := range measures {
			if r := s.figures[theme][m]; r.of > 0 {
				fmt.Fprintf(&b2, "%s %d/%d; ", m, r.n, r.of)
			}
		}
	}
	b.t.Logf("%s by theme%s", half, b2.String())
	if *misses == half {
		slices.Sort(s.misses)
		for _, line := range s.misses {
			b.t.Log(line)
		}
	}
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
