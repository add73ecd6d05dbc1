package mcp

import (
	"context"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx"
)

const promptName = "answer_with_context"

func (s *Server) addPrompt(srv *mcp.Server) {
	srv.AddPrompt(&mcp.Prompt{
		Name: promptName, Title: "Answer with context",
		Description: "A question, preceded by the best passages of documents and memories.",
		Arguments: []*mcp.PromptArgument{
			{Name: "question", Title: "Question", Description: "question to answer", Required: true},
			{Name: "max_tokens", Title: "Tokens", Description: "maximum tokens of the passages; default is " +
				strconv.Itoa(fallbackTokens)},
		},
	}, s.prompt)
}

func (s *Server) prompt(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	ctx, at, err := s.reader(ctx, headerOf(req))
	if err != nil {
		return nil, err
	}
	question, limit := req.Params.Arguments["question"], fallbackTokens
	if question == "" {
		return nil, ragctx.Invalid("question", "is missing; send the question to answer")
	}
	if v := req.Params.Arguments["max_tokens"]; v != "" {
		if limit, err = strconv.Atoi(v); err != nil || limit < minTokens || limit > maxTokens {
			return nil, ragctx.Invalid("max_tokens", "is %q; use %d to %d", ragctx.Clip(v), minTokens, maxTokens)
		}
	}
	a, err := s.context(ctx, at, contextArguments{
		Query: question, MaxResults: ragctx.DefaultMaxResults,
		Citations: true, sized: sized{limit},
	})
	if err != nil {
		return nil, s.hidden(ctx, "prompt", err)
	}
	text := a.text() + "\n\nAnswer this question from the passages above, and say so if they do not suffice:\n\n" +
		question
	return &mcp.GetPromptResult{
		Description: "A question with its context.",
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}, nil
}
