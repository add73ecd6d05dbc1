package engine_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// How many different names there are: few, so that most writes meet something.
const (
	documentNames = 40
	memoryNames   = 60
)

var (
	modelUsers    = []string{"", "", "ada", "bob", "eve"}
	modelAgents   = []string{"", "", "planner", "coder"}
	modelSessions = []string{"", "s1", "s2", "s3"}
	modelTags     = []string{"red", "green", "blue"}
	// No two of them share a part, and no other word here does.
	modelTopics = []string{"jujuka", "vovubi", "yiyozo", "zazimu", "kukohu", "wawipu", "xoxeju", "fifagu", "duvodo", "gogixi"}
	modelFiller = []string{"north", "harbour", "granite", "lantern", "meadow", "copper", "signal", "orchard", "ferry", "cellar", "window", "bridge"}
)

// token returns a word that nothing else has. It has no vowels, so that no
// stemmer touches it, and shares few runs of letters with others: an index may
// find words by their parts as well.
func (m *machine) token() string {
	const letters = "bcdfghjklmnprtvwxz"
	m.tokens++
	const all = 18 * 18 * 18 * 18 * 18 * 18 * 18 * 18 * 18
	n := uint64(m.tokens) * 3_141_592_653_589 % all // prime to 18: no two are the same
	w := make([]byte, 10)
	w[0] = 'q' // there alone, so that the end of a token and its neighbor in a file are never another token
	for i := range w[1:] {
		w[i+1], n = letters[n%18], n/18
	}
	return string(w)
}

// sentence returns words that include the token and the topic.
func (m *machine) sentence() (text, token, topic string) {
	token, topic = m.token(), pick(m, modelTopics)
	words := []string{token, "the", topic, "of"}
	for range 3 + m.rand.IntN(6) {
		words = append(words, pick(m, modelFiller))
	}
	m.rand.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return strings.Join(words, " "), token, topic
}

func (m *machine) some(from []string) []string {
	out := []string{}
	for _, s := range from {
		if m.chance(3) {
			out = append(out, s)
		}
	}
	return out
}

func documentName(n int) string {
	switch n {
	case 0:
		return "a/b c@7#3.md"
	case 1:
		return "https://example.org/?q=x&y=ä.md"
	default:
		return fmt.Sprintf("doc-%02d.md", n)
	}
}

// draft makes a document and says what pieces it has.
func (m *machine) draft(id string) *version {
	sections := 1 + m.rand.IntN(3)
	switch {
	case m.chance(700):
		sections = 400 + m.rand.IntN(800)
	case m.chance(15):
		sections = 20 + m.rand.IntN(60)
	}
	v := &version{kind: store.KindDocuments, key: id}
	v.doc = ragctx.Document{
		ExternalID: id, Title: "Page " + m.token(), Source: "file:" + pick(m, []string{"a/", "b/"}) + id,
		Tags: m.some(modelTags), Occurred: m.occurred(),
	}
	var text strings.Builder
	for range sections {
		said, token, topic := m.sentence()
		heading := "Part " + m.token()
		chunk := "## " + heading + "\n\n" + said + "."
		text.WriteString(chunk + "\n\n")
		v.pieces = append(v.pieces, piece{text: chunk, embedded: v.doc.Title + "\n" + heading + "\n" + chunk, token: token, topic: topic})
	}
	v.doc.Text = text.String()
	return v
}

func (m *machine) occurred() time.Time {
	if m.chance(4) {
		return time.Time{}
	}
	return m.clock.now().Add(-time.Duration(m.rand.IntN(100)) * time.Hour)
}

// again returns a draft with the content of an earlier version.
func again(of *version, id string) *version {
	v := &version{kind: of.kind, key: id, pieces: of.pieces, doc: of.doc, mem: of.mem}
	if v.kind == store.KindDocuments {
		v.doc.ExternalID = id
	} else {
		v.mem.ID = id
	}
	return v
}

