package llm

import (
	"fmt"
	"sync"
	"time"
)

// Totals says what a client asked of its service.
type Totals struct {
	Service string `json:"service" doc:"the model and the host of the service" example:"gpt-5-mini at api.openai.com"`
	// State is closed while the service is asked, open while it is not because it
	// failed just now, and half-open while one request finds out whether it is back.
	State     string     `json:"state" enum:"closed,open,half-open" doc:"closed: the service is asked; open: it failed and is not asked until asks_again; half-open: one request finds out whether it is back"`
	AsksAgain *time.Time `json:"asks_again,omitempty" doc:"until when it is not asked"`

	Requests int64 `json:"requests" doc:"sent to the service, repetitions included"`
	Retries  int64 `json:"retries" doc:"requests that were repetitions"`
	Answers  int64 `json:"answers" doc:"calls with a usable answer, also where it was cut off"`
	Failures int64 `json:"failures" doc:"calls without a usable answer, also after repetitions"`
	NotAsked int64 `json:"not_asked" doc:"calls that were not sent, because the service was down or the tokens of the day were spent"`

	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	// Estimated is the part of both that the service did not count.
	Estimated int64   `json:"tokens_estimated" doc:"the part of the tokens that the service did not count"`
	Cost      float64 `json:"cost,omitempty" doc:"of all tokens, in the currency of the prices"`

	Today Spent `json:"today"`
	// Cap is [Options].MaxTokensPerDay.
	Cap int64 `json:"max_tokens_per_day,omitempty" doc:"as configured"`
}

// Spent is how many tokens a day had. Who keeps it and gives it to the next client
// keeps the cap over a restart.
type Spent struct {
	Day    string `json:"day" doc:"of UTC" example:"2026-03-01"`
	Tokens int64  `json:"tokens"`
}

// meter counts what is asked and keeps the cap of the day. It is safe for
// concurrent use.
type meter struct {
	limit int64 // per day; 0 is none
	now   func() time.Time

	mu     sync.Mutex
	totals Totals
	today  Spent
	held   int64 // for requests that are under way
}

func newMeter(o *Options) *meter {
	return &meter{limit: o.MaxTokensPerDay, now: o.Now, today: Spent{o.Spent.Day, max(o.Spent.Tokens, 0)}}
}

// turn begins a new day where one has begun.
func (m *meter) turn() {
	if day := m.now().UTC().Format(time.DateOnly); day != m.today.Day {
		m.today = Spent{Day: day}
	}
}

// hold reserves tokens for a request, or fails with [ErrSpent]. What was held is
// let go by settle.
func (m *meter) hold(n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn()
	if m.limit > 0 && m.today.Tokens+m.held+n > m.limit {
		m.totals.NotAsked++
		return fmt.Errorf("%w: %d of %d are used or held, this request can need %d; it goes on at %s UTC, or raise max_tokens_per_day",
			ErrSpent, m.today.Tokens+m.held, m.limit, n, m.tomorrow())
	}
	m.held += n
	return nil
}

func (m *meter) tomorrow() string {
	return m.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1).Format("2006-01-02 15:04")
}

// sent notes how often a request was sent.
func (m *meter) sent(attempts int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Requests += int64(attempts)
	m.totals.Retries += int64(max(attempts-1, 0))
}

// result is what became of a call.
type result int

const (
	answered result = iota
	failed
	notAsked
	abandoned // by the caller
)

// settle notes what a call for which tokens were held came to.
func (m *meter) settle(held int64, as result, u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= held
	m.turn()
	m.today.Tokens += u.Total()
	m.totals.PromptTokens += int64(u.PromptTokens)
	m.totals.CompletionTokens += int64(u.CompletionTokens)
	if u.Estimated {
		m.totals.Estimated += u.Total()
	}
	switch as {
	case answered:
		m.totals.Answers++
	case failed:
		m.totals.Failures++
	case notAsked:
		m.totals.NotAsked++
	case abandoned:
	}
}

// get returns the totals at prices per million tokens.
func (m *meter) get(prompt, completion float64) Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn()
	t := m.totals
	t.Today, t.Cap = m.today, m.limit
	t.Cost = (prompt*float64(t.PromptTokens) + completion*float64(t.CompletionTokens)) / 1e6
	return t
}
