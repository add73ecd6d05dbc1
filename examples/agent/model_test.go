package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
)

// scripted is a server of a model that answers by a script. It refuses, and has the test
// fail for, what breaks the rules that the vendor documents.
type scripted struct {
	t      testing.TB
	url    string
	vendor vendor
	count  ragctx.Counter
	script func(task, step int) (text string, calls []Call)

	mu      sync.Mutex
	window  int
	task    int           // the newest, which every request must have
	step    int           // how often it was answered
	follows bool          // the next task may come once this one is answered
	done    bool          // that it is
	trouble []http.Header // with what the next requests are refused: Status, and other headers
	heard   []heard
}

// vendor knows a protocol, by its documentation alone.
type vendor interface {
	path() string
	// hear checks a request and says what the model is told.
	hear(r *http.Request, body []byte) (heard, error)
	// say makes an answer of n tokens that were heard.
	say(text string, calls []Call, n int) any
	refuse(status int, kind, text string) any
	tooLong(n, limit int) (kind, text string)
}

// heard is what a model is told, whatever the protocol.
type heard struct {
	said     []said
	tools    []string // that may be called
	defined  []json.RawMessage
	answer   int // tokens
	messages int
}

// said is a text of a message, or the result of a call.
type said struct {
	role, text string
	result     bool
}

// taskOf finds the tasks of the test in texts.
var taskOf = regexp.MustCompile(`(?m)^Task (\d+):`)

// newest returns the newest task that a user gave.
func (h heard) newest() (task int) {
	for _, s := range h.said {
		for _, m := range taskOf.FindAllStringSubmatch(s.text, -1) {
			if n, _ := strconv.Atoi(m[1]); s.role == "user" && !s.result {
				task = max(task, n)
			}
		}
	}
	return task
}

// all returns all texts.
func (h heard) all() string {
	var b []byte
	for _, s := range h.said {
		b = append(append(b, s.text...), '\n')
	}
	return string(b)
}

func newScripted(t testing.TB, v vendor, window int, script func(task, step int) (string, []Call)) *scripted {
	t.Helper()
	counter, err := tokens.New(ragctx.DefaultTokenizer)
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{t: t, vendor: v, count: counter, window: window, script: script}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL + "/v1"
	return s
}

// ServeHTTP implements [http.Handler].
func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1"+s.vendor.path() {
		s.t.Errorf("%s %s, %v", r.Method, r.URL.Path, err)
	}
	if len(s.trouble) > 0 {
		h := s.trouble[0]
		s.trouble = s.trouble[1:]
		status, _ := strconv.Atoi(h.Get("Status"))
		maps.Copy(w.Header(), h)
		s.answer(w, status, s.vendor.refuse(status, "overloaded_error", "try again"))
		return
	}
	h, err := s.vendor.hear(r, body)
	n := s.size(h)
	task := h.newest()
	switch {
	case err != nil:
	case n+h.answer > s.window:
		kind, text := s.vendor.tooLong(n+h.answer, s.window)
		s.answer(w, http.StatusBadRequest, s.vendor.refuse(http.StatusBadRequest, kind, text))
		return
	case s.follows && task == s.task+1 && (s.done || s.task == 0):
		s.task, s.step = task, 0
	case task != s.task:
		err = fmt.Errorf("the newest instruction is of task %d and not %d", task, s.task)
	}
	if err != nil {
		s.t.Errorf("request %d: %v\n%s", len(s.heard), err, body)
		s.answer(w, http.StatusBadRequest, s.vendor.refuse(http.StatusBadRequest, "invalid_request_error", err.Error()))
		return
	}
	s.heard = append(s.heard, h)
	text, calls := s.script(task, s.step)
	s.step++
	s.done = len(calls) == 0
	if len(calls) > 0 && len(h.tools) == 0 {
		text, calls = fmt.Sprintf("Answer %d, without tools.", task), nil
	}
	for i := range calls {
		calls[i].ID = fmt.Sprintf("call_%d_%d", len(s.heard), i)
		if !slices.Contains(h.tools, calls[i].Name) {
			s.t.Errorf("request %d has no tool %s", len(s.heard), calls[i].Name)
		}
	}
	s.answer(w, http.StatusOK, s.vendor.say(text, calls, n))
}

func (s *scripted) answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		s.t.Error(err)
	}
}

// size counts what a model is told: each text, 3 tokens for a message, and the tools.
func (s *scripted) size(h heard) int {
	n := 3 + 3*h.messages
	for _, one := range h.said {
		n += s.count.Count(one.text)
	}
	for _, tool := range h.defined {
		n += s.count.Count(string(tool))
	}
	return n
}

// expect sets which task is the newest.
func (s *scripted) expect(task int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task, s.step = task, 0
}

// follow takes the tasks in order, by what the requests say.
func (s *scripted) follow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follows = true
}

// requests returns what was heard.
func (s *scripted) requests() []heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}