// putDocument stores a new text, the same as before, an earlier version again,
// or a copy of another document.
func (m *machine) putDocument() {
	s := pick(m, m.active)
	id := documentName(m.rand.IntN(documentNames))
	v := m.draft(id)
	earlier := s.versions(store.KindDocuments)
	switch old, n := s.items[key{store.KindDocuments, id}], m.rand.IntN(30); {
	case len(old) > 0 && n < 3:
		v = again(old[len(old)-1], id)
	case len(old) > 0 && n < 6:
		v = again(pick(m, old), id)
	case len(earlier) > 0 && n < 8:
		v = again(pick(m, earlier), id)
	}
	m.note("put %s %s, %d sections, token %s", s.name, id, len(v.pieces), v.pieces[0].token)
	got, err := m.eng.Documents().Put(m.Context(), s.name, v.doc, "")
	if err != nil {
		m.Fatal(err)
	}
	old := s.current(key{store.KindDocuments, id})
	want := store.Put{Status: store.Created, Version: s.next(key{store.KindDocuments, id}), Chunks: len(v.pieces)}
	if old != nil {
		want.Status = store.Replaced
		if reflect.DeepEqual(old.doc, v.doc) {
			want.Status, want.Version, v = store.Unchanged, old.number, old
		}
	}
	if got.Seq, got.Revision = 0, ""; got != want {
		m.Fatalf("put says %+v, want %+v", got, want)
	}
	m.accept(s, v, want.Status)
	m.compareUnits(s, v)
	if old != nil && old != v {
		m.wantGone(s, old)
	}
}

// accept brings the model up to date after a write, and asks both legs for it.
func (m *machine) accept(s *modelSpace, v *version, st store.Status) {
	if st != store.Unchanged {
		m.apply(s, v)
	}
	if !v.superseded.IsZero() {
		return // a tier was full
	}
	m.wantFound(s, v)
}

// apply makes v current in the model.
func (m *machine) apply(s *modelSpace, v *version) {
	for _, p := range v.pieces {
		m.uses[p.token]++
	}
	s.put(v, m.clock.now())
	for _, old := range s.trim(v, m.clock.now()) {
		m.wantGone(s, old)
	}
}

func (m *machine) deleteDocument() {
	s := m.space()
	k := key{store.KindDocuments, documentName(m.rand.IntN(documentNames))}
	m.note("delete %s %s", s.name, k.id)
	m.ended(s, k, m.eng.Documents().Delete(m.Context(), s.name, k.id), s.current(k) != nil)
}

// ended compares the outcome of a delete, which ought to have found something or not.
func (m *machine) ended(s *modelSpace, k key, err error, found bool) {
	m.Helper()
	if found && err != nil || !found && !errors.Is(err, ragctx.ErrNotFound) {
		m.Fatalf("delete of %s: %v", k.id, err)
	}
	if !found {
		return
	}
	v := s.current(k)
	s.end(k, m.clock.now())
	m.wantGone(s, v)
}

// speech returns what one speaker says, as a turn shows it.
func (m *machine) speech(who string) (said string, p piece) {
	said, token, topic := m.sentence()
	text := who + ": " + said
	return said, piece{text: text, embedded: text, token: token, topic: topic}
}

// turn completes a new turn, or one that is there, unchanged or changed.
func (m *machine) turn() {
	s := pick(m, m.active)
	t := ragctx.Turn{
		Namespace: s.name, UserID: pick(m, modelUsers), AgentID: pick(m, modelAgents), SessionID: pick(m, modelSessions),
		Occurred: m.clock.now().Add(-time.Duration(m.rand.IntN(100)) * time.Hour), Tags: m.some(modelTags),
	}
	v := &version{kind: store.KindMemories, pieces: make([]piece, 2)}
	t.Prompt, v.pieces[0] = m.speech("user")
	t.Response, v.pieces[1] = m.speech("assistant")
	switch {
	case len(s.told) > 0 && m.chance(10): // the same again
		t, v = s.turns[pick(m, s.told)], nil
	case len(s.told) > 0 && m.chance(20): // another of the same id
		t.ID = pick(m, s.told)
	case m.chance(20):
		t.ID = memoryName(m.rand.IntN(memoryNames))
	case !m.chance(5):
		t.ID = fmt.Sprintf("turn-%d", m.done)
	}
	m.note("turn %s %q of %q, session %q", s.name, t.ID, t.UserID, t.SessionID)
	got, err := m.eng.CompleteTurn(m.Context(), t)
	before, told := s.turns[t.ID]
	was := s.current(key{store.KindMemories, t.ID})
	switch {
	case t.ID == "":
		t.ID = got.ID
		fallthrough
	case !told && was == nil && !s.taken(t.ID, t.UserID):
		m.told(s, t, v, got, err)
	case told && was != nil && reflect.DeepEqual(before, t):
		if err != nil || got.Status != store.Unchanged || got.MemoryID != t.ID {
			m.Fatalf("the same turn again: %+v, %v", got, err)
		}
	case !errors.Is(err, ragctx.ErrConflict):
		m.Fatalf("turn %q is taken: %+v, %v", t.ID, got, err)
	}
}

