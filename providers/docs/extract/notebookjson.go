package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of notebooks, in addition to [Options].
const (
	maxNotebookCells  = 20_000
	maxNotebookValues = 1_000_000 // fields, outputs and lines that are read
	maxOutputText     = 1 << 20   // bytes of an output before carriage returns are applied
)

// notebookReader reads a notebook value by value. It skips or rejects large and numerous values
// before allocating memory for them. A field of an unexpected type is skipped, too.
type notebookReader struct {
	ctx    context.Context
	src    string
	dec    *json.Decoder // reads src
	left   int           // bytes of text that may still be read
	values int
	notebook
}

// errNotebookText reports that the text exceeds the limit.
var errNotebookText = errors.New("too much text")

// readCells reads a notebook from its JSON.
func readCells(ctx context.Context, src string, maxText int) (*notebook, error) {
	r := &notebookReader{ctx: ctx, src: src, dec: json.NewDecoder(strings.NewReader(src)), left: maxText}
	err := r.object(func(key string) error {
		switch key {
		case "cells":
			return r.array(r.cell)
		case "worksheets": // format 3
			return r.array(r.worksheet)
		case "metadata":
			return r.object(r.metadata)
		}
		return r.skip()
	})
	var refused *Error
	switch {
	case errors.Is(err, errNotebookText):
		return nil, refuse("holds more than %d bytes of text, the limit; split it", maxText)
	case errors.As(err, &refused) || ctx.Err() != nil:
		return nil, err
	case errors.Is(err, io.EOF):
		return nil, refuse("is not a notebook, or is truncated; copy it again")
	case err != nil:
		return nil, refuse("is not a notebook, or is damaged (%v)", err)
	}
	return &r.notebook, nil
}

// next returns the first byte of the next value, or 0 at the end.
func (r *notebookReader) next() byte {
	for i := int(r.dec.InputOffset()); i < len(r.src); i++ {
		if strings.IndexByte(" \t\r\n:,", r.src[i]) < 0 {
			return r.src[i]
		}
	}
	return 0
}

// countValue counts a value against the limit.
func (r *notebookReader) countValue() error {
	if r.values++; r.values > maxNotebookValues {
		return refuse("holds more than %d fields and lines; split it", maxNotebookValues)
	}
	if r.values%64 == 0 {
		return r.ctx.Err()
	}
	return nil
}

// ignored is a value that is not decoded.
type ignored struct{}

// UnmarshalJSON implements [json.Unmarshaler].
func (*ignored) UnmarshalJSON([]byte) error { return nil }

func (r *notebookReader) skip() error { return r.dec.Decode(&ignored{}) }

// scalar decodes a value into v, a pointer to a string or a number.
func (r *notebookReader) scalar(v any) error {
	err := r.dec.Decode(v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// object calls field for each key of an object. field must read the value.
func (r *notebookReader) object(field func(key string) error) error {
	return r.list('{', func() error {
		key, err := r.dec.Token()
		if err != nil {
			return err
		}
		return field(fmt.Sprint(key))
	})
}

// array calls element for each value of an array. element must read the value.
func (r *notebookReader) array(element func() error) error { return r.list('[', element) }

func (r *notebookReader) list(begin byte, element func() error) error {
	if r.next() != begin {
		return r.skip()
	}
	if _, err := r.dec.Token(); err != nil {
		return err
	}
	for r.dec.More() {
		if err := r.countValue(); err != nil {
			return err
		}
		if err := element(); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return err
}

// text reads a string or a list of lines; any other value is empty. It stops collecting lines after
// limit bytes.
func (r *notebookReader) text(limit int) (string, error) {
	if r.next() != '[' {
		var s string
		err := r.scalar(&s)
		return s, err
	}
	var b strings.Builder
	err := r.array(func() error {
		var line string
		if b.Len() > limit {
			return r.skip()
		}
		err := r.scalar(&line)
		b.WriteString(line)
		return err
	})
	return b.String(), err
}

func (r *notebookReader) worksheet() error {
	return r.object(func(key string) error {
		if key == "cells" {
			return r.array(r.cell)
		}
		return r.skip()
	})
}

func (r *notebookReader) metadata(key string) error {
	switch key {
	case "title":
		return r.scalar(&r.title)
	case "authors":
		return r.array(r.author)
	case "language_info":
		return r.object(r.fieldInto("name", &r.languages[0]))
	case "kernelspec":
		return r.object(r.fieldInto("language", &r.languages[1]))
	}
	return r.skip()
}

// fieldInto returns a field function that decodes the field name into s.
func (r *notebookReader) fieldInto(name string, s *string) func(string) error {
	return func(key string) error {
		if key == name {
			return r.scalar(s)
		}
		return r.skip()
	}
}

// author reads an author: a string, or an object with a name. The first author wins.
func (r *notebookReader) author() error {
	var name string
	read := func() error { return r.scalar(&name) }
	if r.next() == '{' {
		read = func() error { return r.object(r.fieldInto("name", &name)) }
	}
	err := read()
	if r.notebook.author == "" {
		r.notebook.author = name
	}
	return err
}

func (r *notebookReader) cell() error {
	if len(r.cells) >= maxNotebookCells {
		return refuse("has more than %d cells; split it", maxNotebookCells)
	}
	var c notebookCell
	var printed strings.Builder
	err := r.object(func(key string) (err error) {
		switch key {
		case "cell_type":
			return r.scalar(&c.kind)
		case "source":
			c.source, err = r.text(r.left)
		case "input": // format 3
			c.input, err = r.text(r.left)
		case "level": // of a heading in format 3
			return r.scalar(&c.level)
		case "outputs":
			return r.array(func() error { return r.output(&printed) })
		default:
			return r.skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	c.output = cutOutput(strings.TrimSpace(printed.String()))
	if r.left -= len(c.source) + len(c.input) + len(c.output); r.left < 0 {
		return errNotebookText
	}
	r.cells = append(r.cells, c)
	return nil
}

// output reads one output of a cell, or skips it if the cell already has enough.
func (r *notebookReader) output(printed *strings.Builder) error {
	if printed.Len() > 2*maxOutput {
		return r.skip()
	}
	var o notebookOutput
	err := r.object(func(key string) (err error) {
		switch key {
		case "text":
			o.text, err = r.text(maxOutputText)
		case "data":
			return r.object(func(kind string) (err error) {
				o.picture = o.picture || isPicture(kind)
				if kind != "text/plain" {
					return r.skip()
				}
				o.plain, err = r.text(maxOutputText)
				return err
			})
		case "ename":
			return r.scalar(&o.name)
		case "evalue":
			return r.scalar(&o.value)
		default:
			return r.skip()
		}
		return err
	})
	if s := strings.TrimSpace(o.displayText()); s != "" {
		printed.WriteString(clip(s, 4*maxOutput) + "\n")
	}
	return err
}
