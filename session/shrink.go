package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// A result of a tool that stays in a view whatever it costs is cut to what fits: its texts
// keep their heads and tails, and a note stands where something is left out. Media, and parts
// of kinds that only a vendor has, are replaced by a note that names them, or by what they
// say as text.

// noteEnd is how a note ends; between a bracket and this it says what is left out.
const noteEnd = " left out to fit]"

// leastField is how many tokens a field that only a vendor has may cost where all is cut.
const leastField = 64

// note returns what stands in the place of tokens that are left out; what names them.
func note(what string, tokens int) string {
	if what != "" {
		what += ": "
	}
	return "[" + what + strconv.Itoa(tokens) + " tokens" + noteEnd
}

// isNote reports whether a text is a note and nothing else.
func isNote(s string) bool {
	const longest = 256
	return len(s) <= longest && strings.HasPrefix(s, "[") && strings.HasSuffix(s, noteEnd) && !strings.Contains(s, "\n")
}

// shrinking cuts messages that stay.
type shrinking struct {
	scale    Scale
	messages []ragctx.Message
	costs    []int
	changed  []bool
}

// shrunk returns messages of which those that stay cost no more than a budget, if cutting the
// results of tools can do that, and, where it cannot, the inputs of calls that were answered.
// It changes no message that it is given.
func shrunk(messages []ragctx.Message, costs []int, stay []bool, p pairing, budget int, s Scale) shrinking {
	out := shrinking{messages: messages, costs: costs, changed: make([]bool, len(messages))}
	excess := sum(costs, stay) - budget
	if excess <= 0 || s.Counter == nil {
		return out
	}
	out.scale = Scale{&remembering{s.Counter, make(map[string]int)}}
	out.messages, out.costs = slices.Clone(messages), slices.Clone(costs)
	if excess -= out.cut(stay, excess, func(at place) bool { return cuttable(&messages[at.message], at.block) }); excess > 0 {
		out.cut(stay, excess, func(at place) bool {
			b := &messages[at.message].Content[at.block]
			return b.Type == ragctx.BlockToolUse && !slices.Contains(p.pending, at)
		})
	}
	return out
}

// remembering counts long texts once.
type remembering struct {
	ragctx.Counter

	known map[string]int
}

// Count implements [ragctx.Counter].
func (r *remembering) Count(text string) int {
	const short = 256
	if len(text) <= short {
		return r.Counter.Count(text)
	}
	n, ok := r.known[text]
	if !ok {
		n = r.Counter.Count(text)
		r.known[text] = n
	}
	return n
}

// cuttable reports whether a block of a message is what a tool said.
func cuttable(m *ragctx.Message, block int) bool {
	t := m.Content[block].Type
	return t == ragctx.BlockToolResult || m.Role == ragctx.RoleTool && t != ragctx.BlockToolUse
}

// cut has the blocks that are chosen cost less by an excess, in fair shares, and returns how
// much that saved.
func (c *shrinking) cut(stay []bool, excess int, chosen func(place) bool) (saved int) {
	var at []place
	var blocks []ragctx.Block
	for i, stays := range stay {
		for j := 0; stays && j < len(c.messages[i].Content); j++ {
			if one := (place{i, j}); chosen(one) {
				at, blocks = append(at, one), append(blocks, c.messages[i].Content[j])
			}
		}
	}
	sizes := c.scale.sizes(blocks, 0)
	for k, share := range sizes.shares(sizes.total() - excess) {
		if share >= sizes.full[k] {
			continue
		}
		i := at[k].message
		if !c.changed[i] {
			c.messages[i].Content, c.changed[i] = slices.Clone(c.messages[i].Content), true
		}
		b := c.scale.shrink(blocks[k], share, 0)
		c.messages[i].Content[at[k].block] = b
		less := sizes.full[k] - c.scale.block(b)
		c.costs[i], saved = max(c.costs[i]-less, 0), saved+less
	}
	return saved
}

