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

// Essential tool results are shortened to fit: texts keep their heads and tails, with a note in
// place of the omitted middle. Media and vendor-specific parts are replaced by a note with their
// name, or by their text.

// noteEnd is the end of a note. The text between the bracket and noteEnd names the omitted part.
const noteEnd = " left out to fit]"

// leastField is the cost in tokens up to which vendor-specific fields are never cut.
const leastField = 64

// note returns the placeholder for omitted tokens; what names the omitted part.
func note(what string, tokens int) string {
	if what != "" {
		what += ": "
	}
	return "[" + what + strconv.Itoa(tokens) + " tokens" + noteEnd
}

// isNote reports whether a text consists of a single note.
func isNote(s string) bool {
	const longest = 256
	return len(s) <= longest && strings.HasPrefix(s, "[") && strings.HasSuffix(s, noteEnd) && !strings.Contains(s, "\n")
}

// shrinker shortens essential messages.
type shrinker struct {
	scale    Scale
	messages []ragctx.Message
	costs    []int
	changed  []bool
}

// shrinkMessages shortens the messages in stay to a budget, as far as possible: first tool results,
// then the inputs of answered calls. It does not change the given messages.
func shrinkMessages(messages []ragctx.Message, costs []int, stay []bool, p pairing, budget int, s Scale) shrinker {
	out := shrinker{messages: messages, costs: costs, changed: make([]bool, len(messages))}
	excess := sum(costs, stay) - budget
	if excess <= 0 || s.Counter == nil {
		return out
	}
	out.scale = Scale{&cachingCounter{s.Counter, make(map[string]int)}}
	out.messages, out.costs = slices.Clone(messages), slices.Clone(costs)
	toolOutput := func(at position) bool { return isToolOutput(&messages[at.message], at.block) }
	if excess -= out.shrinkBlocks(stay, excess, toolOutput); excess > 0 {
		out.shrinkBlocks(stay, excess, func(at position) bool {
			b := &messages[at.message].Content[at.block]
			return b.Type == ragctx.BlockToolUse && !slices.Contains(p.pending, at)
		})
	}
	return out
}

// cachingCounter counts each long text once.
type cachingCounter struct {
	ragctx.Counter

	counts map[string]int
}

// Count implements [ragctx.Counter].
func (r *cachingCounter) Count(text string) int {
	const short = 256
	if len(text) <= short {
		return r.Counter.Count(text)
	}
	n, ok := r.counts[text]
	if !ok {
		n = r.Counter.Count(text)
		r.counts[text] = n
	}
	return n
}

// isToolOutput reports whether a block of a message is output of a tool.
func isToolOutput(m *ragctx.Message, block int) bool {
	t := m.Content[block].Type
	return t == ragctx.BlockToolResult || m.Role == ragctx.RoleTool && t != ragctx.BlockToolUse
}

