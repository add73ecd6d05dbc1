package view

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx/session"
)

// Branch returns the messages from the first one of a session to its leaf, or to the
// message named. They stay as they are when the session changes, and nobody may change
// them.
func (s *Service) Branch(ctx context.Context, k session.Key, leaf string) ([]session.Entry, error) {
	k, err := s.opts.Admit(ctx, k)
	if err != nil {
		return nil, err
	}
	l, err := s.load(ctx, k, leaf)
	if err != nil {
		return nil, err
	}
	return slices.Clip(l.entries), nil
}

// BranchBefore returns the messages that come before one of a session. Mostly that is on
// the branch of the leaf, which is in memory.
func (s *Service) BranchBefore(ctx context.Context, k session.Key, id string) ([]session.Entry, error) {
	branch, err := s.Branch(ctx, k, "")
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(branch, func(e session.Entry) bool { return e.Message.ID == id })
	if at < 0 {
		if branch, err = s.Branch(ctx, k, id); err != nil {
			return nil, err
		}
		at = max(len(branch)-1, 0)
	}
	return slices.Clip(branch[:at]), nil
}
