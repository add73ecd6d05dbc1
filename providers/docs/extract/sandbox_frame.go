package extract

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// A frame is the magic number and the length of a header, as big-endian uint32, the length of a
// body as uint64, the header as JSON, and the body.
const (
	frameMagic = 0x72676678 // the first four bytes of a frame
	maxHeader  = 1 << 20
	maxFile    = 4 << 30
)

// errMalformed reports invalid frame data.
var errMalformed = errors.New("extract: malformed frame")

func writeFrame(w io.Writer, header any, body []byte) error {
	h, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("extract: encoding a frame: %w", err)
	}
	head := binary.BigEndian.AppendUint32(nil, frameMagic)
	head = binary.BigEndian.AppendUint32(head, uint32(len(h)))
	head = binary.BigEndian.AppendUint64(head, uint64(len(body)))
	for _, part := range [...][]byte{head, h, body} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// readFrame reads a frame with a body of at most maxBody bytes. It returns io.EOF if there are no
// more frames.
func readFrame(r *bufio.Reader, header any, maxBody int64) ([]byte, error) {
	var head [16]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	hLen, bLen := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint64(head[8:])
	if binary.BigEndian.Uint32(head[:]) != frameMagic || hLen > maxHeader || bLen > uint64(maxBody) {
		return nil, errMalformed
	}
	h := make([]byte, hLen)
	if _, err := io.ReadFull(r, h); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(h, header); err != nil {
		return nil, errMalformed
	}
	body := make([]byte, bLen)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return body, nil
}

// request is the header of a file to read.
type request struct {
	Name      string        `json:"name"`
	MIME      string        `json:"mime"`
	MaxText   int           `json:"max_text"`
	MaxExpand int64         `json:"max_expand"`
	Members   int           `json:"members"`
	Timeout   time.Duration `json:"timeout"`
	MaxMemory int64         `json:"max_memory"`
}

func newRequest(f File, o Options, maxMemory int64) request {
	return request{
		Name: f.Name, MIME: f.MIME, MaxText: o.MaxText, MaxExpand: o.MaxExpand, Members: o.MaxMembers,
		Timeout: o.Timeout, MaxMemory: maxMemory,
	}
}

func (r request) options() Options {
	return Options{
		MaxText: r.MaxText, MaxExpand: r.MaxExpand, MaxMembers: r.Members, Timeout: r.Timeout,
	}.withDefaults()
}

// response is the header of a text, or the reason why there is no text.
type response struct {
	Reason   string         `json:"reason,omitempty"`
	MIME     string         `json:"mime,omitempty"`
	Format   string         `json:"format,omitempty"`
	Title    string         `json:"title,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	Occurred time.Time      `json:"occurred,omitzero"`
}

func newResponse(t Text, reason string) response {
	return response{
		Reason: reason, MIME: t.MIME, Format: t.Format, Title: t.Title, Metadata: t.Metadata, Occurred: t.Occurred,
	}
}

// text returns the reader's result. Whole numbers, which JSON decodes as float64, become ints.
func (a response) text(body []byte) (Text, error) {
	if a.Reason != "" {
		return Text{}, &Error{Reason: a.Reason}
	}
	for k, v := range a.Metadata {
		if x, ok := v.(float64); ok && x == float64(int(x)) {
			a.Metadata[k] = int(x)
		}
	}
	return Text{
		Text: string(body), MIME: a.MIME, Format: a.Format, Title: a.Title, Metadata: a.Metadata, Occurred: a.Occurred,
	}, nil
}
