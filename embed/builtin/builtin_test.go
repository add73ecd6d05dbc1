package builtin_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/embed/minilm"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]embed.Identity{
		"static":     builtin.Default().Identity(),
		"auto":       autoIdentity(t),
		"minilm":     minilm.DefaultIdentity(),
		"hashing":    embed.NewHashing(0).Identity(),
		"hashing/64": embed.NewHashing(64).Identity(),
	} {
		e, err := builtin.Open(name)
		if err != nil || e.Identity() != want {
			t.Errorf("%q: %v, want %v", name, err, want)
			continue
		}
		if again, ok := builtin.OpenIdentity(want); !ok || again.Identity() != want {
			t.Errorf("%v cannot be opened again", want)
		}
	}
	for _, name := range []string{"", "Static", "static/256", "hashing/", "hashing/0", "hashing/65537", "hashing/x", "static:testdata", "minilm:testdata", "other"} {
		if _, err := builtin.Open(name); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestOpenLocal(t *testing.T) {
	t.Parallel()
	if e, err := builtin.OpenLocal("static:../static/model.bin"); err != nil || e.Identity() != builtin.Default().Identity() {
		t.Errorf("the built-in table's file: %v", err)
	}
	if e, err := builtin.OpenLocal("hashing"); err != nil || e.Identity().Name != "hashing" {
		t.Errorf("hashing: %v", err)
	}
	for _, name := range []string{"static:", "static:" + t.TempDir(), "static:nowhere", "minilm:", "minilm:" + t.TempDir()} {
		if _, err := builtin.OpenLocal(name); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestSuccessor(t *testing.T) {
	t.Parallel()
	now := builtin.Default().Identity()
	old := now
	old.Revision += ".old"
	if _, ok := builtin.OpenIdentity(old); ok {
		t.Errorf("%v is built in", old)
	}
	if next, ok := builtin.Successor(old); !ok || next.Identity() != now {
		t.Errorf("%v has no successor", old)
	}
	for _, id := range []embed.Identity{now, embed.NewHashing(0).Identity(), {Name: "other"}} {
		if _, ok := builtin.Successor(id); ok {
			t.Errorf("%v has a successor", id)
		}
	}
}

// TestTrainedAgain: a table of the user's that says the same of itself as the built-in
// one, as train/train.py writes it, is neither taken for it nor replaced by it.
func TestTrainedAgain(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../static/model.bin")
	if err != nil {
		t.Fatal(err)
	}
	body := data[:len(data)-sha256.Size]
	body[len(body)-1]++
	sum := sha256.Sum256(body)
	path := filepath.Join(t.TempDir(), "model.bin")
	if err := os.WriteFile(path, append(body, sum[:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := builtin.OpenLocal(builtin.TablePrefix + path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := builtin.OpenIdentity(e.Identity()); ok {
		t.Errorf("%v is taken for the built-in table", e.Identity())
	}
	if _, ok := builtin.Successor(e.Identity()); ok {
		t.Errorf("%v has a successor", e.Identity())
	}
}

func autoIdentity(t *testing.T) embed.Identity {
	t.Helper()
	e, err := builtin.Open("auto")
	if err != nil {
		t.Fatal(err)
	}
	return e.Identity()
}

// TestAuto embeds English texts and code with the model, and leaves others to the table.
func TestAuto(t *testing.T) {
	t.Parallel()
	e, err := builtin.Open("auto")
	if err != nil {
		t.Fatal(err)
	}
	english := []string{
		"The pump was replaced in March.", "def total(xs):\n    return sum(xs)", "Berlin", "De la Cruz met van Dijk in the park of the city.",
	}
	others := []string{
		"Die Pumpe ist im März nicht ersetzt worden, und das ist für den Betrieb wichtig.",
		"Насос заменили в марте.", "泵在三月被更换。",
		"La bomba no se cambió en marzo, pero los motores son como una copia.", "",
	}
	got, err := e.EmbedDocuments(t.Context(), append(slices.Clone(english), others...))
	if err != nil {
		t.Fatal(err)
	}
	want, err := minilm.Default().EmbedDocuments(t.Context(), english)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range english {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("%q does not have the model's vector", text)
		}
	}
	for i, text := range others {
		if got[len(english)+i] != nil {
			t.Errorf("%q has a vector of the model", text)
		}
	}
	interim, scale, _ := e.(embed.Gradual).Interim()
	if c, ok := interim.(embed.Recomputed); !ok || !c.Recomputed() || scale <= 0 || interim.Identity() != builtin.Default().Identity() {
		t.Errorf("the interim embedder is %v with scale %v", interim.Identity(), scale)
	}
}
