package session

import (
	"bytes"
	"encoding/json"
	"image"
	_ "image/gif"  // for the sizes of images
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise

	"github.com/ragctx/ragctx"
)

// What a message costs beside its texts, in tokens. Providers wrap messages, calls and
// results in tokens of their own and do not say how many; these are at the upper end of
// what is observed.
const (
	MessageOverhead = 4 // role and separators of each message
	CallOverhead    = 8 // id and frame of a tool call, and of a tool result
	ToolOverhead    = 8 // frame of the definition of a tool
)

// MaxImageTokens is what an image costs at most, and one whose size cannot be read.
const MaxImageTokens = 1600

// Scale says what messages cost, in tokens of its counter. Without one they cost nothing, for
// views whose costs are not asked for.
type Scale struct{ Counter ragctx.Counter }

// Message returns the cost of a message: its texts, its name, visible thinking, the names
// and inputs of its calls, what its results hold, an estimate for each image, and the
// overheads above.
func (s Scale) Message(m ragctx.Message) int {
	if s.Counter == nil {
		return 0
	}
	return MessageOverhead + s.Counter.Count(m.Name) + s.Counter.Count(m.Reasoning) + s.content(m.Content, 0)
}

// Messages returns the cost of each message.
func (s Scale) Messages(messages []ragctx.Message) []int {
	out := make([]int, len(messages))
	for i, m := range messages {
		out[i] = s.Message(m)
	}
	return out
}

// Tools returns the cost of definitions of tools, each any JSON, as compact JSON.
func (s Scale) Tools(definitions []json.RawMessage) int {
	total := 0
	for _, d := range definitions {
		total += ToolOverhead + s.Counter.Count(compact(d))
	}
	return total
}

// maxNesting bounds how deep results within results are looked into; JSON can nest them
// without end, and no provider takes more than one level.
const maxNesting = 8

func (s Scale) content(c ragctx.Content, depth int) int {
	total := 0
	for _, b := range c {
		switch b.Type {
		case ragctx.BlockToolUse:
			total += CallOverhead + s.Counter.Count(b.Name) + s.Counter.Count(compact(b.Input))
		case ragctx.BlockToolResult:
			total += CallOverhead
			if depth < maxNesting {
				total += s.content(b.Content, depth+1)
			}
		case ragctx.BlockImage:
			total += imageTokens(b.Data)
		default:
			total += s.Counter.Count(b.Text)
		}
	}
	return total
}

// compact returns JSON without its white space, and what is no JSON as it is.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// imageTokens estimates what an image costs: one token for 750 of its pixels, after it
// was scaled to at most 1,568 on each side, as Anthropic documents it. OpenAI's tiles
// come to no more for most sizes.
func imageTokens(data []byte) int {
	const side, pixels = 1568, 750
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width < 1 || c.Height < 1 {
		return MaxImageTokens
	}
	w, h := float64(c.Width), float64(c.Height)
	if longest := max(w, h); longest > side {
		w, h = w*side/longest, h*side/longest
	}
	return min(int(w*h/pixels)+1, MaxImageTokens)
}
