package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/ragctx/ragctx"
)

// claude reads an export of Claude: conversations as turns, documents of projects as documents.
func claude(ctx context.Context, source string, emit func(Item) error) error {
	projects := func(item Item) error {
		base := path.Base(item.Name)
		if item.LeftOut != "" && (base == "projects.json" || path.Base(path.Dir(item.Name)) == "projects" && path.Ext(base) == ".json") {
			return nil // read below
		}
		return emit(item)
	}
	if err := conversations("claude", claudeConversation)(ctx, source, projects); err != nil {
		return err
	}
	return each(source, func(Item) error { return nil }, func(files []file) error {
		for _, f := range files {
			var err error
			switch {
			case f.base() == "projects.json":
				err = elements(f, func(_ int, raw json.RawMessage) error { return claudeProject(f.name, raw, emit) }, "projects")
			case path.Base(path.Dir(f.name)) == "projects" && path.Ext(f.name) == ".json":
				var text string
				if text, err = f.text(); err == nil {
					err = claudeProject(f.name, json.RawMessage(text), emit)
				} else {
					err = emit(Item{Name: f.name, Err: err})
				}
			}
			if err := leave(f, err, emit); err != nil {
				return err
			}
		}
		return nil
	})
}

func claudeConversation(raw json.RawMessage) (conversation, error) {
	var in struct {
		UUID     string `json:"uuid"`
		Name     string `json:"name"`
		Created  string `json:"created_at"`
		Messages []struct {
			UUID    string `json:"uuid"`
			Sender  string `json:"sender"`
			Text    string `json:"text"`
			Created string `json:"created_at"`
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
			Attachments []struct {
				Name string `json:"file_name"`
				Text string `json:"extracted_content"`
			} `json:"attachments"`
			Files []json.RawMessage `json:"files"`
		} `json:"chat_messages"`
	}
	err := decode(raw, &in)
	c := conversation{id: in.UUID, title: in.Name, started: parseTime(in.Created)}
	if err != nil {
		return c, err
	}
	if in.Messages == nil {
		return c, ragctx.Invalid("chat_messages", "is missing; the file is not an export of Claude")
	}
	for _, m := range in.Messages {
		role := map[string]ragctx.Role{"human": ragctx.RoleUser, "user": ragctx.RoleUser, "assistant": ragctx.RoleAssistant}[m.Sender]
		if role == "" {
			c.leftOut = append(c.leftOut, fmt.Sprintf("messages of the sender %q", ragctx.Clip(m.Sender)))
			continue
		}
		var texts []string
		for _, part := range m.Content {
			if part.Type == "text" && part.Text != "" {
				texts = append(texts, part.Text)
			}
		}
		if len(m.Content) == 0 {
			texts = append(texts, m.Text)
		}
		for _, a := range m.Attachments { // a long text that was pasted
			if a.Text != "" {
				texts = append(texts, strings.TrimSpace(a.Name+"\n"+a.Text))
			}
		}
		for range m.Files {
			c.leftOut = append(c.leftOut, "images and other files in messages")
		}
		c.messages = append(c.messages, message{m.UUID, role, strings.Join(texts, "\n\n"), parseTime(m.Created)})
	}
	return c, nil
}

// claudeProject emits the documents and the instructions of a project.
func claudeProject(name string, raw json.RawMessage, emit func(Item) error) error {
	var in struct {
		UUID    string `json:"uuid"`
		Name    string `json:"name"`
		Prompt  string `json:"prompt_template"`
		Created string `json:"created_at"`
		Docs    []struct {
			UUID    string `json:"uuid"`
			File    string `json:"filename"`
			Content string `json:"content"`
			Created string `json:"created_at"`
		} `json:"docs"`
	}
	err := decode(raw, &in)
	name += ": " + cmp.Or(ragctx.Clip(in.Name), in.UUID)
	if err == nil && in.UUID == "" {
		err = ragctx.Invalid("uuid", "is missing")
	}
	if err != nil {
		return emit(Item{Name: name, Err: err})
	}
	put := func(id, title, text, at string) error {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		return emit(Item{Name: name + ": " + ragctx.Clip(title), Document: &ragctx.Document{
			ExternalID: "claude/" + in.UUID + "/" + id, Title: title, Text: text, Tags: []string{"claude"},
			Metadata: map[string]any{"project": in.Name}, Occurred: parseTime(at), MIME: "text/markdown",
		}})
	}
	if err := put("instructions", in.Name, in.Prompt, in.Created); err != nil {
		return err
	}
	for _, d := range in.Docs {
		if err := put(cmp.Or(d.UUID, d.File), d.File, d.Content, d.Created); err != nil {
			return err
		}
	}
	return nil
}
