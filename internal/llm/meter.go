package llm

import (
	"fmt"
	"sync"
	"time"
)

// DayUsage is the token usage of one day. A caller that stores it and passes it to the next client
// keeps the daily limit across restarts.
type DayUsage struct {
	Day    string `json:"day"` // in UTC, such as 2026-03-01
	Tokens int64  `json:"tokens"`
}

// meter counts the usage and enforces the daily limit. It is safe for concurrent use.
type meter struct {
	limit int64 // per day; 0 means no limit
	now   func() time.Time

	mu       sync.Mutex
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
		return fmt.Errorf("%w: %d of %d are used or reserved, and this request may need %d; wait until %s UTC, or raise max_tokens_per_day",
			ErrDailyLimit, m.today.Tokens+m.reserved, m.limit, n, m.tomorrow())
	}
	m.reserved += n
	return nil
}

func (m *meter) tomorrow() string {
	return m.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1).Format("2006-01-02 15:04")
}

// settle replaces the reservation of a call by its usage.
func (m *meter) settle(reserved int64, u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved -= reserved
	m.startDay()
	m.today.Tokens += u.Total()
}

func (m *meter) usedToday() DayUsage {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.startDay()
	return m.today
}
