package mcp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx"
)

// sessions counts HTTP sessions by owner.
type sessions struct {
	mu    sync.Mutex
	owner map[mcp.Session]string
}

// admit allows a new session below the limits.
func (s *Server) admit(ctx context.Context, req mcp.Request) error {
	if extra := req.GetExtra(); extra == nil || extra.TokenInfo == nil {
		return nil // stdio has a single session
	}
	live := make(map[mcp.Session]bool)
	for session := range s.live() {
		live[session] = true
	}
	t, caller := &s.sessions, owner(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.owner, func(session mcp.Session, _ string) bool { return !live[session] })
	own := 0
	for _, o := range t.owner {
		if o == caller {
			own++
		}
	}
	if len(t.owner) >= s.opts.MaxSessions || own >= s.opts.MaxSessionsPerKey {
		return fmt.Errorf("%w: there are %d sessions, %d of this caller; the limits are %d and %d: close unused "+
			"sessions, or try again later",
			ragctx.ErrUnavailable, len(t.owner), own, s.opts.MaxSessions, s.opts.MaxSessionsPerKey)
	}
	if t.owner == nil {
		t.owner = make(map[mcp.Session]string)
	}
	t.owner[req.GetSession()] = caller
	return nil
}

// live yields the open sessions.
func (s *Server) live() iter.Seq[*mcp.ServerSession] {
	return func(yield func(*mcp.ServerSession) bool) {
		for _, srv := range []*mcp.Server{s.reading, s.writing} {
			for session := range srv.Sessions() {
				if !yield(session) {
					return
				}
			}
		}
	}
}

// Close ends all sessions after their calls. The handler must not be used afterwards.
func (s *Server) Close() error {
	var errs []error
	for session := range s.live() {
		errs = append(errs, session.Close())
	}
	return errors.Join(errs...)
}