// sizes are what blocks cost as they are, and at least.
type sizes struct{ full, least []int }

func (s Scale) sizes(blocks []ragctx.Block, depth int) sizes {
	out := sizes{make([]int, len(blocks)), make([]int, len(blocks))}
	for i := range blocks {
		out.full[i] = s.block(blocks[i])
		out.least[i] = min(out.full[i], s.block(s.shrink(blocks[i], 0, depth)))
	}
	return out
}

func (s sizes) total() (n int) {
	for _, one := range s.full {
		n += one
	}
	return n
}

// shares divides a budget fairly: nothing has less than its least, or more than its all, and
// beside that all have the same.
func (s sizes) shares(budget int) []int {
	out := make([]int, len(s.full))
	at := func(level int) (sum int) {
		for i := range out {
			out[i] = min(max(level, s.least[i]), s.full[i])
			sum += out[i]
		}
		return sum
	}
	low, high := 0, max(budget, 0)+1 // the level is low, and not high
	for high-low > 1 {
		if mid := low + (high-low)/2; at(mid) <= budget {
			low = mid
		} else {
			high = mid
		}
	}
	at(low)
	return out
}

// block returns what a block costs by itself.
func (s Scale) block(b ragctx.Block) int { return s.content(ragctx.Content{b}) }

// shrink returns a block that costs no more than a budget, or as little as it can.
func (s Scale) shrink(b ragctx.Block, budget, depth int) ragctx.Block {
	if s.block(b) <= budget {
		return b
	}
	switch b.Type {
	case ragctx.BlockToolResult:
		return s.shrinkResult(b, budget, depth)
	case ragctx.BlockToolUse:
		if depth == 0 {
			b.Input = s.shrinkJSON(b.Input, budget-(s.block(b)-s.Counter.Count(string(b.Input))))
		}
	case ragctx.BlockText:
		b.Part, _ = s.shrinkFields(b.Part)
		b.Text = s.shrinkText(b.Text, budget-s.JSON(b.Part))
	default:
		if text := s.asText(b, budget, s.block(b)); s.Counter.Count(text) < s.block(b) {
			return ragctx.Block{Type: ragctx.BlockText, Text: text}
		}
	}
	return b
}

// maxNesting bounds how deep results within results are cut in parts; JSON can nest them
// without end, and no provider takes more than one level. Deeper ones are left out whole.
const maxNesting = 4

// shrinkResult cuts what a result holds.
func (s Scale) shrinkResult(b ragctx.Block, budget, depth int) ragctx.Block {
	if depth >= maxNesting {
		if short := ragctx.Text(note("results", s.content(b.Content))); s.content(short) < s.content(b.Content) {
			b.Content = short
		}
		return b
	}
	if part, lost := s.shrinkFields(b.Part); len(lost) > 0 {
		b.Part = part
		b.Content = append(slices.Clip(b.Content), lost...)
	} else {
		b.Content = slices.Clone(b.Content)
	}
	var each sizes
	b.Content, each = s.fewer(b, s.sizes(b.Content, depth+1), budget)
	frame := s.block(b) - each.total()
	for i, share := range each.shares(budget - frame) {
		b.Content[i] = s.shrink(b.Content[i], share, depth+1)
	}
	return b
}

