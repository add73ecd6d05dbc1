package memory

import (
	"maps"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
)

// Patch is a change to a memory. Nil fields stay unchanged.
type Patch struct {
	Content    *string
	Importance *float64
	// Tags replaces the tags. AddTags and RemoveTags apply afterwards.
	Tags                *[]string
	AddTags, RemoveTags []string
	// Metadata is merged into the memory's metadata according to RFC 7396: nil removes a value, an
	// object merges into an object, anything else replaces.
	Metadata        map[string]any
	Profile, Pinned *bool
	Expires         *time.Time // zero means never
}

// Apply returns a changed copy of m. New content loses the fact record, because the turns state the
// old content.
func (p Patch) Apply(m ragctx.Memory) ragctx.Memory {
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

// merge returns value with a merge patch (RFC 7396) applied. It does not change value.
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

// IsZero reports whether the patch changes nothing.
func (p Patch) IsZero() bool {
	return p.Content == nil && p.Importance == nil && p.Tags == nil && len(p.AddTags)+len(p.RemoveTags) == 0 &&
		p.Metadata == nil && p.Profile == nil && p.Pinned == nil && p.Expires == nil
}
