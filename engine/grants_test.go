package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/session/assemble"
)

// theirs is a namespace that the caller must not reach, and the id of everything in it; secret is its
// content.
const (
	theirs = "theirs"
	secret = "zqsecret"
)

// reachable are the methods that answer callers of any namespace, with the reason. Even their results
// contain nothing of the namespace.
var reachable = map[string]string{
	"BeginRequest": requests, "EndRequest": requests, "DropRequest": requests, "KnownRequest": requests,
	"JobTally":       "counts jobs for /metrics, which is for admins of all namespaces",
	"Status":         "an admin sees how large the directory is, and the namespaces within reach",
	"Reembedding":    "a change of the embedder concerns all namespaces",
	"Namespaces":     "lists those within reach",
	"ListNamespaces": "lists those within reach",
	"Warm":           "what is not within reach has no indexes",
	"Ready":          "says that the engine can answer",
	"Settle":         "says that everything is learnt from",
	"WhileValid":     "is about the text of an API key",
	"DocumentsIn":    "reads a file that the caller has",
	"Extract":        "reads a turn that the caller has",
	"Watch":          "tells of each folder that it is refused, and goes on",
	"FollowEvents":   "yields events within reach",
	"Prune":          forTests, "Spools": forTests, "SubmitJob": forTests,
}

const (
	requests = "a door's note of a request, under its API key; api.once asks for none of a namespace beyond reach"
	forTests = "is for tests"
)

// given are arguments that are validated before authorization.
var given = map[reflect.Type]any{
	reflect.TypeFor[ragctx.ContextQuery](): ragctx.ContextQuery{Query: secret, Namespace: theirs, UserID: theirs},
	reflect.TypeFor[ragctx.Turn]():         ragctx.Turn{ID: "turn-2", Namespace: theirs, UserID: theirs, SessionID: theirs, Prompt: secret, Response: "so"},
	reflect.TypeFor[ragctx.Memory]():       ragctx.Memory{ID: theirs, Namespace: theirs, UserID: theirs, Content: "theirs"},
	reflect.TypeFor[memory.Outcome]():      memory.Outcome{Prompt: "theirs", Result: "theirs"},
	reflect.TypeFor[assemble.Request]():    assemble.Request{Context: ragctx.ContextQuery{Query: secret, Namespace: theirs, UserID: theirs}},
	reflect.TypeFor[events.Filter]():       events.Filter{Namespace: theirs},
	reflect.TypeFor[index.Ranking]():       index.Ranking{Method: "rrf"},
	reflect.TypeFor[[]byte]():              []byte("text"),
}

// TestNothingReachesAnotherNamespace calls every method of an engine that takes a context
// with the grants of another namespace, and with arguments that name theirs.
func TestNothingReachesAnotherNamespace(t *testing.T) {
	f := open(t)
	fillTheirs(t, f)
	grants := []access.Grant{
		{Key: "k1", Role: access.Admin, Namespaces: []string{"ours"}},
		{Key: "k2", Role: access.Write, Namespaces: []string{"ours"}, User: theirs},
		{},
	}
	eng := reflect.ValueOf(f.Engine)
	for i := range eng.NumMethod() {
		method, name := eng.Method(i), eng.Type().Method(i).Name
		if kind := method.Type(); kind.NumIn() == 0 || kind.In(0) != reflect.TypeFor[context.Context]() {
			continue
		}
		for _, g := range grants {
			told, err := callAs(t.Context(), name, method, g)
			if strings.Contains(told, secret) {
				t.Errorf("%s tells a caller with %+v: %.300s", name, g, told)
			}
			_, may := reachable[name]
			if refused := errors.Is(err, ragctx.ErrDenied) || errors.Is(err, ragctx.ErrNotFound); !refused && !may {
				t.Errorf("%s answers a caller with %+v: %.200s, %v", name, g, told, err)
			}
		}
	}
	if d, text, err := f.Documents().Get(t.Context(), theirs, theirs, 0); err != nil || !strings.Contains(text, secret) {
		t.Errorf("the document afterwards: %+v, %v", d, err)
	}
	if m, err := f.Memories().Get(t.Context(), theirs, theirs, theirs, false); err != nil || !strings.Contains(m.Content, secret) {
		t.Errorf("the memory afterwards: %+v, %v", m, err)
	}
}

