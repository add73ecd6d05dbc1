package index_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// line is a chunk of a conversation as the tests write it.
func line(id uint64, p *index.Item, who, text string) index.Chunk {
	role, name, _ := strings.Cut(who, ":")
	return index.Chunk{ID: id, Seq: id, Item: p, Text: text, Speaker: index.Speaker{Role: ragctx.Role(role), Name: name}}
}

// told returns chunks of turns in one session, an hour apart.
func told(user, session string, first uint64, texts ...string) (out []index.Chunk) {
	for i, text := range texts {
		id := first + uint64(i)
		p := &index.Item{ID: id, User: user, Session: session, Recorded: t0, Occurred: t0.Add(time.Duration(id) * time.Hour)}
		who, words, _ := strings.Cut(text, " ")
		out = append(out, line(id, p, who, words))
	}
	return out
}

// explained writes hits as chunk=part+part, in hundredths.
func explained(r index.Result) string {
	var out []string
	for _, h := range r.Hits {
		var parts []string
		named := h.Signals.Parts.Named()
		for _, name := range slices.Sorted(maps.Keys(named)) {
			parts = append(parts, fmt.Sprintf("%s %.2f", name, named[name]))
		}
		out = append(out, fmt.Sprintf("%d: %.2f = %s", h.ID, h.Score, strings.Join(parts, " + ")))
	}
	return strings.Join(out, "\n")
}

func TestFeaturesAreExplained(t *testing.T) {
	h, _, _ := open(t)
	apply(t, h, index.Batch{Seq: 20, Add: slices.Concat(
		told("", "s1", 1, "user:Ada red apple", "user:Bob pear", "user:Ada plum", "user:Bob apple"),
		told("", "s2", 11, "assistant: apple", "user: plum"),
	)})
	text := "red apple Ada's"
	for _, c := range []struct {
		name string
		q    index.Query
		want string
	}{
		{"off", index.Query{}, "1: 0.67 = \n4: 0.33 = \n11: 0.33 = "},
		{
			"neighbours",
			index.Query{Conversation: &index.ConversationWeights{Session: -1, Speaker: -1, User: -1}},
			`1: 0.67 = match 0.67
4: 0.33 = match 0.33
11: 0.33 = match 0.33
2: 0.27 = neighbours 0.27
3: 0.15 = neighbours 0.15
12: 0.12 = neighbours 0.12`,
		},
		{
			"speaker",
			index.Query{Conversation: &index.ConversationWeights{Previous: -1, Next: -1, Second: -1, Session: -1, User: -1}},
			"1: 0.67 = match 0.51 + speaker 0.15\n4: 0.26 = match 0.26\n11: 0.26 = match 0.26",
		},
		{
			"user",
			index.Query{Conversation: &index.ConversationWeights{Previous: -1, Next: -1, Second: -1, Session: -1, Speaker: -1}},
			"1: 0.67 = match 0.51 + user 0.15\n4: 0.33 = match 0.26 + user 0.08\n11: 0.26 = match 0.26",
		},
		{
			"session",
			index.Query{Conversation: &index.ConversationWeights{Previous: -1, Next: -1, Second: -1, User: -1, Speaker: -1, Session: 1}},
			`1: 0.67 = match 0.33 + session 0.33
4: 0.50 = match 0.17 + session 0.33
11: 0.39 = match 0.17 + session 0.22
2: 0.33 = session 0.33
3: 0.33 = session 0.33
12: 0.22 = session 0.22`,
		},
		{
			"time",
			index.Query{Time: &index.Time{Weight: 1, Reading: timeexpr.Reading{From: t0.Add(11 * time.Hour), To: t0.Add(12 * time.Hour)}}},
			"11: 0.67 = match 0.22 + within_time 0.44\n1: 0.44 = match 0.44\n4: 0.22 = match 0.22",
		},
	} {
		c.q.Text, c.q.Explain = text, true
		if got := explained(search(t, h, c.q)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// world is a random history of conversations.
type world struct {
	entries []index.Chunk
	ended   map[uint64]time.Time
	removed map[uint64]bool
}

func drawWorld(t *rapid.T) world {
	w := world{ended: make(map[uint64]time.Time), removed: make(map[uint64]bool)}
	name := rapid.SampledFrom([]string{"", "a", "b"})
	text := rapid.SampledFrom([]string{"apple", "pear", "red apple", "plum", "nut", "fig"})
	who := rapid.SampledFrom([]string{"user:Ada", "user:Bob", "assistant:", ":"})
	id := uint64(0)
	for n := range rapid.IntRange(1, 30).Draw(t, "parents") {
		p := &index.Item{
			ID: uint64(n + 1), User: name.Draw(t, "user"), Agent: rapid.SampledFrom([]string{"", "x"}).Draw(t, "agent"),
			Session: rapid.SampledFrom([]string{"", "s1", "s1", "s2"}).Draw(t, "session"), Recorded: t0,
			Occurred: t0.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "hour")) * time.Hour),
		}
		for range rapid.IntRange(1, 3).Draw(t, "units") {
			id++
			e := line(id, p, who.Draw(t, "who"), text.Draw(t, "text"))
			e.Speaker.Timed = rapid.Bool().Draw(t, "timed")
			w.entries = append(w.entries, e)
		}
		switch rapid.IntRange(0, 9).Draw(t, "fate") {
		case 0:
			w.ended[p.ID] = t0.AddDate(0, 0, 5)
		case 1:
			w.removed[p.ID] = true
		}
	}
	return w
}

