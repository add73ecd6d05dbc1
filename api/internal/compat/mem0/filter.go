package mem0

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/request"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// selection is a conjunction of conditions on owner and memory.
type selection struct {
	user, agent, run string
	filter           ragctx.Filter
	contains         string
	after, before    time.Time // bounds of [store.Said]: inclusive, exclusive
}

// maxMem0Scopes limits the alternatives of an expanded filter.
const maxMem0Scopes = 16

// named reports whether the scope names an owner.
func (s selection) named() bool { return s.user+s.agent+s.run != "" }

// of names the user of the key, unless the scope names an owner.
func (s selection) of(key access.Grant) selection {
	if !s.named() {
		s.user = key.User
	}
	return s
}

// includes reports whether a time is within the bounds.
func (s selection) includes(at time.Time) bool {
	return !at.Before(s.after) && (s.before.IsZero() || at.Before(s.before))
}

// memories converts the scope into a list filter.
func (s selection) memories() store.MemoryFilter {
	return store.MemoryFilter{
		UserID: s.user, AgentID: s.agent, SessionID: s.run, Filter: s.filter, Contains: s.contains, Distilled: true,
		SaidAfter: s.after, SaidBefore: s.before,
	}
}

// and combines the conditions of both scopes; it returns false if they contradict each other.
func (s selection) and(o selection) (selection, bool) {
	ok := true
	both := func(a *string, b string) {
		if *a != "" && b != "" && *a != b {
			ok = false
		}
		if b != "" {
			*a = b
		}
	}
	both(&s.user, o.user)
	both(&s.agent, o.agent)
	both(&s.run, o.run)
	both(&s.contains, o.contains)
	s.filter.Tags = append(slices.Clone(s.filter.Tags), o.filter.Tags...)
	meta := make(map[string]string)
	maps.Copy(meta, s.filter.Metadata)
	for k, v := range o.filter.Metadata {
		if old, there := meta[k]; there && old != v {
			ok = false
		}
		meta[k] = v
	}
	s.filter.Metadata = meta
	if o.after.After(s.after) {
		s.after = o.after
	}
	if !o.before.IsZero() && (s.before.IsZero() || o.before.Before(s.before)) {
		s.before = o.before
	}
	return s, ok
}

// readFilters parses mem0's filters and expands them into alternatives, each of which names a user,
// an agent or a run, or means the user of the key.
func readFilters(f request.Metadata, key access.Grant) ([]selection, error) {
	if len(f) == 0 && key.User == "" {
		return nil, ragctx.Invalid("filters", "are missing; send at least one of user_id, agent_id and run_id")
	}
	all, err := conjunction("filters", f)
	if err != nil {
		return nil, err
	}
	for i, s := range all {
		if all[i] = s.of(key); !all[i].named() {
			return nil, ragctx.Invalid("filters", "match memories of any user; send at least one of user_id, "+
				"agent_id and run_id in every alternative")
		}
	}
	return all, nil
}

