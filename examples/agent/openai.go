package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// OpenAI is a model that speaks OpenAI's chat completions, as most servers of models do.
type OpenAI struct {
	Caller

	API, Key, Name string
}

// User implements [Model].
func (OpenAI) User(text string) json.RawMessage {
	return object{"role": "user", "content": text}.json()
}

// Results implements [Model]: a message for each.
func (OpenAI) Results(results []Result) []json.RawMessage {
	var out []json.RawMessage
	for _, r := range results {
		out = append(out, object{"role": "tool", "tool_call_id": r.Call.ID, "content": r.Text}.json())
	}
	return out
}

// Definitions implements [Model].
func (OpenAI) Definitions(tools []Tool) []json.RawMessage {
	var out []json.RawMessage
	for _, t := range tools {
		f := object{"name": t.Name, "description": t.Description, "parameters": t.Schema}
		out = append(out, object{"type": "function", "function": f}.json())
	}
	return out
}

// Call implements [Model].
func (o OpenAI) Call(ctx context.Context, r Request) (Reply, error) {
	body := object{"model": o.Name, "messages": r.Shown.Messages, "max_completion_tokens": r.Answer}
	if !r.Final {
		body["tools"] = r.Tools
	}
	var answer struct {
		Choices []struct {
			Message json.RawMessage `json:"message"`
		} `json:"choices"`
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		} `json:"usage"`
	}
	err := o.post(ctx, o.API+"/chat/completions", http.Header{"Authorization": {"Bearer " + o.Key}}, body, &answer)
	if tooLong(err, "context_length_exceeded") {
		return Reply{}, errTooLong
	}
	if err != nil {
		return Reply{}, err
	}
	if len(answer.Choices) == 0 {
		return Reply{}, errors.New("the model says nothing")
	}
	var m struct {
		Content string `json:"content"`
		Calls   []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(answer.Choices[0].Message, &m); err != nil {
		return Reply{}, err
	}
	reply := Reply{Message: answer.Choices[0].Message, Text: m.Content, Used: answer.Usage.Prompt}
	for _, c := range m.Calls {
		reply.Calls = append(reply.Calls, Call{c.ID, c.Function.Name, json.RawMessage(c.Function.Arguments)})
	}
	return reply, nil
}

// object is JSON that cannot fail to be written.
type object map[string]any

func (o object) json() json.RawMessage {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // texts and numbers, and JSON that was read
	}
	return b
}

// tooLong reports whether a model refused what it was sent because of its length.
func tooLong(err error, says string) bool {
	var r *Refused
	return errors.As(err, &r) && (r.Status == http.StatusRequestEntityTooLarge || strings.Contains(r.Body, says))
}
