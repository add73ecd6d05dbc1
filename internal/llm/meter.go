package llm

import (
	"fmt"
	"sync"
	"time"
)

// Totals is the usage of a client.
type Totals struct {
	Service string `json:"service" doc:"the model and the host of the service" example:"gpt-5-mini at api.openai.com"`
	// State is the state of the circuit breaker: closed while requests are sent, open while they
	// are paused after failures, half-open while one request probes the service.
	State     string     `json:"state" enum:"closed,open,half-open"`
	AsksAgain *time.Time `json:"asks_again,omitempty" doc:"the time until which no requests are sent"`

	Requests int64 `json:"requests" doc:"requests sent to the service, including retries"`
	Retries  int64 `json:"retries" doc:"requests that were retries"`
	Answers  int64 `json:"answers" doc:"calls with a usable answer, including truncated ones"`
	Failures int64 `json:"failures" doc:"calls without a usable answer after all retries"`
	NotAsked int64 `json:"not_asked" doc:"calls that were not sent, because the service was down or the daily token limit was used up"`

	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	// Estimated is the part of both counts that the service did not report.
	Estimated int64   `json:"tokens_estimated" doc:"the part of the tokens that the service did not report"`
	Cost      float64 `json:"cost,omitempty" doc:"cost of all tokens, in the currency of the prices"`

	Today DayUsage `json:"today"`
	// Cap is [Options].MaxTokensPerDay.
	Cap int64 `json:"max_tokens_per_day,omitempty" doc:"as configured"`
}

// DayUsage is the token usage of one day. A caller that stores it and passes it to the next client
// keeps the daily limit across restarts.
type DayUsage struct {
	Day    string `json:"day" doc:"the UTC day" example:"2026-03-01"`
	Tokens int64  `json:"tokens"`
}

// meter counts the usage and enforces the daily limit. It is safe for concurrent use.
type meter struct {
	limit int64 // per day; 0 means no limit
	now   func() time.Time

	mu       sync.Mutex
	totals   Totals
	today    DayUsage
	reserved int64 // reserved for requests in flight
}

func newMeter(o *Options) *meter {
	return &meter{limit: o.MaxTokensPerDay, now: o.Now, today: DayUsage{o.UsedToday.Day, max(o.UsedToday.Tokens, 0)}}
}

// startDay resets the daily usage if a new day has begun.
func (m *meter) startDay() {
	if day := m.now().UTC().Format(time.DateOnly); day != m.today.Day {
		m.today = DayUsage{Day: day}
	}
}

// reserve reserves tokens for a request, or returns [ErrDailyLimit]. settle releases the reservation.
func (m *meter) reserve(n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.startDay()
	if m.limit > 0 && m.today.Tokens+m.reserved+n > m.limit {
		m.totals.NotAsked++
		return fmt.Errorf("%w: %d of %d are used or reserved, and this request may need %d; wait until %s UTC, or raise max_tokens_per_day",
			ErrDailyLimit, m.today.Tokens+m.reserved, m.limit, n, m.tomorrow())
	}
	m.reserved += n
	return nil
}

func (m *meter) tomorrow() string {
	return m.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1).Format("2006-01-02 15:04")
}

// countAttempts counts the attempts of a request.
func (m *meter) countAttempts(attempts int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.totals.Requests += int64(attempts)
	m.totals.Retries += int64(max(attempts-1, 0))
}

// result is the outcome of a call.
type result int

const (
	answered result = iota
	failed
	notAsked
	abandoned // by the caller
)

// settle releases the reservation of a call and records its outcome.
func (m *meter) settle(reserved int64, r result, u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved -= reserved
	m.startDay()
	m.today.Tokens += u.Total()
	m.totals.PromptTokens += int64(u.PromptTokens)
	m.totals.CompletionTokens += int64(u.CompletionTokens)
	if u.Estimated {
		m.totals.Estimated += u.Total()
	}
	switch r {
	case answered:
		m.totals.Answers++
	case failed:
		m.totals.Failures++
	case notAsked:
		m.totals.NotAsked++
	case abandoned:
	}
}

// snapshot returns the totals. The prices are per million tokens.
func (m *meter) snapshot(prompt, completion float64) Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.startDay()
	t := m.totals
	t.Today, t.Cap = m.today, m.limit
	t.Cost = (prompt*float64(t.PromptTokens) + completion*float64(t.CompletionTokens)) / 1e6
	return t
}
