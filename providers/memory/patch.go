package memory

import (
	"maps"
	"slices"
	"time"
)

// Patch says what is to change in a memory. What is nil stays as it is.
type Patch struct {
	Content    *string
	Importance *float64
	// Tags replaces the tags; AddTags and RemoveTags change single ones, after that.
	Tags                *[]string
	AddTags, RemoveTags []string
	// Metadata is merged into that of the memory as RFC 7396 has it: nil removes a
	// value, an object changes what it names of an object, anything else replaces.
	Metadata        map[string]any
	Profile, Pinned *bool
	Expires         *time.Time // zero is never
}

// Apply returns m with the changes, as new as it is then: what was found in turns is
// no longer known of another content. m itself stays as it is.
func (p Patch) Apply(m Memory) Memory {
	if p.Content != nil && *p.Content != m.Content {
		m.Content = *p.Content
		m.About, m.Sources = nil, nil
	}
	set(&m.Importance, p.Importance)
	set(&m.Profile, p.Profile)
	set(&m.Pinned, p.Pinned)
	set(&m.Expires, p.Expires)
	m.Tags = p.tags(m.Tags)
	if p.Metadata != nil {
		m.Metadata, _ = merge(m.Metadata, p.Metadata).(map[string]any)
		if len(m.Metadata) == 0 {
			m.Metadata = nil
		}
	}
	return m
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func (p Patch) tags(tags []string) []string {
	tags = slices.Clone(tags)
	if p.Tags != nil {
		tags = slices.Clone(*p.Tags)
	}
	for _, t := range p.AddTags {
		if !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	tags = slices.DeleteFunc(tags, func(t string) bool { return slices.Contains(p.RemoveTags, t) })
	if tags == nil {
		tags = []string{}
	}
	return tags
}

// merge applies a merge patch (RFC 7396) to a JSON value, which stays as it is.
func merge(value, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	old, _ := value.(map[string]any)
	out := maps.Clone(old)
	if out == nil {
		out = make(map[string]any, len(changes))
	}
	for key, change := range changes {
		if change == nil {
			delete(out, key)
			continue
		}
		out[key] = merge(out[key], change)
	}
	return out
}

// IsZero reports whether there is nothing to change.
func (p Patch) IsZero() bool {
	return p.Content == nil && p.Importance == nil && p.Tags == nil && len(p.AddTags)+len(p.RemoveTags) == 0 &&
		p.Metadata == nil && p.Profile == nil && p.Pinned == nil && p.Expires == nil
}
