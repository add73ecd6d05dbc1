package mem0

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/request"
	"github.com/ragctx/ragctx/internal/access"
)

// TestFilters compares the alternatives that filters come to with what they say of
// every combination of users, agents and runs.
func TestFilters(t *testing.T) {
	names := map[string][]string{"user_id": {"u1", "u2"}, "agent_id": {"a1", "a2"}, "run_id": {"r1", "r2"}}
	leaf := rapid.Custom(func(t *rapid.T) any {
		name := rapid.SampledFrom([]string{"user_id", "agent_id", "run_id"}).Draw(t, "name")
		values := rapid.SliceOfNDistinct(rapid.SampledFrom(names[name]), 1, 2, rapid.ID).Draw(t, "values")
		if len(values) == 1 && rapid.Bool().Draw(t, "plain") {
			return map[string]any{name: values[0]}
		}
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		return map[string]any{name: map[string]any{"in": list}}
	})
	var node func(depth int) *rapid.Generator[any]
	node = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf, rapid.Custom(func(t *rapid.T) any {
			op := rapid.SampledFrom([]string{"AND", "OR"}).Draw(t, "op")
			return map[string]any{op: rapid.SliceOfN(node(depth-1), 1, 3).Draw(t, "operands")}
		}))
	}
	rapid.Check(t, func(t *rapid.T) {
		filters := node(2).Draw(t, "filters").(map[string]any)
		scopes, err := readFilters(filters, access.Grant{})
		if err != nil {
			if !strings.Contains(err.Error(), "alternatives") {
				t.Fatal(err)
			}
			return
		}
		for _, user := range []string{"u1", "u2"} {
			for _, agent := range []string{"a1", "a2"} {
				for _, run := range []string{"r1", "r2"} {
					one := map[string]string{"user_id": user, "agent_id": agent, "run_id": run}
					got := false
					for _, s := range scopes {
						got = got || (s.user == "" || s.user == user) && (s.agent == "" || s.agent == agent) && (s.run == "" || s.run == run)
					}
					if want := holds(filters, one); got != want {
						t.Fatalf("%v of %v: %v, want %v (%+v)", filters, one, got, want, scopes)
					}
				}
			}
		}
	})
}

// holds says whether filters hold for a memory, as mem0 documents them.
func holds(filters map[string]any, of map[string]string) bool {
	for name, v := range filters {
		switch v := v.(type) {
		case string:
			if of[name] != v {
				return false
			}
		case map[string]any:
			found := false
			for _, one := range v["in"].([]any) {
				found = found || of[name] == one
			}
			if !found {
				return false
			}
		case []any:
			n := 0
			for _, operand := range v {
				if holds(operand.(map[string]any), of) {
					n++
				}
			}
			if name == "AND" && n < len(v) || name == "OR" && n == 0 {
				return false
			}
		}
	}
	return true
}

func FuzzFilters(f *testing.F) {
	f.Add(`{"user_id":"a","OR":[{"run_id":{"in":["r"]}},{"metadata":{"k":1}}]}`)
	f.Add(`{"AND":[{"created_at":{"gte":"2026-01-01"}},{"NOT":[]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var m request.Metadata
		if json.Unmarshal([]byte(text), &m) != nil {
			return
		}
		scopes, err := readFilters(m, access.Grant{})
		if err == nil && len(scopes) > maxMem0Scopes {
			t.Errorf("%d scopes", len(scopes))
		}
		for _, s := range scopes {
			if err == nil && !s.named() {
				t.Errorf("%s: anybody's memories: %+v", text, s)
			}
		}
		if _, ok := err.(*ragctx.FieldError); err != nil && !ok { //nolint:errorlint // it is not wrapped
			t.Errorf("%s: %v", text, err)
		}
	})
}