// fewer returns the parts of a result, and what they cost, without those in the middle where
// there are many, and a note of each would be more than the budget. One note stands for them.
func (s Scale) fewer(b ragctx.Block, each sizes, budget int) (ragctx.Content, sizes) {
	const many = 8
	parts, least := b.Content, 0
	for _, n := range each.least {
		least += n
	}
	if s.block(b)-each.total()+least <= budget || len(parts) <= many {
		return parts, each
	}
	b.Content = nil
	frame := s.block(b)
	kept := func(n int) (head, tail int) { return (n + 1) / 2, len(parts) - n/2 }
	lost := func(n int) (one ragctx.Block, tokens int) {
		head, tail := kept(n)
		for _, full := range each.full[head:tail] {
			tokens += full
		}
		one = ragctx.Block{Type: ragctx.BlockText, Text: note(fmt.Sprint(tail-head, " parts"), tokens)}
		return one, s.block(one)
	}
	n, rest := len(parts)-1, least-each.least[len(parts)/2]
	for _, most := lost(0); n > 0 && frame+rest+most+PartOverhead*n > budget; n-- { // of which no note costs more
		head, tail := kept(n)
		if head > len(parts)-tail {
			rest -= each.least[head-1]
		} else {
			rest -= each.least[tail]
		}
	}
	one, cost := lost(n)
	head, tail := kept(n)
	without := func(list []int) []int { return slices.Concat(list[:head], []int{cost}, list[tail:]) }
	return slices.Concat(parts[:head], ragctx.Content{one}, parts[tail:]), sizes{without(each.full), without(each.least)}
}

// shrinkFields returns the fields that only a vendor has without those that cost much, and
// notes of these.
func (s Scale) shrinkFields(raw json.RawMessage) (rest json.RawMessage, lost ragctx.Content) {
	if s.JSON(raw) <= leastField {
		return raw, nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return raw, nil
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		n := s.JSON(fields[name])
		if n <= leastField {
			continue
		}
		inner, gone := s.shrinkFields(fields[name])
		if len(gone) == 0 { // no object of which a part is enough
			delete(fields, name)
			lost = append(lost, ragctx.Block{Type: ragctx.BlockText, Text: note(brief(name), n)})
			continue
		}
		fields[name], lost = inner, append(lost, gone...)
	}
	if len(lost) == 0 {
		return raw, nil
	}
	rest, err := json.Marshal(fields)
	if err != nil || string(rest) == "{}" {
		rest = nil
	}
	return rest, lost
}

// shrinkText returns head and tail of a text within a budget, with a note of what is left out
// between them, or the note alone.
func (s Scale) shrinkText(text string, budget int) string {
	full := s.Counter.Count(text)
	least := note("", full)
	if full <= budget || isNote(text) || full <= s.Counter.Count(least) {
		return text
	}
	if budget <= s.Counter.Count(least) {
		return least
	}
	const tries, enough = 8, 95 // percent
	best, keep := least, len(text)*budget/full
	for range tries {
		head, tail := text[:boundary(text, keep/2)], text[boundary(text, len(text)-keep/2):]
		out := head + "\n" + note("", max(full-s.Counter.Count(head)-s.Counter.Count(tail), 0)) + "\n" + tail
		n := s.Counter.Count(out)
		if n <= budget {
			best = out
		}
		if n <= budget && n*100 >= budget*enough || keep < 2 {
			break
		}
		if keep = min(keep*budget/n, len(text)); n > budget {
			keep = max(keep-utf8.UTFMax, 0)
		}
	}
	return best
}

// boundary returns where a character begins, at a place or before it.
func boundary(s string, at int) int {
	at = min(max(at, 0), len(s))
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}

// asText returns what a part that is no text says, within a budget, or a note that names it.
func (s Scale) asText(b ragctx.Block, budget, full int) string {
	if b.Type == ragctx.BlockImage {
		return note(strings.TrimSpace("image "+brief(b.MediaType)), full)
	}
	var w said
	var v any
	if json.Unmarshal(b.Part, &v) == nil {
		w.walk(v, "", "")
	}
	least := note(w.name(), full)
	if w.text.Len() == 0 {
		return least
	}
	text := s.shrinkText(fmt.Sprintf("[%s as text]\n%s", w.name(), w.text.String()), budget)
	if n := s.Counter.Count(text); isNote(text) || n > budget || n <= s.Counter.Count(least) {
		return least
	}
	return text
}

