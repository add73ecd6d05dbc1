package llm

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// dialect lists the request fields that a service or its model does not support. The zero value is
// the most common dialect.
type dialect struct {
	noFormat      bool // response_format
	noTemperature bool // reasoning models reject temperature
	completion    bool // max_completion_tokens instead of max_tokens, for reasoning models
}

// requestBody is the body of a request.
type requestBody struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	MaxTokens   int       `json:"max_tokens,omitempty"`
	MaxComplete int       `json:"max_completion_tokens,omitempty"`
	Temperature *float64  `json:"temperature,omitempty"`
	Format      *format   `json:"response_format,omitempty"`
}

type message struct {
	Role    ragctx.Role `json:"role"`
	Content string      `json:"content"`
}

type format struct {
	Type string `json:"type"`
}

// body returns the request body for r.
func (d dialect) body(model string, r *Request) requestBody {
	b := requestBody{Model: model, MaxTokens: r.MaxTokens, Temperature: r.Temperature}
	if r.System != "" {
		b.Messages = append(b.Messages, message{ragctx.RoleSystem, r.System})
	}
	for _, m := range r.Messages {
		b.Messages = append(b.Messages, message{cmp.Or(m.Role, ragctx.RoleUser), m.Text})
	}
	if d.completion {
		b.MaxTokens, b.MaxComplete = 0, r.MaxTokens
	}
	if d.noTemperature {
		b.Temperature = nil
	}
	if r.JSON && !d.noFormat {
		b.Format = &format{Type: "json_object"}
	}
	return b
}

// adapt returns the dialect in which to resend a request that failed with err. It returns false if
// no other dialect can help. An error that names no field is attributed to response_format, the least supported
// field.
func (d dialect) adapt(r *Request, err error) (dialect, bool) {
	s, ok := errors.AsType[*httpclient.StatusError](err)
	if !ok || s.Status != http.StatusBadRequest && s.Status != http.StatusUnprocessableEntity {
		return d, false
	}
	said := strings.ToLower(s.Message)
	switch {
	case !d.completion && strings.Contains(said, "max_tokens"):
		d.completion = true
	case !d.noTemperature && r.Temperature != nil && strings.Contains(said, "temperature"):
		d.noTemperature = true
	case !d.noFormat && r.JSON:
		d.noFormat = true
	default:
		return d, false
	}
	return d, true
}

// union returns the union of the unsupported fields of two dialects.
func (d dialect) union(o dialect) dialect {
	return dialect{d.noFormat || o.noFormat, d.noTemperature || o.noTemperature, d.completion || o.completion}
}
