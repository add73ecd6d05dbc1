package web

import (
	"strconv"
	"testing"
	"time"
)

// TestSessionsOfOneKey: a key that signs in often ends only sessions of its own.
func TestSessionsOfOneKey(t *testing.T) {
	n := 0
	s := &sessions{now: time.Now, token: func() string { n++; return strconv.Itoa(n) }, all: map[string]*session{}}
	admin := s.start("admin")
	first := s.start("reader")
	for range 2 * maxSessions {
		s.start("reader")
	}
	if s.key(admin) == "" || s.key(first) != "" || len(s.all) != sessionsPerKey+1 {
		t.Errorf("admin %q, first %q, %d sessions", s.key(admin), s.key(first), len(s.all))
	}
}
