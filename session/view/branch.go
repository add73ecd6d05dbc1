package view

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx/session"
)

// Branch returns the messages from the root of a session to its leaf, or to the given message. The
// result is a snapshot and must not be modified.
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

// BranchBefore returns the messages before a message of a session. It first searches the branch of
// the leaf, which is usually cached.
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
