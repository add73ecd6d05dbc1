package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/api/mcp"
)

// piped writes lines to a server, closes, and returns its answers: the result or the error
// of each id, and the errors of no id under null.
func piped(t *testing.T, s *mcp.Server, input string) map[string]string {
	t.Helper()
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), io.NopCloser(strings.NewReader(input)), &out); err != nil {
		t.Fatal(err)
	}
	answers := make(map[string]string)
	for line := range strings.Lines(out.String()) {
		var m struct {
			Version       string `json:"jsonrpc"`
			ID            json.RawMessage
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			t.Errorf("%q is no message: %v", line, err)
		}
		answers[string(m.ID)] += string(m.Result) + string(m.Error)
	}
	return answers
}

const begun = initialize + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

func asks(id int, query string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"context","arguments":{"query":%q}}}`, id, query)
}

// TestPiped: who writes everything at once and closes gets all answers, also to a last
// line that has no end.
func TestPiped(t *testing.T) {
	eng := open(t)
	put(t, eng, "", "a.md", "# Zebras\n\nZebras live in savannas.\n")
	var input strings.Builder
	input.WriteString(begun)
	const most = 150
	for id := 100; id < most; id++ {
		fmt.Fprintln(&input, asks(id, "where do zebras live?"))
	}
	input.WriteString(asks(most, "where do zebras live?"))
	answers := piped(t, mcp.New(mcp.Local(eng), mcp.Options{MaxCalls: 2}), input.String())
	for id := 100; id <= most; id++ {
		if a := answers[fmt.Sprint(id)]; !strings.Contains(a, "savannas") || !strings.Contains(a, `id=\"a.md@1#0\"`) {
			t.Fatalf("%d has the answer %q", id, a)
		}
	}
	if got := piped(t, mcp.New(mcp.Local(eng), mcp.Options{}), ""); len(got) != 0 {
		t.Errorf("nothing is answered by %v", got)
	}
}

// TestHostileLines: what is no message is answered by an error, and what follows is served.
func TestHostileLines(t *testing.T) {
	eng := open(t)
	put(t, eng, "", "a.md", "# Zebras\n")
	for name, c := range map[string]struct{ line, id, answer string }{
		"no JSON":          {"garbage", "null", "-32700"},
		"cut off":          {`{"jsonrpc":"2.0","id":9,"meth`, "null", "-32700"},
		"two values":       {`{} {}`, "null", "-32700"},
		"bytes":            {"\x00\xff\xfe", "null", "-32700"},
		"null":             {"null", "null", "-32600"},
		"a number":         {"7", "null", "-32600"},
		"no message":       {`{"id":9}`, "9", "-32600"},
		"another version":  {`{"jsonrpc":"1.0","id":"x","method":"ping"}`, `"x"`, "-32600"},
		"an empty array":   {"[]", "null", "-32600"},
		"an array in one":  {"[[]]", "null", "-32600"},
		"too long":         {`{"jsonrpc":"2.0","id":9,"method":"` + strings.Repeat("x", 9<<20) + `"}`, "null", "longer than 8 MiB"},
		"deep":             {strings.Repeat("[", 1<<20), "null", "-32700"},
		"several at once":  {`[{"jsonrpc":"2.0","id":9,"method":"ping"},{"jsonrpc":"2.0","id":9,"method":"ping"},1]`, "null", "-32600"},
		"answers nothing":  {`{"jsonrpc":"2.0","id":9,"result":{}}`, "9", ""},
		"an unknown call":  {`{"jsonrpc":"2.0","id":9,"method":"no/such"}`, "9", "-32601"},
		"empty lines":      {"\n \r\n\n", "null", ""},
		"ended as Windows": {`{"jsonrpc":"2.0","id":9,"method":"ping"}` + "\r", "9", "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			answers := piped(t, mcp.New(mcp.Local(eng), mcp.Options{}), begun+c.line+"\n"+asks(100, "zebras")+"\n")
			if got := answers[c.id]; !strings.Contains(got, c.answer) || c.answer == "" && got != "" {
				t.Errorf("the answer to it is %q", got)
			}
			if got := answers["100"]; !strings.Contains(got, "Zebras") {
				t.Errorf("what follows is answered by %q", got)
			}
		})
	}
}

// full cannot be written to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestNobodyReads: a server whose answers cannot be written ends with its input.
func TestNobodyReads(t *testing.T) {
	s := mcp.New(mcp.Local(open(t)), mcp.Options{})
	_ = s.ServeStdio(t.Context(), io.NopCloser(strings.NewReader(begun+"garbage\n"+asks(100, "x")+"\n")), full{}) // it must end
}