// told records a new turn.
func (m *machine) told(s *modelSpace, t ragctx.Turn, v *version, got engine.TurnResult, err error) {
	if err != nil || got.Status != store.Created || got.ID != t.ID || got.MemoryID != t.ID {
		m.Fatalf("turn %q: %+v, %v", t.ID, got, err)
	}
	s.turns[t.ID] = t
	s.told = append(s.told, t.ID)
	v.key = t.ID
	v.mem = ragctx.Memory{
		ID: t.ID, Namespace: s.name, UserID: t.UserID, AgentID: t.AgentID, SessionID: t.SessionID, Type: ragctx.MemoryEpisodic,
		Content: v.pieces[0].text + "\n" + v.pieces[1].text, Importance: ragctx.DefaultImportance, Tags: t.Tags, Occurred: t.Occurred,
	}
	m.accept(s, v, store.Created)
}

func memoryName(n int) string { return fmt.Sprintf("note-%02d", n) }

// remember stores a new memory, or replaces one.
func (m *machine) remember() {
	s := pick(m, m.active)
	k := key{store.KindMemories, memoryName(m.rand.IntN(memoryNames))}
	if len(s.told) > 0 && m.chance(15) {
		k.id = pick(m, s.told)
	}
	v := m.thought(s, k.id)
	old := s.current(k)
	if old != nil && m.chance(8) {
		v = again(old, k.id)
	}
	m.note("remember %s %s of %q until %v, token %s", s.name, k.id, v.mem.UserID, v.mem.Expires, v.pieces[0].token)
	_, st, err := m.eng.Memories().Put(m.Context(), v.mem)
	switch {
	case v.expired(m.clock.now()):
		if !errors.Is(err, ragctx.ErrInvalid) {
			m.Fatalf("expired before it is stored: %v", err)
		}
		return
	case s.taken(k.id, v.mem.UserID):
		if !errors.Is(err, ragctx.ErrConflict) {
			m.Fatalf("%q took the id of another's memory: %v", v.mem.UserID, err)
		}
		return
	}
	want := store.Created
	if old != nil {
		want = store.Replaced
		if reflect.DeepEqual(old.mem, v.mem) {
			want, v = store.Unchanged, old
		}
	}
	if err != nil || st != want {
		m.Fatalf("remember says %q, %v; want %q", st, err, want)
	}
	m.accept(s, v, want)
	if old != nil && old != v {
		m.wantGone(s, old)
	}
}

func (m *machine) thought(s *modelSpace, id string) *version {
	v := &version{kind: store.KindMemories, key: id}
	said, token, topic := m.sentence()
	v.pieces = []piece{{text: said, embedded: said, token: token, topic: topic}}
	v.mem = ragctx.Memory{
		ID: id, Namespace: s.name, UserID: pick(m, modelUsers), AgentID: pick(m, modelAgents), SessionID: pick(m, modelSessions),
		Type: pick(m, []ragctx.MemoryType{ragctx.MemorySemantic, ragctx.MemoryProcedural, ragctx.MemoryWorking}), Content: said,
		Importance: float64(m.rand.IntN(11)) / 10, Tags: m.some(modelTags),
		Occurred: m.clock.now().Add(-time.Duration(m.rand.IntN(100)) * time.Hour),
	}
	if m.chance(4) {
		v.mem.Expires = m.clock.now().Add(time.Duration(1+m.rand.IntN(30)) * time.Minute)
	}
	return v
}

// forget deletes a memory, also one that is not there, or another user's.
func (m *machine) forget() {
	s := m.space()
	k := key{store.KindMemories, memoryName(m.rand.IntN(memoryNames))}
	if len(s.told) > 0 && m.chance(2) {
		k.id = pick(m, s.told)
	}
	user, anyone := pick(m, modelUsers), m.chance(3)
	v := s.current(k)
	m.note("forget %s %s for %q, anyone's: %v", s.name, k.id, user, anyone)
	may := v != nil && (anyone || v.mem.UserID == "" || v.mem.UserID == user)
	if err := m.eng.Memories().Delete(m.Context(), s.name, k.id, user, anyone); err != nil && (may || !errors.Is(err, ragctx.ErrNotFound)) {
		m.Fatalf("delete of %s: %v", k.id, err)
	}
	if may {
		m.ended(s, k, nil, true)
	}
}
