package imports

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ragctx/ragctx"
)

var (
	codeSpan        = regexp.MustCompile("(?ms)^ *```.*?(?:^ *```|\\z)|^ *~~~.*?(?:^ *~~~|\\z)|`[^`\n]+`")
	wikiLink        = regexp.MustCompile(`!?\[\[([^\[\]|#]*)(?:#([^\[\]|]*))?(?:\|([^\[\]]*))?\]\]`)
	obsidianComment = regexp.MustCompile(`%%[^%\n]*%%`)
)

// obsidian reads the notes of a vault. Links between notes become their words.
func obsidian(ctx context.Context, source string, emit func(Item) error) error {
	abs, err := filepath.Abs(source)
	if err != nil {
		return err
	}
	vault := strings.TrimSuffix(filepath.Base(abs), ".zip")
	return each(source, emit, func(files []file) error {
		for _, f := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			if path.Ext(f.name) != ".md" {
				if err := emit(Item{Name: f.name, LeftOut: attachment(f.name)}); err != nil {
					return err
				}
				continue
			}
			text, err := f.text()
			if err != nil || strings.TrimSpace(text) == "" {
				if err := emit(unread(f, err)); err != nil {
					return err
				}
				continue
			}
			if err := emit(Item{Name: f.name, Document: &ragctx.Document{
				ExternalID: "obsidian/" + vault + "/" + f.name, Source: "obsidian:" + vault + "/" + f.name, Text: plainLinks(text),
				MIME: "text/markdown", Tags: []string{"obsidian"}, Metadata: map[string]any{"vault": vault},
			}}); err != nil {
				return err
			}
		}
		return nil
	})
}

// plainLinks replaces [[Page#Heading|words]] and ![[embedded page]] by its words, and removes comments within a line. Code
// stays as it is. Lines stay lines.
func plainLinks(text string) string {
	var out strings.Builder
	at := 0
	for _, code := range codeSpan.FindAllStringIndex(text, -1) {
		out.WriteString(plainWords(text[at:code[0]]))
		out.WriteString(text[code[0]:code[1]])
		at = code[1]
	}
	out.WriteString(plainWords(text[at:]))
	return out.String()
}

// plainWords is [plainLinks] for text without code.
func plainWords(text string) string {
	text = obsidianComment.ReplaceAllLiteralString(text, "")
	return wikiLink.ReplaceAllStringFunc(text, func(link string) string {
		m := wikiLink.FindStringSubmatch(link)
		switch page, heading, words := m[1], m[2], m[3]; {
		case words != "":
			return words
		case page != "" && heading != "":
			return page + " (" + heading + ")"
		default:
			return page + heading
		}
	})
}

// pageID is the id of a page or a table at the end of a name of Notion.
var pageID = regexp.MustCompile(` ?([0-9a-f]{32})(_all)?$`)

// notion reads pages and tables. Their ids are those of Notion, so a page that moves stays the same document.
func notion(ctx context.Context, source string, emit func(Item) error) error {
	return each(source, emit, func(files []file) error {
		whole := map[string]bool{} // tables that have a file with all rows
		for _, f := range files {
			if stem, ok := strings.CutSuffix(f.name, "_all.csv"); ok {
				whole[stem+".csv"] = true
			}
		}
		for _, f := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			if whole[f.name] {
				continue // the same rows as in the other file, or fewer
			}
			if err := notionPage(f, emit); err != nil {
				return err
			}
		}
		return nil
	})
}

func notionPage(f file, emit func(Item) error) error {
	mime := map[string]string{".md": "text/markdown", ".csv": "text/csv"}[path.Ext(f.name)]
	switch {
	case path.Ext(f.name) == ".html":
		return emit(Item{Name: f.name, LeftOut: "HTML pages; export as Markdown & CSV"})
	case mime == "":
		return emit(Item{Name: f.name, LeftOut: attachment(f.name)})
	}
	text, err := f.text()
	if err != nil || strings.TrimSpace(text) == "" {
		return emit(unread(f, err))
	}
	var plain []string // the path without ids
	for part := range strings.SplitSeq(strings.TrimSuffix(f.name, path.Ext(f.name)), "/") {
		plain = append(plain, pageID.ReplaceAllLiteralString(part, ""))
	}
	id := f.name
	if m := pageID.FindStringSubmatch(strings.TrimSuffix(f.base(), path.Ext(f.name))); m != nil {
		id = m[1]
	}
	return emit(Item{Name: f.name, Document: &ragctx.Document{
		ExternalID: "notion/" + id, Title: plain[len(plain)-1], Source: "notion:" + strings.Join(plain, "/"), Text: text, MIME: mime,
		Tags: []string{"notion"}, Metadata: map[string]any{"path": strings.Join(plain[:len(plain)-1], "/")},
	}})
}

// unread is the item of a file that is empty or cannot be read.
func unread(f file, err error) Item {
	if err != nil {
		return Item{Name: f.name, Err: err}
	}
	return Item{Name: f.name, LeftOut: "empty pages"}
}

// attachment is the reason why a file is left out.
func attachment(name string) string {
	return fmt.Sprintf("attachments (%s); 'ragctx ingest' reads files", strings.ToLower(path.Ext(name)))
}