// shrinkBlocks reduces the cost of the chosen blocks by excess, in fair shares, and returns the
// tokens saved.
func (c *shrinker) shrinkBlocks(stay []bool, excess int, chosen func(position) bool) (saved int) {
	var at []position
	var blocks []ragctx.Block
	for i, stays := range stay {
		for j := 0; stays && j < len(c.messages[i].Content); j++ {
			if one := (position{i, j}); chosen(one) {
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

// sizes are the full and minimum costs of blocks.
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

// shares divides a budget fairly: every block gets the same share, but at least its minimum and at
// most its full cost.
func (s sizes) shares(budget int) []int {
	out := make([]int, len(s.full))
	at := func(level int) (sum int) {
		for i := range out {
			out[i] = min(max(level, s.least[i]), s.full[i])
			sum += out[i]
		}
		return sum
	}
	low, high := 0, max(budget, 0)+1 // invariant: level low fits, level high does not
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

// block returns the cost of a single block.
func (s Scale) block(b ragctx.Block) int { return s.content(ragctx.Content{b}) }

// shrink returns a block that costs at most budget, or as little as possible.
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
		if text := s.describePart(b, budget, s.block(b)); s.Counter.Count(text) < s.block(b) {
			return ragctx.Block{Type: ragctx.BlockText, Text: text}
		}
	}
	return b
}

// maxNesting bounds the depth to which nested results are shortened part by part. JSON can nest
// them without limit, and no provider accepts more than one level. Deeper results are replaced by a
// note.
const maxNesting = 4

// shrinkResult shortens the contents of a result.
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
	b.Content, each = s.dropMiddle(b, s.sizes(b.Content, depth+1), budget)
	frame := s.block(b) - each.total()
	for i, share := range each.shares(budget - frame) {
		b.Content[i] = s.shrink(b.Content[i], share, depth+1)
	}
	return b
}

// dropMiddle replaces the middle parts of a result by one note if there are many parts and a note
// for each would exceed the budget. It returns the parts and their costs.
func (s Scale) dropMiddle(b ragctx.Block, each sizes, budget int) (ragctx.Content, sizes) {
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
	for _, most := lost(0); n > 0 && frame+rest+most+PartOverhead*n > budget; n-- { // an upper bound of the note's cost
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

// shrinkFields returns vendor-specific fields without the expensive ones, and notes for these.
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
		if len(gone) == 0 { // not an object that can be shortened
			delete(fields, name)
			lost = append(lost, ragctx.Block{Type: ragctx.BlockText, Text: note(clipName(name), n)})
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

// shrinkText returns head and tail of a text within a budget, with a note for the omitted middle,
// or only the note.
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

// boundary returns the start of the character at or before an offset.
func boundary(s string, at int) int {
	at = min(max(at, 0), len(s))
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}

// describePart returns the text of a part that is not a text block, within a budget, or a note with
// its name.
func (s Scale) describePart(b ragctx.Block, budget, full int) string {
	if b.Type == ragctx.BlockImage {
		return note(strings.TrimSpace("image "+clipName(b.MediaType)), full)
	}
	var w vendorText
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

// vendorText collects the text of a vendor-specific part.
type vendorText struct {
	kind, title string
	text        strings.Builder
}

// name returns the type and title of a part.
func (w *vendorText) name() string {
	kind := w.kind
	if kind == "" {
		kind = "part"
	}
	if w.title != "" {
		kind += ` "` + w.title + `"`
	}
	return kind
}

// ContentText returns the text of a content, including the texts in vendor-specific parts.
func ContentText(c ragctx.Content) string {
	texts := slices.Clone(c)
	for i, b := range texts {
		var w vendorText
		var v any
		if b.Type == ragctx.BlockVendor && json.Unmarshal(b.Part, &v) == nil {
			w.walk(v, "", "")
			texts[i] = ragctx.Block{Type: ragctx.BlockText, Text: strings.TrimSpace(w.title + "\n" + w.text.String())}
		}
	}
	return texts.String()
}

// clipName shortens a name so that it fits into a note.
func clipName(name string) string {
	const most = 60 // bytes
	name = ragctx.Clip(name)
	return name[:boundary(name, most)]
}

// walk collects strings of several words, in the order of the field names.
func (w *vendorText) walk(v any, key, media string) {
	switch v := v.(type) {
	case string:
		_, file := mediaTokens(v, key, media)
		switch {
		case file:
		case key == "type" && w.kind == "":
			w.kind = clipName(v)
		case slices.Contains([]string{"title", "filename", "name"}, key) && w.title == "":
			w.title = clipName(v)
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
			w.kind = clipName(kind)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			w.walk(v[name], name, media)
		}
	}
}

// shrinkJSON shortens the long strings of JSON to fit a budget, or as far as possible. Everything
// else stays as written.
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

// quote encodes a text as a JSON string.
func quote(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // cannot fail for a string
	return bytes.TrimSpace(b.Bytes())
}

// quoted is a JSON string that is not a key, with its offsets including the quotes.
type quoted struct {
	from, to int
	text     string
}

// stringsIn returns the strings of valid JSON, except keys.
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
