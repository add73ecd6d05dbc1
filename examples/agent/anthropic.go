package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// Anthropic is a model that speaks Anthropic's messages.
type Anthropic struct {
	Caller

	API, Key, Name string
}

// User implements [Model].
func (Anthropic) User(text string) json.RawMessage {
	return object{"role": "user", "content": text}.json()
}

// Results implements [Model]: all in one message of the user.
func (Anthropic) Results(results []Result) []json.RawMessage {
	var blocks []object
	for _, r := range results {
		blocks = append(blocks, object{"type": "tool_result", "tool_use_id": r.Call.ID, "content": r.Text, "is_error": r.Failed})
	}
	return []json.RawMessage{object{"role": "user", "content": blocks}.json()}
}

// Definitions implements [Model].
func (Anthropic) Definitions(tools []Tool) []json.RawMessage {
	var out []json.RawMessage
	for _, t := range tools {
		out = append(out, object{"name": t.Name, "description": t.Description, "input_schema": t.Schema}.json())
	}
	return out
}

// Call implements [Model]. Tools are named in the last call, too: where there are results
// of tools, Anthropic wants to know of which.
func (a Anthropic) Call(ctx context.Context, r Request) (Reply, error) {
	body := object{"model": a.Name, "messages": r.Shown.Messages, "max_tokens": r.Answer, "tools": r.Tools}
	if r.Shown.System != nil {
		body["system"] = r.Shown.System
	}
	if r.Final {
		body["tool_choice"] = object{"type": "none"}
	}
	var answer struct {
		Content json.RawMessage `json:"content"`
		Usage   struct {
			New     int `json:"input_tokens"`
			Written int `json:"cache_creation_input_tokens"`
			Cached  int `json:"cache_read_input_tokens"`
		} `json:"usage"`
	}
	header := http.Header{"X-Api-Key": {a.Key}, "Anthropic-Version": {"2023-06-01"}}
	err := a.post(ctx, a.API+"/messages", header, body, &answer)
	if tooLong(err, "prompt is too long") {
		return Reply{}, errTooLong
	}
	if err != nil {
		return Reply{}, err
	}
	var blocks []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(answer.Content, &blocks); err != nil {
		return Reply{}, err
	}
	if len(blocks) == 0 {
		return Reply{}, errors.New("the model says nothing")
	}
	reply := Reply{
		Message: object{"role": "assistant", "content": answer.Content}.json(),
		Used:    answer.Usage.New + answer.Usage.Written + answer.Usage.Cached,
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			reply.Text += b.Text
		case "tool_use":
			reply.Calls = append(reply.Calls, Call{b.ID, b.Name, b.Input})
		}
	}
	return reply, nil
}