// feed makes the world happen in random batches that do not split an item.
func (w world) feed(t *rapid.T, h *harness) {
	seq := uint64(0)
	var b index.Batch
	for i, e := range w.entries {
		b.Add = append(b.Add, e)
		if i+1 < len(w.entries) && (w.entries[i+1].Item == e.Item || rapid.Bool().Draw(t, "on")) {
			continue
		}
		seq++
		b.Seq = seq
		apply(t, h, b)
		b = index.Batch{}
	}
	for _, p := range slices.Sorted(maps.Keys(w.ended)) {
		seq++
		apply(t, h, index.Batch{Seq: seq, Ended: []index.End{{Item: p, At: w.ended[p], Seq: seq}}})
	}
	for _, p := range slices.Sorted(maps.Keys(w.removed)) {
		seq++
		gone := index.Removal{Item: p}
		for _, e := range w.entries {
			if e.Item.ID == p {
				gone.Chunks = append(gone.Chunks, e.ID)
			}
		}
		apply(t, h, index.Batch{Seq: seq, Removed: []index.Removal{gone}})
	}
}

// seen returns what q may see.
func (w world) seen(q index.Query) (out []index.Chunk) {
	for _, e := range w.entries {
		end, ended := w.ended[e.Item.ID]
		current := !ended || !q.AsOf.IsZero() && q.AsOf.Before(end)
		if allowed(q, e.Item) && !w.removed[e.Item.ID] && current {
			out = append(out, e)
		}
	}
	return out
}

func drawQuery(t *rapid.T) index.Query {
	q := index.Query{
		Text: rapid.SampledFrom([]string{"apple", "red apple", "pear Ada", "fig nut", "Bob's plum"}).Draw(t, "text"), K: 100, Now: t0.AddDate(0, 0, 9),
		Scope: index.Scope{
			User: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "q.user"), AnyUser: rapid.IntRange(0, 3).Draw(t, "any") == 0,
			Agent: rapid.SampledFrom([]string{"", "", "x"}).Draw(t, "q.agent"), Session: rapid.SampledFrom([]string{"", "", "s1"}).Draw(t, "q.session"),
		},
	}
	if rapid.Bool().Draw(t, "q.asof") {
		q.AsOf = t0.AddDate(0, 0, 3)
	}
	return q
}

// message is what one speaker says in a row, in the model.
type message struct{ chunks []index.Chunk }

// threads returns the sessions of what is seen, as lists of messages.
func threads(seen []index.Chunk) map[[3]string][]message {
	seen = slices.Clone(seen)
	slices.SortStableFunc(seen, func(a, b index.Chunk) int {
		return cmp.Or(a.Item.Occurred.Compare(b.Item.Occurred), cmp.Compare(a.ID, b.ID))
	})
	out := make(map[[3]string][]message)
	for _, e := range seen {
		if e.Item.Session == "" {
			continue
		}
		key := [3]string{e.Item.User, e.Item.Agent, e.Item.Session}
		list := out[key]
		if n := len(list); n > 0 {
			last := list[n-1].chunks[0]
			if last.Item == e.Item && last.Speaker.Role == e.Speaker.Role && last.Speaker.Name == e.Speaker.Name {
				list[n-1].chunks = append(list[n-1].chunks, e)
				continue
			}
		}
		out[key] = append(list, message{[]index.Chunk{e}})
	}
	return out
}

