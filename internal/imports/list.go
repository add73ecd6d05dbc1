package imports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

const byteOrderMark = "\ufeff"

// elements calls do with each element of a JSON list. The list is the whole text, or the value of one of the
// keys of an object. An error of the JSON itself ends it, because the place of the next element is unknown.
func elements(f file, do func(n int, raw json.RawMessage) error, keys ...string) error {
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	begin := make([]byte, len(byteOrderMark))
	n, err := io.ReadFull(r, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	text := io.MultiReader(bytes.NewReader(bytes.TrimPrefix(begin[:n], []byte(byteOrderMark))), r)
	return list(&bounded{r: text, limit: maxElement, all: maxList}, do, keys)
}

// list reads a list from in.
func list(in *bounded, do func(n int, raw json.RawMessage) error, keys []string) error {
	dec := json.NewDecoder(in)
	if err := seekList(dec, in, keys); err != nil {
		return err
	}
	for n := 1; ; n++ {
		in.element = in.limit
		if !dec.More() {
			break
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fmt.Errorf("element %d: %w", n, broken(err))
		}
		if err := do(n, raw); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return broken(err)
	}
	return nil
}

// seekList reads up to the first element of the list.
func seekList(dec *json.Decoder, in *bounded, keys []string) error {
	in.element = in.limit
	first, err := dec.Token()
	if err != nil {
		return broken(err)
	}
	if first == json.Delim('[') {
		return nil
	}
	for first == json.Delim('{') && dec.More() {
		in.element = in.limit
		key, err := dec.Token()
		if err != nil {
			return broken(err)
		}
		if name, _ := key.(string); slices.Contains(keys, name) {
			if begin, err := dec.Token(); err != nil {
				return broken(err)
			} else if begin == json.Delim('[') {
				return nil
			}
			break
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return broken(err)
		}
	}
	if len(keys) == 0 {
		return ragctx.Invalid("file", "is not a JSON list")
	}
	return ragctx.Invalid("file", "is not a JSON list, and has none named %s", strings.Join(keys, " or "))
}

// damaged is an error of the JSON of a file. Other files may be whole.
type damaged struct{ error }

func (d damaged) Unwrap() error { return d.error }

// leave emits the error of a damaged file, and returns any other one.
func leave(f file, err error, emit func(Item) error) error {
	if bad, ok := errors.AsType[damaged](err); ok {
		return emit(Item{Name: f.name, Err: bad})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// broken explains an error of the JSON.
func broken(err error) error {
	if errors.Is(err, ragctx.ErrTooLarge) {
		return damaged{err}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged{ragctx.Invalid("file", "ends in the middle; download the export again")}
	}
	return damaged{ragctx.Invalid("file", "is not valid JSON: %v", err)}
}

// bounded limits the bytes that are read for one element, and those of a whole file.
type bounded struct {
	r       io.Reader
	limit   int64 // of an element
	element int64 // left of the element
	all     int64 // left of the file
}

// Read implements [io.Reader]. It fills p, because the decoder looks through all blanks again after each call.
func (b *bounded) Read(p []byte) (int, error) {
	if b.element <= 0 {
		return 0, ragctx.TooLarge("element", "is longer than %d bytes", b.limit)
	}
	if b.all <= 0 {
		return 0, ragctx.TooLarge("file", "is longer than %d GiB", int64(maxList)>>30)
	}
	n, err := io.ReadFull(b.r, p[:min(int64(len(p)), b.element, b.all)])
	b.element -= int64(n)
	b.all -= int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // the next call returns io.EOF
	}
	return n, err
}

// decode decodes an object. Its error names the field that has another type.
func decode(raw []byte, to any) error {
	err := json.Unmarshal(raw, to)
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return ragctx.Invalid(cmp.Or(e.Field, "item"), "is a JSON %s, which is not expected here", e.Value)
	}
	if err != nil {
		return ragctx.Invalid("item", "cannot be read: %v", err)
	}
	return nil
}