// conjunction parses an object; all of its members must hold.
func conjunction(path string, members map[string]any) ([]selection, error) {
	all := []selection{{}}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		alternatives, err := condition(path+"."+name, name, members[name])
		if err != nil {
			return nil, err
		}
		if all, err = cross(path, all, alternatives); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// cross returns all combinations of one scope of each side.
func cross(path string, a, b []selection) ([]selection, error) {
	var out []selection
	for _, x := range a {
		for _, y := range b {
			if both, ok := x.and(y); ok {
				out = append(out, both)
			}
		}
	}
	if len(out) > maxMem0Scopes {
		return nil, ragctx.Invalid(path, "expands to more than %d alternatives; send several requests", maxMem0Scopes)
	}
	return out, nil
}

func condition(path, name string, value any) ([]selection, error) {
	switch name {
	case "AND", "OR":
		return operands(path, name, value)
	case "user_id", "agent_id", "run_id":
		return entity(path, name, value)
	case "metadata":
		return metadataCondition(path, value)
	case "categories":
		return oneOfEach(path, value, func(v string) selection { return selection{filter: ragctx.Filter{Tags: []string{v}}} })
	case "created_at", "timestamp":
		return timeCondition(path, value)
	}
	return nil, ragctx.Invalid(path, "is not supported; use AND, OR, user_id, agent_id, run_id, metadata, categories (in), created_at")
}

func operands(path, name string, value any) ([]selection, error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, ragctx.Invalid(path, "is not a list of conditions; send one")
	}
	var out []selection
	if name == "AND" {
		out = []selection{{}}
	}
	for i, v := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		members, ok := v.(map[string]any)
		if !ok {
			return nil, ragctx.Invalid(at, "is not an object; send a condition such as {\"user_id\": \"ada\"}")
		}
		some, err := conjunction(at, members)
		if err == nil && name == "AND" {
			out, err = cross(path, out, some)
		} else if err == nil {
			out = append(out, some...)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(out) > maxMem0Scopes {
		return nil, ragctx.Invalid(path, "expands to more than %d alternatives; send several requests", maxMem0Scopes)
	}
	return out, nil
}

func entity(path, name string, value any) ([]selection, error) {
	return oneOfEach(path, value, func(v string) selection {
		switch name {
		case "user_id":
			return selection{user: v}
		case "agent_id":
			return selection{agent: v}
		default:
			return selection{run: v}
		}
	})
}

// oneOfEach parses a value, or an object with eq or in; each value is an alternative.
func oneOfEach(path string, value any, scope func(string) selection) ([]selection, error) {
	var values []any
	switch v := value.(type) {
	case string:
		values = []any{v}
	case map[string]any:
		for op, operand := range v {
			list, isList := operand.([]any)
			switch {
			case len(v) == 1 && op == "eq":
				values = []any{operand}
			case len(v) == 1 && op == "in" && isList:
				values = list
			default:
				return nil, ragctx.Invalid(path, "has the operator %q; use a value, eq or in", ragctx.Clip(op))
			}
		}
	}
	var out []selection
	for _, v := range values {
		s, ok := v.(string)
		if !ok || s == "" || s == "*" {
			return nil, ragctx.Invalid(path, "must be the exact text of one value; the wildcard * is not "+
				"supported here")
		}
		out = append(out, scope(s))
	}
	if len(out) == 0 {
		return nil, ragctx.Invalid(path, "names no value; send one")
	}
	return out, nil
}

// metadataCondition parses required metadata values.
func metadataCondition(path string, value any) ([]selection, error) {
	members, ok := value.(map[string]any)
	if !ok {
		return nil, ragctx.Invalid(path, "is not an object; send one such as {\"topic\": \"tea\"}")
	}
	meta := make(map[string]string)
	for k, v := range members {
		switch v := v.(type) {
		case string:
			meta[k] = v
		case bool, json.Number:
			meta[k] = fmt.Sprint(v)
		default:
			return nil, ragctx.Invalid(path+"."+k, "is not a string, number or boolean; metadata supports only "+
				"equality")
		}
	}
	return []selection{{filter: ragctx.Filter{Metadata: meta}}}, nil
}

// timeCondition parses bounds on the time at which a memory was first said.
func timeCondition(path string, value any) ([]selection, error) {
	members, ok := value.(map[string]any)
	if !ok {
		return nil, ragctx.Invalid(path, "is not an object; send bounds such as {\"gte\": \"2026-03-01\"}")
	}
	var bounds selection
	for op, v := range members {
		at, err := mem0Time(path+"."+op, v)
		if err != nil {
			return nil, err
		}
		switch op {
		case "gte":
			bounds.after = at
		case "gt":
			bounds.after = at.Add(time.Microsecond)
		case "lt":
			bounds.before = at
		case "lte":
			if bounds.before = at.Add(time.Microsecond); isDay(v) {
				bounds.before = at.AddDate(0, 0, 1) // with the whole day
			}
		default:
			return nil, ragctx.Invalid(path, "has the operator %q; use gt, gte, lt or lte", ragctx.Clip(op))
		}
	}
	return []selection{bounds}, nil
}

// isDay reports whether a valid time is a day.
func isDay(v any) bool {
	s, _ := v.(string)
	return len(strings.TrimSpace(s)) == len(time.DateOnly)
}

// day parses a parameter; "" is the zero time.
func day(name, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	return mem0Time(name, value)
}

// mem0Time parses a day or a time.
func mem0Time(path string, v any) (time.Time, error) {
	s, _ := v.(string)
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t, nil
		}
	}
	return time.Time{}, ragctx.Invalid(path,
		"is %q; use a day such as 2026-03-01 or a time such as 2026-03-01T12:00:00Z", ragctx.Clip(fmt.Sprint(v)))
}