// expected scores what is seen by the formulas as they are written down, and
// nothing else.
func expected(q index.Query, seen []index.Chunk) map[uint64]float64 {
	terms := strings.Fields(q.Text)
	match := make(map[uint64]float64)
	best := 0.0
	for _, e := range seen {
		for _, term := range terms {
			if slices.Contains(strings.Fields(e.Text), term) {
				match[e.ID] += 1 / float64(len(terms))
			}
		}
		best = max(best, match[e.ID])
	}
	d := q.Conversation.WithDefaults()
	score := make(map[uint64]float64)
	group := make(map[[3]string]float64)
	lists := threads(seen)
	for key, list := range lists {
		chunks := 0
		at := func(i int) (top float64) {
			if i < 0 || i >= len(list) {
				return 0
			}
			for _, u := range list[i].chunks {
				top = max(top, match[u.ID])
			}
			return top
		}
		for i, m := range list {
			near := d.Previous*at(i-1) + d.Next*at(i+1) + d.Second*(at(i-2)+at(i+2))
			for n, u := range m.chunks {
				chunks++
				group[key] += match[u.ID] * float64(len(terms))
				// A message without a match comes in by its first chunk.
				if match[u.ID] > 0 || n == 0 && at(i) == 0 && (at(i-1)+at(i+1)+at(i-2)+at(i+2) > 0) {
					score[u.ID] = match[u.ID] + near
				}
			}
		}
		group[key] /= float64(chunks)
	}
	for _, e := range seen {
		if e.Item.Session == "" && match[e.ID] > 0 {
			score[e.ID] = match[e.ID]
		}
	}
	if len(score) == 0 {
		return nil
	}
	if top, all := slices.Max(slices.Collect(maps.Values(score))), slices.Max(append(slices.Collect(maps.Values(group)), 0)); len(lists) > 1 && all > 0 {
		for _, e := range seen {
			if _, ok := score[e.ID]; ok {
				score[e.ID] += d.Session * top * group[[3]string{e.Item.User, e.Item.Agent, e.Item.Session}] / all
			}
		}
	}
	users, others := false, false
	for _, e := range seen {
		if _, ok := score[e.ID]; ok {
			users = users || e.Speaker.Role == ragctx.RoleUser
			others = others || e.Speaker.Role == ragctx.RoleAssistant
		}
	}
	for _, e := range seen {
		if _, ok := score[e.ID]; !ok {
			continue
		}
		if n := e.Speaker.Name; n != "" && strings.Contains(q.Text, n) {
			score[e.ID] *= 1 + d.Speaker
		}
		if users && others && e.Speaker.Role == ragctx.RoleUser {
			score[e.ID] *= 1 + d.User
		}
		if d.AsksWhen && e.Speaker.Timed {
			score[e.ID] *= 1 + d.Timed
		}
	}
	top := slices.Max(slices.Collect(maps.Values(score)))
	for id := range score {
		score[id] *= best / top
	}
	maps.DeleteFunc(score, func(_ uint64, s float64) bool { return s == 0 })
	return score
}

// TestFeaturesAgainstModel compares scores with those of a model that knows only
// what the query may see: nothing else has any influence.
func TestFeaturesAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHarness(t, index.Options{})
		defer h.Close()
		w := drawWorld(t)
		w.feed(t, h)
		for range 3 {
			q := drawQuery(t)
			q.Explain = rapid.Bool().Draw(t, "explain")
			q.Conversation = &index.ConversationWeights{
				Session: rapid.SampledFrom([]float64{0, -1, .5}).Draw(t, "session weight"),
				Second:  rapid.SampledFrom([]float64{0, -1}).Draw(t, "second"), AsksWhen: rapid.Bool().Draw(t, "when"),
			}
			want := expected(q, w.seen(q))
			r := search(t, h, q)
			if len(r.Hits) != len(want) {
				t.Fatalf("%d hits, want %d", len(r.Hits), len(want))
			}
			for i, hit := range r.Hits {
				if math.Abs(hit.Score-want[hit.ID]) > 1e-9 {
					t.Fatalf("chunk %d scores %v, want %v", hit.ID, hit.Score, want[hit.ID])
				}
				if i > 0 && hit.Score > r.Hits[i-1].Score {
					t.Fatalf("hits are not in order")
				}
				if sum := total(hit); q.Explain && math.Abs(sum-hit.Score) > 1e-9 {
					t.Fatalf("the parts of %d make %v, the score is %v", hit.ID, sum, hit.Score)
				}
			}
		}
	})
}

func total(h index.Hit) (sum float64) {
	for _, v := range h.Signals.Parts.Named() {
		sum += v
	}
	return sum
}

// TestTimesAgainstModel lists windows and compares with what lies in them.
func TestTimesAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHarness(t, index.Options{})
		defer h.Close()
		w := drawWorld(t)
		w.feed(t, h)
		q := drawQuery(t)
		question := rapid.SampledFrom([]string{"session 1", "last session", "this session", "yesterday", "last week", "the last two sessions", "January 2nd"}).Draw(t, "time")
		reading, ok := timeexpr.Read(question, q.Now)
		if !ok {
			t.Fatalf("%q is not read", question)
		}
		q.Time = &index.Time{Reading: reading, List: true}
		q.Session = rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "asked in")
		seen := w.seen(q)
		line := timeline(seen)
		line.Current = q.Session
		win := reading.Window(line)
		slices.SortStableFunc(seen, func(a, b index.Chunk) int {
			return cmp.Or(a.Item.Occurred.Compare(b.Item.Occurred), cmp.Compare(a.ID, b.ID))
		})
		var want []uint64
		for _, e := range seen {
			if win.Contains(e.Item.Occurred, e.Item.Session) {
				want = append(want, e.ID)
			}
		}
		got := search(t, h, q)
		if !slices.Equal(ids(got), want) {
			t.Fatalf("%q lists %v, want %v", question, ids(got), want)
		}
		for i, hit := range got.Hits {
			if hit.Score > 1 || hit.Score < .5 || i > 0 && hit.Score >= got.Hits[i-1].Score {
				t.Fatalf("hit %d of %d scores %v", i, len(want), hit.Score)
			}
		}
		all, ok, err := h.Within(t.Context(), q)
		if err != nil || !ok || !slices.Equal(ids(all), want) {
			t.Fatalf("%q has %v within, want %v", question, ids(all), want)
		}
	})
}

