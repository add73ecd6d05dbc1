package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/internal/store"
	convo "github.com/ragctx/ragctx/session"
)

// used is a tool call and its result.
type used struct {
	tool, input, result string
	failed              bool
}

// work is a turn in which an agent used tools.
func work(id, session, prompt string, sure float64, calls ...used) ragctx.Turn {
	t := ragctx.Turn{ID: id, SessionID: session, Confidence: &sure, Messages: []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, prompt)}}
	for i, c := range calls {
		call := fmt.Sprint("call-", i)
		t.Messages = append(t.Messages,
			ragctx.Message{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockToolUse, ID: call, Name: c.tool, Input: json.RawMessage(c.input)}}},
			ragctx.Message{Role: ragctx.RoleTool, Content: ragctx.Content{
				{Type: ragctx.BlockToolResult, ToolUseID: call, Content: ragctx.Text(c.result), IsError: c.failed},
			}})
	}
	t.Messages = append(t.Messages, ragctx.TextMessage(ragctx.RoleAssistant, "It is done."))
	return t
}

func deploy(id, session, service string, sure float64) ragctx.Turn {
	return work(id, session, "Please deploy the "+service+" service to staging.", sure,
		used{tool: "git_pull", input: `{"repo":"` + service + `"}`},
		used{tool: "build_image", input: `{"service":"` + service + `"}`, failed: true, result: "no login"},
		used{tool: "registry_login", input: `{"registry":"internal"}`},
		used{tool: "build_image", input: `{"service":"` + service + `"}`, result: "done"},
		used{tool: "rollout", input: `{"service":"` + service + `","environment":"staging"}`},
		used{tool: "check_status", input: `{"service":"` + service + `"}`, result: "healthy"})
}

