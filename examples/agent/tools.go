package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Tool is something that a model may have done.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
	Run               func(ctx context.Context, input json.RawMessage) (string, error)
}

// What a tool says at most.
const (
	maxFiles     = 500
	maxFileBytes = 32 << 10
)

// fileTools let a model look at files, and at nothing else.
func fileTools(files fs.FS) []Tool {
	return []Tool{
		{
			Name: "list_files", Description: "List the files.", Schema: json.RawMessage(`{"type":"object","properties":{}}`),
			Run: func(ctx context.Context, _ json.RawMessage) (string, error) { return listFiles(ctx, files) },
		},
		{
			Name: "read_file", Description: "Read a text file.",
			Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
			Run: func(_ context.Context, input json.RawMessage) (string, error) {
				var in struct {
					Path string `json:"path"`
				}
				if err := json.Unmarshal(input, &in); err != nil {
					return "", fmt.Errorf("the input is not as agreed: %w", err)
				}
				return readFile(files, in.Path)
			},
		},
	}
}

func listFiles(ctx context.Context, files fs.FS) (string, error) {
	var names []string
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case len(names) == maxFiles:
			names = append(names, "and more")
			return fs.SkipAll
		case !d.IsDir():
			names = append(names, name)
		}
		return ctx.Err()
	})
	return strings.Join(names, "\n"), err
}

func readFile(files fs.FS, name string) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	if err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(string(b), "")
	if len(b) == maxFileBytes {
		text += "\n[the file goes on]"
	}
	return text, nil
}