// fillTheirs writes one of each kind of thing.
func fillTheirs(t *testing.T, f *fixture) {
	t.Helper()
	ctx := t.Context()
	if _, err := f.Documents().Put(ctx, theirs, ragctx.Document{ExternalID: theirs, Text: "The " + secret + " of a document."}, ""); err != nil {
		t.Fatal(err)
	}
	m := ragctx.Memory{ID: theirs, Namespace: theirs, UserID: theirs, SessionID: theirs, Content: "The " + secret + " of a memory."}
	if _, _, err := f.Memories().Put(ctx, m); err != nil {
		t.Fatal(err)
	}
	turn := ragctx.Turn{ID: "turn", Namespace: theirs, UserID: theirs, SessionID: theirs, Prompt: "What is the " + secret + "?", Response: "It is a " + secret + "."}
	if _, err := f.CompleteTurn(ctx, turn); err != nil {
		t.Fatal(err)
	}
	k := engine.ProcedureKey{Namespace: theirs, Name: theirs}
	if _, err := f.Procedures().PutDraft(ctx, k, ragctx.ProcedureBody{Trigger: "the " + secret, Steps: []string{"a " + secret}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Procedures().Publish(ctx, k); err != nil {
		t.Fatal(err)
	}
}

// callAs calls a method with generated arguments and returns its output.
func callAs(ctx context.Context, name string, method reflect.Value, g access.Grant) (told string, err error) {
	patience := time.Minute
	if name == "FollowEvents" || name == "Watch" { // which do not end by themselves
		patience = 50 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(access.With(ctx, g), patience)
	defer cancel()
	args := []reflect.Value{reflect.ValueOf(ctx)}
	var written bytes.Buffer
	for i := 1; i < method.Type().NumIn(); i++ {
		arg := reflect.New(method.Type().In(i)).Elem()
		makeUp(arg, &written, 0)
		if arg.Kind() == reflect.String && name == "Passage" && i == 2 {
			arg.SetString(theirs + "@1#0")
		}
		args = append(args, arg)
	}
	call := method.Call
	if method.Type().IsVariadic() {
		call = method.CallSlice
	}
	var out strings.Builder
	for _, v := range call(args) {
		if e, ok := reflect.TypeAssert[error](v); ok {
			err = e
			continue
		}
		if v.Type().CanSeq2() && v.Kind() == reflect.Func && !v.IsNil() {
			for one, failed := range v.Seq2() {
				fmt.Fprintf(&out, "%+v", one)
				if e, ok := reflect.TypeAssert[error](failed); ok {
					err = e
				}
			}
			continue
		}
		if b, err := json.Marshal(v.Interface()); err == nil {
			out.Write(b)
		} else {
			fmt.Fprintf(&out, "%v", v.Interface())
		}
	}
	return out.String() + written.String(), err
}

// makeUp sets a value to one that names the other namespace's data.
func makeUp(v reflect.Value, written io.Writer, depth int) {
	if it, ok := given[v.Type()]; ok {
		v.Set(reflect.ValueOf(it))
		return
	}
	switch v.Interface().(type) {
	case time.Time:
		return
	case io.Writer:
		v.Set(reflect.ValueOf(written))
		return
	}
	switch v.Kind() { //nolint:exhaustive // what else there is says nothing as it is
	case reflect.String:
		v.SetString(theirs)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(1)
	case reflect.Uint64, reflect.Uint32:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(.5)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && depth < 4 {
				makeUp(v.Field(i), written, depth+1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		makeUp(v.Index(0), written, depth+1)
	case reflect.Pointer:
		if strings.HasPrefix(v.Type().Elem().PkgPath(), "log") {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		makeUp(v.Elem(), written, depth+1)
	case reflect.Func:
		v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) (out []reflect.Value) {
			for kind := range v.Type().Outs() {
				out = append(out, reflect.Zero(kind))
			}
			return out
		}))
	case reflect.Interface:
		for _, candidate := range []any{written, strings.NewReader(""), bytes.NewReader(nil)} {
			if reflect.TypeOf(candidate).Implements(v.Type()) && v.NumMethod() > 0 {
				v.Set(reflect.ValueOf(candidate))
				return
			}
		}
	}
}
