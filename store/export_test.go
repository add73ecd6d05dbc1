package store

import "context"

// Freeze runs fn while nothing writes to the files.
func (s *Store) Freeze(_ context.Context, fn func() error) (err error) {
	s.log.quiet.Lock()
	defer s.log.quiet.Unlock()
	s.write.between(func() { err = fn() })
	return err
}