// timeline is that of what is seen.
func timeline(seen []index.Chunk) (t timeexpr.Timeline) {
	spans := make(map[string]*timeexpr.Session)
	days := make(map[time.Time]bool)
	for _, e := range seen {
		at := e.Item.Occurred
		days[at.Truncate(24*time.Hour)] = true
		if e.Item.Session == "" {
			continue
		}
		s := cmp.Or(spans[e.Item.Session], &timeexpr.Session{ID: e.Item.Session, First: at, Last: at})
		if at.Before(s.First) {
			s.First = at
		}
		if at.After(s.Last) {
			s.Last = at
		}
		spans[e.Item.Session] = s
	}
	for _, s := range spans {
		t.Sessions = append(t.Sessions, *s)
	}
	slices.SortFunc(t.Sessions, func(a, b timeexpr.Session) int {
		return cmp.Or(a.First.Compare(b.First), a.Last.Compare(b.Last), cmp.Compare(a.ID, b.ID))
	})
	t.Days = slices.SortedFunc(maps.Keys(days), time.Time.Compare)
	return t
}

// TestVoicesAreKept reads conversations back from the catalog's file.
func TestVoicesAreKept(t *testing.T) {
	dir := t.TempDir()
	f := &history{}
	var all []index.Chunk
	for i := range uint64(1200) {
		p := &index.Item{ID: i + 1, Session: fmt.Sprint("s", i%7), Recorded: t0, Occurred: t0.Add(time.Duration(i) * time.Minute)}
		e := line(i+1, p, []string{"user:Ada", "assistant:", "user:Bob"}[i%3], []string{"apple", "pear", "red apple", "plum", "fig"}[i%5])
		e.Speaker.Timed = i%4 == 0
		all = append(all, e)
	}
	f.add(index.Batch{Seq: 1200, Add: all})
	q := index.Query{Text: "red apple Ada", K: 2000, Conversation: &index.ConversationWeights{AsksWhen: true}, Explain: true}
	texts := newWords()
	o := index.Options{Dir: dir, Feed: f, Keyword: func(context.Context) (index.KeywordIndex, error) { return texts, nil }}
	h := newHarness(t, o)
	want := explained(search(t, h, q))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h = newHarness(t, o)
	defer h.Close()
	if got := explained(search(t, h, q)); got != want || !strings.Contains(got, "speaker") || !strings.Contains(got, "speaks_of_time") {
		t.Errorf("scored otherwise after opening again:\n%.300s\nwant\n%.300s", got, want)
	}
}

// TestFeaturesBesideApply searches while conversations grow, end and go.
func TestFeaturesBesideApply(t *testing.T) {
	h, _, _ := open(t)
	reading, _ := timeexpr.Read("last session", t0.AddDate(0, 1, 0))
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range 150 {
				q := index.Query{
					Text: "apple Ada", Vector: []float32{1, 0}, K: 5, Now: t0.AddDate(0, 1, 0), Scope: index.Scope{User: "a"},
					Conversation: &index.ConversationWeights{}, Time: &index.Time{Reading: reading, List: i%2 == 0},
				}
				r, err := h.Search(t.Context(), q)
				if err != nil {
					t.Error(err)
				}
				for _, hit := range r.Hits {
					if hit.ID%3 == 0 {
						t.Errorf("chunk %d of another user was found", hit.ID)
					}
				}
			}
		})
	}
	for i := uint64(1); i <= 150; i++ {
		user := "a"
		if i%3 == 0 {
			user = "b"
		}
		b := index.Batch{Seq: i, Add: told(user, fmt.Sprint("s", i%2), i, "user:Ada apple")}
		if i%5 == 0 {
			b.Ended = []index.End{{Item: i - 1, At: t0, Seq: i}}
		}
		if i%7 == 0 {
			b.Removed = []index.Removal{{Item: i - 3, Chunks: []uint64{i - 3}}}
		}
		apply(t, h, b)
	}
	wg.Wait()
}