func settle(t *testing.T, f *fixture) {
	t.Helper()
	if err := f.Sessions().SettleAll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestProcedureFromTurnToContext follows a procedure from the turn that it is found
// in to the answer that shows it.
func TestProcedureFromTurnToContext(t *testing.T) {
	f := open(t)
	f.turn(deploy("t1", "s1", "billing", .9))
	settle(t, f)
	list, err := f.Procedures().List(t.Context(), "", store.ProcedureFilter{})
	if err != nil || len(list) != 1 || !list[0].Draft || list[0].Canonical != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	k := engine.ProcedureKey{Name: list[0].Name}
	p, err := f.Procedures().Get(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	want := ragctx.ProcedureBody{
		Trigger: "deploy the {service} service to {environment}",
		Steps: []string{
			"git_pull(repo={service})", "registry_login(registry=internal)", "build_image(service={service})",
			"rollout(environment={environment}, service={service})",
		},
		Tools:        []string{"git_pull", "build_image", "registry_login", "rollout", "check_status"},
		Pitfalls:     []string{"build_image(service={service}) failed the first time and went well when it was repeated."},
		Verification: []string{"check_status(service={service})"},
	}
	if diff := cmp.Diff(want, p.Draft.ProcedureBody); diff != "" {
		t.Error(diff)
	}
	ask := query("deploy the search service to production")
	if items := f.ask(ask).Items; slices.ContainsFunc(items, func(i ragctx.ContextItem) bool { return i.Type == ragctx.TypeSkill }) {
		t.Errorf("a draft is shown: %+v", items)
	}

	f.turn(deploy("t2", "s2", "search", .8)) // the same with another service
	settle(t, f)
	if p, err = f.Procedures().Get(t.Context(), k); err != nil || len(p.Draft.Sources) != 2 {
		t.Errorf("evidence: %+v, %v", p.Draft, err)
	}
	if _, err := f.Procedures().Publish(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	a := f.ask(ask.WithTypes(ragctx.TypeSkill))
	if len(a.Items) != 1 || a.Items[0].ID != "procedure:"+k.Name+"@1" || a.Items[0].Source != "procedure:"+k.Name ||
		a.Items[0].Content != k.Name+": "+want.Trigger || a.Items[0].Relevance < .4 {
		t.Fatalf("%+v", a.Items)
	}
	if !strings.Contains(a.XML, `type="Skill"`) {
		t.Error(a.XML)
	}
	if found := f.ask(query("what is the weather in Paris?").WithTypes(ragctx.TypeSkill)).Items; len(found) > 0 {
		t.Errorf("unrelated: %+v", found)
	}
	_, v, err := f.Procedures().Skill(t.Context(), "", a.Items[0].ID)
	if err != nil || !slices.Equal(v.Steps, want.Steps) {
		t.Errorf("body: %+v, %v", v, err)
	}
	if found := f.ask(query("").WithTypes(ragctx.TypeSkill)).Items; len(found) != 1 {
		t.Errorf("without a question: %+v", found)
	}
	if _, err := f.Procedures().Unpublish(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if found := f.ask(ask.WithTypes(ragctx.TypeSkill)).Items; len(found) > 0 {
		t.Errorf("unpublished: %+v", found)
	}
}

func TestProcedureGate(t *testing.T) {
	no := false
	few := deploy("few", "s", "x1", .9)
	few.Messages = few.Messages[:9] // four calls
	unsure, failed, alone, silent := deploy("unsure", "s", "x1", .69), deploy("failed", "s", "x1", .9), deploy("alone", "", "x1", .9), deploy("silent", "s", "x1", .9)
	failed.Success, silent.Confidence = &no, nil
	f := open(t)
	for _, turn := range []ragctx.Turn{few, unsure, failed, alone, silent} {
		f.turn(turn)
	}
	settle(t, f)
	if list, err := f.Procedures().List(t.Context(), "", store.ProcedureFilter{AnyUser: true}); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	said := deploy("said", "s", "x1", 0)
	said.Confidence, said.Metadata = nil, map[string]any{"confidence": .7}
	f.turn(said)
	settle(t, f)
	if list, err := f.Procedures().List(t.Context(), "", store.ProcedureFilter{}); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestProcedureLearntOnceOverRestarts delivers a turn twice: it counts once.
func TestProcedureLearntOnceOverRestarts(t *testing.T) {
	f := open(t)
	f.turn(deploy("t1", "s1", "billing", .9))
	f.reopen()
	settle(t, f)
	f.turn(deploy("t1", "s1", "billing", .9))
	f.reopen()
	settle(t, f)
	list, err := f.Procedures().List(t.Context(), "", store.ProcedureFilter{})
	if err != nil || len(list) != 1 || list[0].Turns != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestErasedTurnTakesItsProcedure(t *testing.T) {
	f := open(t)
	f.turn(deploy("t1", "s1", "billing", .9))
	f.turn(deploy("t2", "s2", "search", .9))
	settle(t, f)
	if _, err := f.Sessions().Erase(t.Context(), "", "s1", "", true, convo.Condition{}); err != nil {
		t.Fatal(err)
	}
	f.reopen() // what others did is learnt again
	settle(t, f)
	list, err := f.Procedures().List(t.Context(), "", store.ProcedureFilter{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	p, err := f.Procedures().Get(t.Context(), engine.ProcedureKey{Name: list[0].Name})
	if err != nil || len(p.Draft.Sources) != 1 || p.Draft.Sources[0].Turn != "t2" {
		t.Errorf("%+v, %v", p.Draft, err)
	}
}

// TestSkillsScopeIsAWall publishes procedures of random owners in random namespaces, and queries as
// any user: no user sees another user's procedures.
func TestSkillsScopeIsAWall(t *testing.T) {
	f := open(t)
	names, users, agents := []string{"n1", "n2"}, []string{"", "ada", "bob"}, []string{"", "x", "y"}
	rapid.Check(t, func(rt *rapid.T) {
		k := engine.ProcedureKey{Namespace: rapid.SampledFrom(names).Draw(rt, "ns"), Name: rapid.SampledFrom([]string{"deploy-heron", "roll-back-heron"}).Draw(rt, "name")}
		k.UserID, k.AgentID = rapid.SampledFrom(users).Draw(rt, "user"), rapid.SampledFrom(agents).Draw(rt, "agent")
		mark := k.Namespace + "." + k.UserID + "." + k.AgentID
		if _, err := f.Procedures().PutDraft(t.Context(), k, ragctx.ProcedureBody{Trigger: "heron " + mark, Steps: []string{"go"}}); err != nil {
			rt.Fatal(err)
		}
		if _, err := f.Procedures().Publish(t.Context(), k); err != nil {
			rt.Fatal(err)
		}
		q := query(rapid.SampledFrom([]string{"", "heron deploy", "heron"}).Draw(rt, "question")).WithTypes(ragctx.TypeSkill).WithMaxResults(100)
		q.Namespace, q.UserID, q.AgentID = rapid.SampledFrom(names).Draw(rt, "asked"), rapid.SampledFrom(users).Draw(rt, "asker"), rapid.SampledFrom(agents).Draw(rt, "as")
		for _, it := range f.ask(q).Items {
			_, owner, _ := strings.Cut(it.Content, "heron "+q.Namespace+".")
			user, agent, ok := strings.Cut(owner, ".")
			if !ok || user != "" && user != q.UserID || agent != "" && q.AgentID != "" && agent != q.AgentID {
				rt.Fatalf("%q is shown to %q, %q in %s", it.Content, q.UserID, q.AgentID, q.Namespace)
			}
			id, v, err := f.Procedures().Skill(t.Context(), q.Namespace, it.ID)
			if err != nil || id.UserID != user || id.AgentID != agent || !strings.Contains(it.Content, v.Trigger) {
				rt.Fatalf("%s is %+v, %+v, %v", it.ID, id, v, err)
			}
		}
	})
}

// TestProcedureWordedByModel: a procedure worded by a model is still recognized by the rules, so the
// model is called once.
func TestProcedureWordedByModel(t *testing.T) {
	var asked atomic.Int32
	f := open(t, func(o *engine.Options) {
		o.FactExtraction.Model = llm.GeneratorFunc(func(_ context.Context, r llm.Request) (llm.Response, error) {
			if r.System != "" { // asked what to remember
				return llm.Response{Text: `{"items":[]}`}, nil
			}
			asked.Add(1)
			return llm.Response{Text: `{"name":"ship-service","trigger":"Deploy the {service} service","steps":["Get it","Ship {service}"],"pitfalls":[],"verification":[]}`}, nil
		})
	})
	f.turn(deploy("t1", "s1", "billing", .9))
	settle(t, f)
	f.turn(deploy("t2", "s1", "search", .9))
	settle(t, f)
	p, err := f.Procedures().Get(t.Context(), engine.ProcedureKey{Name: "ship-service"})
	if err != nil || p.Draft.By != ragctx.ByModel || len(p.Draft.Sources) != 2 || asked.Load() != 1 {
		t.Errorf("%+v, %v; asked %d times", p.Draft, err, asked.Load())
	}
}

func TestBadProcedures(t *testing.T) {
	f := open(t)
	ok := ragctx.ProcedureBody{Trigger: "when", Steps: []string{"do"}}
	for name, err := range map[string]error{
		"name":      failure(f.Procedures().PutDraft(t.Context(), engine.ProcedureKey{Name: "Not A Name"}, ok)),
		"trigger":   failure(f.Procedures().PutDraft(t.Context(), engine.ProcedureKey{Name: "x"}, ragctx.ProcedureBody{Steps: []string{"do"}})),
		"steps":     failure(f.Procedures().PutDraft(t.Context(), engine.ProcedureKey{Name: "x"}, ragctx.ProcedureBody{Trigger: "when"})),
		"long":      failure(f.Procedures().PutDraft(t.Context(), engine.ProcedureKey{Name: "x"}, ragctx.ProcedureBody{Trigger: strings.Repeat("w", 201), Steps: ok.Steps})),
		"version 0": failure(f.Procedures().Rollback(t.Context(), engine.ProcedureKey{Name: "x"}, 0)),
	} {
		if !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Procedures().Get(t.Context(), engine.ProcedureKey{Namespace: "never", Name: "x"}); !errors.Is(err, ragctx.ErrNotFound) {
		t.Error(err)
	}
}

func failure[T any](_ T, err error) error { return err }