// said is what a part of a vendor's own kind says.
type said struct {
	kind, title string
	text        strings.Builder
}

// name returns what a part is called.
func (w *said) name() string {
	kind := w.kind
	if kind == "" {
		kind = "part"
	}
	if w.title != "" {
		kind += ` "` + w.title + `"`
	}
	return kind
}

// Said returns what a content says as text, parts of kinds that only a vendor has included.
func Said(c ragctx.Content) string {
	texts := slices.Clone(c)
	for i, b := range texts {
		var w said
		var v any
		if b.Type == ragctx.BlockVendor && json.Unmarshal(b.Part, &v) == nil {
			w.walk(v, "", "")
			texts[i] = ragctx.Block{Type: ragctx.BlockText, Text: strings.TrimSpace(w.title + "\n" + w.text.String())}
		}
	}
	return texts.String()
}

// brief returns the beginning of a name, which fits into a note.
func brief(name string) string {
	const most = 60 // bytes
	name = ragctx.Clip(name)
	return name[:boundary(name, most)]
}

// walk collects what is said in strings of several words, in the order of the fields' names.
func (w *said) walk(v any, key, media string) {
	switch v := v.(type) {
	case string:
		_, file := mediaTokens(v, key, media)
		switch {
		case file:
		case key == "type" && w.kind == "":
			w.kind = brief(v)
		case slices.Contains([]string{"title", "filename", "name"}, key) && w.title == "":
			w.title = brief(v)
		case strings.ContainsFunc(v, unicode.IsSpace):
			if w.text.Len() > 0 {
				w.text.WriteByte('\n')
			}
			w.text.WriteString(v)
		}
	case []any:
		for _, one := range v {
			w.walk(one, key, media)
		}
	case map[string]any:
		media = mediaType(v, media)
		if kind, ok := v["type"].(string); ok && w.kind == "" {
			w.kind = brief(kind)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			w.walk(v[name], name, media)
		}
	}
}

// shrinkJSON returns JSON within a budget whose long strings are cut, or as little as that
// can be. All else stays as it is written.
func (s Scale) shrinkJSON(raw json.RawMessage, budget int) json.RawMessage {
	values := stringsIn(raw)
	var each sizes
	for _, v := range values {
		n := s.Counter.Count(v.text)
		each.full = append(each.full, n)
		each.least = append(each.least, min(n, s.Counter.Count(s.shrinkText(v.text, 0))))
	}
	for most := min(budget, each.total()-1); ; most = most*9/10 - 1 {
		var out json.RawMessage
		last := 0
		for i, share := range each.shares(most) {
			v := values[i]
			out = append(out, raw[last:v.from]...)
			if text := s.shrinkText(v.text, share); text != v.text {
				out = append(out, quote(text)...)
			} else {
				out = append(out, raw[v.from:v.to]...)
			}
			last = v.to
		}
		out = append(out, raw[last:]...)
		if most <= 0 || s.Counter.Count(string(out)) <= budget {
			return out
		}
	}
}

// quote returns a text as a string of JSON.
func quote(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // which no text fails
	return bytes.TrimSpace(b.Bytes())
}

// quoted is a string of JSON that is no key, and where it stands with its quotes.
type quoted struct {
	from, to int
	text     string
}

// stringsIn returns the strings of valid JSON that are no keys.
func stringsIn(raw json.RawMessage) (out []quoted) {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		from := i
		for i++; i < len(raw) && raw[i] != '"'; i++ {
			if raw[i] == '\\' {
				i++
			}
		}
		after := i + 1
		for after < len(raw) && strings.IndexByte(" \t\r\n", raw[after]) >= 0 {
			after++
		}
		v := quoted{from: from, to: min(i+1, len(raw))}
		if key := after < len(raw) && raw[after] == ':'; !key && json.Unmarshal(raw[v.from:v.to], &v.text) == nil {
			out = append(out, v)
		}
	}
	return out
}
