package api

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"pgregory.net/rapid"
)

func TestCheckJSON(t *testing.T) {
	for _, tc := range []struct {
		src, want string // want is where and why it is refused, "" for not at all
	}{
		{`{}`, ""},
		{` [1, -0, 0.5e-7, 1E+2, "a\"\\\/\b\f\n\r\té", "😀", true, false, null, {"a": {}}] `, ""},
		{`"😀é"`, ""},
		{``, "body: is empty"},
		{"\n\t ", "body: is empty"},
		{`{"a":[1,{"b":x}]}`, "body.a[1].b: has \"x\" where a value belongs (line 1, column 14)"},
		{"{\n \"a\": tru}", "body.a: has \"t\" where true, false or null belongs (line 2, column 7)"},
		{`[1 2]`, "body: has \"2\" where a comma or ']' belongs"},
		{`{"a" 1}`, "body: has \"1\" where a colon"},
		{`{1:2}`, "body: has \"1\" where a key in double quotes"},
		{`["\x"]`, "body[0]: has the unknown escape \\x"},
		{`["\u12g4"]`, "body[0]: has a \\u escape without four"},
		{`["\u+123"]`, "body[0]: has a \\u escape without four"},
		{`["\`, "body[0]: ends too early"},
		{"[\"a\tb\"]", "body[0]: has the control character U+0009"},
		{`[-]`, "body[0]: has \"]\" where a digit"},
		{`[1.]`, "body[0]: has \"]\" where a digit after"},
		{`[1e]`, "body[0]: has \"]\" where a digit of the exponent"},
		{`[.5]`, "body[0]: has \".\" where a value"},
		{`{"a":1,"a":2}`, "body.a: occurs twice"},
		{`{"a":1,"\u0061":2}`, "body.a: occurs twice"},
		{`["\ud83d"]`, "body[0]: has half a surrogate pair"},
		{`["\ud83dx"]`, "body[0]: has half a surrogate pair"},
		{`["\ud83d\ud83d\ude00"]`, "body[0]: has half a surrogate pair"},
		{`{"\u0000":1}`, "body: has a NUL character"},
		{`{"a":{"b":[0,1e999]}}`, "body.a.b[1]: is 1e999, which is beyond"},
		{strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), ""},
		{strings.Repeat("[", maxDepth+1), "nested deeper than 64"},
	} {
		faults, err := checkJSON([]byte(tc.src), nil, nil)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case len(faults) > 0:
			got = faults[0].Location + ": " + faults[0].Message
		}
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s:\n got %q\nwant %q", tc.src, got, tc.want)
		}
	}
}

// checkAgainstStdlib checks what the rest of the package relies on: nothing is
// let through that encoding/json refuses or changes, and nothing is refused as
// malformed that is well-formed.
func checkAgainstStdlib(t interface{ Errorf(string, ...any) }, src []byte) {
	faults, err := checkJSON(src, nil, nil)
	wellFormed := json.Valid(src) && utf8.Valid(src)
	if err == nil && !wellFormed {
		t.Errorf("accepted %q", src)
	}
	if err != nil && wellFormed && !strings.Contains(err.Message, "nested deeper") {
		t.Errorf("refused %q: %v", src, err)
	}
	if err != nil && (err.offset < 0 || err.offset > len(src)) {
		t.Errorf("offset %d of %d bytes", err.offset, len(src))
	}
	if err != nil || len(faults) > 0 {
		return
	}
	var v any
	if err := json.Unmarshal(src, &v); err != nil {
		t.Errorf("cannot decode what was accepted: %q: %v", src, err)
		return
	}
	b, merr := json.Marshal(v)
	if merr != nil || strings.Contains(string(b), `\u0000`) && !strings.Contains(string(src), `\\u0000`) {
		t.Errorf("a NUL went through: %q", src)
	}
	if strings.ContainsRune(string(b), utf8.RuneError) && !strings.ContainsRune(string(src), utf8.RuneError) &&
		!strings.Contains(strings.ToLower(string(src)), `\ufffd`) {
		t.Errorf("text was replaced: %q became %q", src, b)
	}
}

func FuzzCheckJSON(f *testing.F) {
	for _, r := range bodyRoutes {
		f.Add([]byte(r.good))
	}
	for _, s := range []string{
		`{"a":[1,-2.5e3,true,null,"\ud83d\ude00"]}`, `{"a":1,"a":2}`, `["\ud800"]`, "\"\xff\"", `{"a":"\u0000"}`, `[[[[`, `{"é":"\\ufffd"}`, `1e400`, "\ufeff{}",
	} {
		f.Add([]byte(s))
	}
	schemas, schema := contextSchema()
	f.Fuzz(func(t *testing.T, src []byte) {
		checkAgainstStdlib(t, src)
		if faults, err := checkJSON(src, schema, schemas); err == nil && len(faults) == 0 {
			var r contextRequest
			if err := json.Unmarshal(src, &r); err != nil {
				t.Errorf("checked by its schema, yet not decodable: %q: %v", src, err)
			}
		}
	})
}

func contextSchema() (huma.Registry, *huma.Schema) {
	s := New(nil, Options{})
	schemas := s.api.OpenAPI().Components.Schemas
	return schemas, schemas.SchemaFromRef("#/components/schemas/ContextRequest")
}

// jsonText draws JSON values as encoding/json writes them.
func jsonText(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.String().AsAny(),
	)
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(
		leaf,
		rapid.SliceOfN(jsonText(depth-1), 0, 4).AsAny(),
		rapid.MapOfN(rapid.String(), jsonText(depth-1), 0, 4).AsAny(),
	)
}

// TestCheckJSONProperties breaks well-formed texts in one place and compares
// the verdict with encoding/json's.
func TestCheckJSONProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, err := json.Marshal(jsonText(3).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		checkAgainstStdlib(t, src)
		if _, err := checkJSON(src, nil, nil); err != nil {
			t.Fatalf("refused %q: %v", src, err)
		}
		i := rapid.IntRange(0, len(src)-1).Draw(t, "place")
		src[i] = rapid.Byte().Draw(t, "byte")
		checkAgainstStdlib(t, src)
	})
}

func TestCheckSchemaAgreesWithDecoding(t *testing.T) {
	schemas, schema := contextSchema()
	good := `{"query":"x","max_tokens":5,"context_types":["MEMORY","file"],"depth":"L1","filter":{"metadata":{"a":"b"}},
		"messages":[{"role":"USER","content":[{"type":"tool_result","content":[{"type":"text","text":"t"}]}]}],"as_of":null,"exclude":null}`
	faults, serr := checkJSON([]byte(good), schema, schemas)
	if serr != nil || len(faults) > 0 {
		t.Fatalf("refused: %v %v", serr, faults)
	}
	var r contextRequest
	if err := json.Unmarshal([]byte(good), &r); err != nil {
		t.Fatal(err)
	}
	q, err := r.query()
	if err != nil || q.Depth != "overview" || len(q.ContextTypes) != 2 || q.ContextTypes[1] != "resource" {
		t.Errorf("%+v, %v", q, err)
	}
	if !errors.Is(invalid(), invalid().Unwrap()) {
		t.Error("a problem does not match its sentinel")
	}
}

func TestSuggest(t *testing.T) {
	_, s := contextSchema()
	names := slices.Sorted(maps.Keys(s.Properties))
	for key, want := range map[string]string{
		"Query": "query", "maxTokens": "max_tokens", "max-tokens": "max_tokens", "sesion_id": "session_id", "quary": "query",
	} {
		if got := suggest(key, names); got != "; did you mean "+want+"?" {
			t.Errorf("suggest(%q) = %q", key, got)
		}
	}
	if got := suggest(strings.Repeat("x", 1<<20), names); !strings.HasPrefix(got, "; there are agent_id, ") {
		t.Errorf("got %.80q", got)
	}
}
