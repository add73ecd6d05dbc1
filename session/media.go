package session

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	_ "image/gif"  // for the sizes of images
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Token estimates for media, derived from their bytes. Each is at the upper end of what vendors
// document.
const (
	// MaxImageTokens is the maximum cost of an image. It also applies to images of unknown size and
	// to references by URL or id.
	MaxImageTokens = 1600
	// PDFPageTokens is the cost of a PDF page, as text and as an image. If the pages cannot be
	// counted, every PDFPageBytes count as one.
	PDFPageTokens = 3000
	PDFPageBytes  = 10_000
	// AudioBytes is the size of one token of compressed audio: 32 tokens a second at 32 kbit/s.
	// WaveBytes is the size of one token of uncompressed audio, at 16,000 samples of 16 bits.
	AudioBytes = 125
	WaveBytes  = 1000
	// VideoBytes is the size of one token of video: 300 tokens a second at 1 Mbit/s.
	VideoBytes = 400
)

// JSON returns the cost of JSON in a prompt. Strings count as text, base64 media are estimated by
// their type, and the rest counts as written. It knows no part types, so new vendor parts are
// costed without a change here.
func (s Scale) JSON(raw json.RawMessage) int {
	if s.Counter == nil || len(raw) == 0 {
		return 0
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return s.Counter.Count(string(raw))
	}
	w := jsonCost{scale: s}
	w.value(v, "", "")
	return w.tokens + s.Counter.Count(w.frame.String())
}

// jsonCost sums the cost of a JSON value: tokens for its strings, frame for everything else.
type jsonCost struct {
	scale  Scale
	tokens int
	frame  strings.Builder
}

// value adds a value. key is the field that contains it, media the media type of the enclosing
// object.
func (w *jsonCost) value(v any, key, media string) {
	switch v := v.(type) {
	case string:
		w.frame.WriteString(`""`)
		n, ok := mediaTokens(v, key, media)
		if !ok {
			n = w.scale.Counter.Count(v)
		}
		if w.tokens += n; !ok && isImage(media) && slices.Contains(referenceKeys, key) {
			w.tokens += MaxImageTokens
		}
	case []any:
		w.frame.WriteByte('[')
		for i, one := range v {
			if i > 0 {
				w.frame.WriteByte(',')
			}
			w.value(one, key, media)
		}
		w.frame.WriteByte(']')
	case map[string]any:
		media = mediaType(v, media)
		w.frame.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				w.frame.WriteByte(',')
			}
			w.frame.WriteString(`"` + name + `":`)
			w.value(v[name], name, media)
		}
		w.frame.WriteByte('}')
	default: // number, true, false or null
		b, _ := json.Marshal(v)
		w.frame.Write(b)
	}
}

// mediaType returns the media type that an object declares, or the enclosing one.
func mediaType(o map[string]any, around string) string {
	for _, key := range []string{"media_type", "mime_type", "mimeType", "format"} {
		if name, ok := o[key].(string); ok {
			return name
		}
	}
	if kind, _ := o["type"].(string); strings.Contains(kind, "image") {
		return "image"
	}
	if o["image_url"] != nil {
		return "image"
	}
	return around
}

// referenceKeys are the fields that refer to media stored elsewhere.
var referenceKeys = []string{"url", "uri", "image_url", "file_id", "file_uri", "fileUri"}

func isImage(media string) bool { return media == "image" || strings.HasPrefix(media, "image/") }

// mediaTokens returns the cost of a string that holds media: base64 of a known type, or a data URL.
// It returns false for other strings, and for the fields text and content.
func mediaTokens(s, key, media string) (n int, ok bool) {
	if key == "text" || key == "content" || slices.Contains(referenceKeys, key) && !strings.HasPrefix(s, "data:") {
		return 0, false
	}
	if head, body, found := strings.Cut(s, ";base64,"); found && strings.HasPrefix(head, "data:") {
		media, s = strings.TrimPrefix(head, "data:"), body
	}
	encoding, ok := base64Of(s)
	if !ok {
		return 0, false
	}
	data, size := base64.NewDecoder(encoding, strings.NewReader(s)), encoding.DecodedLen(len(s))
	switch kind, _, _ := strings.Cut(media, "/"); {
	case isImage(media):
		return imageTokens(data), true
	case kind == "video":
		return size/VideoBytes + 1, true
	case media == "application/pdf":
		return pdfTokens(data, size), true
	case media == "wav" || strings.Contains(media, "pcm") || strings.HasSuffix(media, "wav") || media == "audio/L16":
		return size/WaveBytes + 1, true
	case kind == "audio" || slices.Contains([]string{"mp3", "flac", "opus", "aac", "ogg", "m4a"}, media):
		return size/AudioBytes + 1, true
	}
	return 0, false
}

var base64Text = regexp.MustCompile(`^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}$`)

// base64Of returns the base64 encoding of a string. It returns false for other strings and for
// strings shorter than any file, such as names.
func base64Of(s string) (e *base64.Encoding, ok bool) {
	const least = 64
	if len(s) < least {
		return nil, false
	}
	e = base64.StdEncoding
	if strings.ContainsAny(s, "-_") {
		e = base64.URLEncoding
	}
	if !strings.HasSuffix(s, "=") && len(s)%4 != 0 {
		e = e.WithPadding(base64.NoPadding)
	}
	return e, base64Text.MatchString(s)
}

var pdfPage = regexp.MustCompile(`/Type\s*/Page[^s]`)

// pdfTokens estimates the cost of a PDF of size bytes by its pages.
func pdfTokens(r io.Reader, size int) int {
	data, _ := io.ReadAll(r) // a truncated file is estimated by its readable part
	pages := len(pdfPage.FindAllIndex(data, -1))
	if pages == 0 {
		pages = size/PDFPageBytes + 1
	}
	return pages * PDFPageTokens
}

// imageTokens estimates the cost of an image as Anthropic documents it: one token for 750 pixels
// after scaling to at most 1,568 on each side. OpenAI's tiles do not cost more for most sizes.
func imageTokens(r io.Reader) int {
	const side, pixels = 1568, 750
	c, _, err := image.DecodeConfig(r)
	if err != nil || c.Width < 1 || c.Height < 1 {
		return MaxImageTokens
	}
	w, h := float64(c.Width), float64(c.Height)
	if longest := max(w, h); longest > side {
		w, h = w*side/longest, h*side/longest
	}
	return min(int(w*h/pixels)+1, MaxImageTokens)
}
