package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// dataset is a folder from which all systems read:
//
//	docs.jsonl     document: id, title, text, scope; the input of ragctx
//	chunks.jsonl   chunk: doc, ordinal, scope, text; the input of all others
//	chunks.f32     their vectors, float32, little-endian
//	queries.jsonl  query: id, text, scope, embedded; queries.f32 has the vectors
//	info.json      its description; qrels.json has the judgements, if there are any
type dataset string

type document struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text"`
	Scope string `json:"scope,omitempty"`
}

// chunkLine is a chunk as ragctx cuts it. Its text is the text that ragctx embeds: title and
// headings, then the chunk's text.
type chunkLine struct {
	Doc     string `json:"doc"`
	Ordinal int    `json:"ordinal"`
	Scope   string `json:"scope,omitempty"`
	Text    string `json:"text"`
}

type queryLine struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	Scope    string `json:"scope,omitempty"`
	Embedded bool   `json:"embedded"`
}

type info struct {
	Docs     int    `json:"docs"`
	Chunks   int    `json:"chunks"`
	Queries  int    `json:"queries"`
	Dim      int    `json:"dim"`
	Embedder string `json:"embedder"`
}

func (d dataset) path(name string) string { return filepath.Join(string(d), name) }

// docs calls use for each document, in order.
func (d dataset) docs(use func(document) error) error { return lines(d.path("docs.jsonl"), use) }

// chunks calls use for batches of chunks with their vectors. number is the number of the batch's
// first chunk.
func (d dataset) chunks(batch int, use func(number int, c []chunkLine, v [][]float32) error) error {
	var about info
	if err := readJSON(d.path("info.json"), &about); err != nil {
		return err
	}
	f, err := os.Open(d.path("chunks.f32"))
	if err != nil {
		return err
	}
	defer f.Close()
	vectors := bufio.NewReaderSize(f, 1<<20)
	var number int
	var cs []chunkLine
	var vs [][]float32
	flush := func() error {
		err := use(number, cs, vs)
		number, cs, vs = number+len(cs), nil, nil
		return err
	}
	err = lines(d.path("chunks.jsonl"), func(c chunkLine) error {
		v := make([]float32, about.Dim)
		if err := binary.Read(vectors, binary.LittleEndian, v); err != nil {
			return err
		}
		if cs, vs = append(cs, c), append(vs, v); len(cs) == batch {
			return flush()
		}
		return nil
	})
	if err == nil && len(cs) > 0 {
		err = flush()
	}
	return err
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

func writeJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// lines calls use for each JSON object of a file.
func lines[T any](path string, use func(T) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for in := json.NewDecoder(bufio.NewReaderSize(f, 1<<20)); ; {
		var v T
		if err := in.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := use(v); err != nil {
			return err
		}
	}
}
