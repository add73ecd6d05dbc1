package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
)

// Session is a conversation that ragctx keeps. These three calls are all that an agent
// needs of ragctx.
type Session struct {
	Caller

	URL, Key string
	ID, User string
	Format   string // openai or anthropic
}

// Shown is what a model is to be sent, in its vendor's form.
type Shown struct {
	System   json.RawMessage   `json:"system"` // Anthropic's; OpenAI's is among the messages
	Messages []json.RawMessage `json:"messages"`
}

// Append adds messages to the conversation, which is made for the first one.
func (s *Session) Append(ctx context.Context, messages ...json.RawMessage) error {
	return s.do(ctx, "/messages", map[string]any{"create": true, "format": s.Format, "messages": messages}, &struct{}{})
}

// Assemble returns what a model is to be shown: of the conversation what fits, compacted
// where that is due, with context for what the user said last. Used is how many tokens
// the model counted in its last call; 0 is none.
func (s *Session) Assemble(ctx context.Context, system string, r Request, window, used int) (Shown, error) {
	phase := "loop"
	if r.Final {
		phase = "synthesis"
	}
	var out Shown
	err := s.do(ctx, ":assemble", map[string]any{
		"format": s.Format, "system_prompt": system, "tools": r.Tools, "phase": phase, "used_tokens": used,
		"budget": map[string]int{"window": window, "reserve_output": r.Answer},
	}, &out)
	return out, err
}

// Complete says that a turn is over, from which ragctx learns.
func (s *Session) Complete(ctx context.Context, prompt, response string) error {
	turn := map[string]any{"session_id": s.ID, "user_id": s.User, "prompt": prompt, "response": response}
	return s.send(ctx, "/v1/turns", turn, &struct{}{})
}

// do posts below the path of the session.
func (s *Session) do(ctx context.Context, what string, body, answer any) error {
	path := "/v1/sessions/" + url.PathEscape(s.ID) + what
	if s.User != "" {
		path += "?user_id=" + url.QueryEscape(s.User)
	}
	return s.send(ctx, path, body, answer)
}

// send posts to ragctx. The key makes it safe to send the same again; assembling is so
// without it.
func (s *Session) send(ctx context.Context, path string, body, answer any) error {
	header := http.Header{"Idempotency-Key": {rand.Text()}}
	if s.Key != "" {
		header.Set("Authorization", "Bearer "+s.Key)
	}
	return s.post(ctx, s.URL+path, header, body, answer)
}
