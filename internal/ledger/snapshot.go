package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
)

// SnapshotSender is the sender of snapshots.
const SnapshotSender = "state-snapshotter"

// Bounds of a [Snapshotter].
const (
	maxStates  = 1024 // clusters whose state is kept in memory
	stateLocks = 64
)

// Snapshotter publishes the state of clusters, as [TopicStateSnapshot], when it
// changes. What a message says is taken in exactly once and in the order of the log,
// whatever was cut off, crashed or restarted in between: it reads the log, and is only
// told when to. It writes nothing for a cluster in which nothing happens.
//
// Its methods are safe for concurrent use.
type Snapshotter struct {
	log    Log
	folder *Folder
	warn   *slog.Logger

	locks [stateLocks]sync.Mutex // of clusters, by hash
	seed  maphash.Seed

	mu     sync.Mutex
	states map[scope]progress
	dirty  map[scope]struct{}

	wake   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
}

// progress is how far a cluster has been folded.
type progress struct {
	state State
	// source is the sequence of the state's source message.
	source Sequence
	// published is the hash of the state that was published last.
	published [sha256.Size]byte
}

// NewSnapshotter returns a snapshotter that is at work until it is closed.
func NewSnapshotter(log Log, folder *Folder, warn *slog.Logger) *Snapshotter {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Snapshotter{
		log: log, folder: folder, warn: warn, seed: maphash.MakeSeed(),
		states: make(map[scope]progress), dirty: make(map[scope]struct{}),
		wake: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{}),
	}
	go s.run(ctx)
	return s
}

// closeTimeout is how long Close publishes what is due.
const closeTimeout = 2 * time.Second

// Close publishes what is due, as far as it does not take long, and ends the work. What
// is left is published by the next [Snapshotter.Settle] or after the next message of the
// cluster. The log must be open until then. It may be called more than once.
func (s *Snapshotter) Close() {
	s.cancel()
	<-s.done
}

// Touch tells that messages were appended. It does not wait.
func (s *Snapshotter) Touch(messages []Message) {
	for _, m := range messages {
		if s.folder.Knows(m.Topic) {
			s.touch(scope{m.Namespace, m.Cluster})
		}
	}
}

func (s *Snapshotter) touch(key scope) {
	s.mu.Lock()
	s.dirty[key] = struct{}{}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Snapshotter) run(ctx context.Context) {
	defer close(s.done)
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
			defer cancel()
			s.settleDirty(last)
			return
		case <-s.wake:
			s.settleDirty(ctx)
		}
	}
}

// settleDirty publishes the states of the clusters that have news. Those that ctx leaves
// no time for still have.
func (s *Snapshotter) settleDirty(ctx context.Context) {
	for _, key := range s.takeDirty() {
		_, err := s.Settle(ctx, key.namespace, key.cluster)
		switch {
		case err == nil, errors.Is(err, ragctx.ErrClosed):
		case ctx.Err() != nil:
			s.touch(key)
		default:
			s.warn.WarnContext(ctx, "no snapshot of a cluster; the next message or question makes up for it",
				"namespace", key.namespace, "cluster", key.cluster, "error", err)
		}
	}
}

func (s *Snapshotter) takeDirty() (keys []scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.dirty {
		keys = append(keys, key)
	}
	clear(s.dirty)
	return keys
}

// State returns the state of a cluster after every message that is in the log. It
// writes nothing. The state of a cluster without messages is zero.
func (s *Snapshotter) State(ctx context.Context, namespace, cluster string) (State, error) {
	p, err := s.locked(ctx, scope{namespace, cluster}, s.caughtUp)
	return p.state, err
}

// Settle returns the state as [Snapshotter.State] does, and publishes it first where
// that has not been done.
func (s *Snapshotter) Settle(ctx context.Context, namespace, cluster string) (State, error) {
	p, err := s.locked(ctx, scope{namespace, cluster}, s.settled)
	return p.state, err
}

// Hold does something while no snapshot of the cluster is published: an erasure, after
// which nothing of what it removed may be said again.
func (s *Snapshotter) Hold(namespace, cluster string, do func() error) error {
	_, err := s.locked(context.Background(), scope{namespace, cluster}, func(_ context.Context, key scope) (progress, error) {
		err := do()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.states, key)
		return progress{}, err
	})
	return err
}

// HoldAll is [Snapshotter.Hold] for all clusters of a namespace, and holds up those of
// others as long.
func (s *Snapshotter) HoldAll(namespace string, do func() error) error {
	for i := range s.locks {
		s.locks[i].Lock()
		defer s.locks[i].Unlock()
	}
	err := do()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.states, func(key scope, _ progress) bool { return key.namespace == namespace })
	return err
}

// locked does something about a cluster that nobody else does at the same time.
func (s *Snapshotter) locked(ctx context.Context, key scope, do func(context.Context, scope) (progress, error)) (progress, error) {
	lock := &s.locks[maphash.Comparable(s.seed, key)%stateLocks]
	lock.Lock()
	defer lock.Unlock()
	return do(ctx, key)
}

func (s *Snapshotter) settled(ctx context.Context, key scope) (progress, error) {
	p, err := s.caughtUp(ctx, key)
	if err != nil || p.state.IsZero() {
		return p, err
	}
	data, err := p.state.MarshalJSON()
	if err != nil {
		return p, err
	}
	hash := sha256.Sum256(data)
	if hash == p.published {
		return p, nil
	}
	meta, err := json.Marshal(origin{s.folder.mark, p.source})
	if err != nil {
		return p, err
	}
	m := Message{
		Namespace: key.namespace, Cluster: key.cluster, Topic: TopicStateSnapshot, Sender: SnapshotSender, Receiver: Broadcast,
		Text: p.state.Summary(), Data: data, Metadata: meta,
	}
	if _, err := s.log.Append(ctx, []Message{m}); err != nil {
		return p, fmt.Errorf("publish snapshot: %w", err)
	}
	p.published = hash
	s.keep(key, p)
	return p, nil
}

// keep remembers a cluster's progress, in the place of any other where there are too many.
func (s *Snapshotter) keep(key scope, p progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.states[key]; !known && len(s.states) >= maxStates {
		for other := range s.states {
			delete(s.states, other)
			break
		}
	}
	s.states[key] = p
}

// caughtUp returns the progress of a cluster after all its messages.
func (s *Snapshotter) caughtUp(ctx context.Context, key scope) (progress, error) {
	s.mu.Lock()
	p, known := s.states[key]
	s.mu.Unlock()
	if !known {
		var err error
		if p, err = s.stored(ctx, key); err != nil {
			return progress{}, err
		}
	}
	p, err := s.follow(ctx, key, p)
	if err == nil {
		s.keep(key, p)
	}
	return p, err
}

// origin is the metadata of a snapshot: by which rules it was made, and of the messages
// up to which one.
type origin struct {
	Fold   string   `json:"fold"`
	Source Sequence `json:"source"`
}

// stored returns the progress that the newest snapshot in the log has, or none where
// there is no snapshot that this folder could have made.
func (s *Snapshotter) stored(ctx context.Context, key scope) (progress, error) {
	q := Query{Filter: Filter{Namespace: key.namespace, Cluster: key.cluster, Topics: []string{TopicStateSnapshot}, Sender: SnapshotSender}}
	m, ok, err := s.log.Find(ctx, q)
	if err != nil || !ok {
		return progress{}, err
	}
	var from origin
	var state State
	if bad := errors.Join(json.Unmarshal(m.Metadata, &from), json.Unmarshal(m.Data, &state)); bad != nil {
		return progress{}, nil //nolint:nilerr // what others wrote is passed over
	}
	if from.Fold != s.folder.mark || from.Source == 0 || from.Source >= m.Sequence || state.Version != StateVersion || state.ClusterID != key.cluster {
		return progress{}, nil
	}
	again, err := state.MarshalJSON()
	if err != nil || !bytes.Equal(again, m.Data) {
		return progress{}, err
	}
	return progress{state: state, source: from.Source, published: sha256.Sum256(again)}, nil
}

// follow folds what came after p. Where the log does not have the message any more
// that p ends with, all is folded from the beginning: the cluster was erased, or the
// snapshot is of another log.
func (s *Snapshotter) follow(ctx context.Context, key scope, p progress) (progress, error) {
	q := Query{Filter: Filter{Namespace: key.namespace, Cluster: key.cluster, Topics: s.folder.Topics()}}
	known := p.source == 0
	if !known {
		q.AfterSeq = p.source - 1
	}
	for m, err := range Pages(ctx, s.log, q) {
		switch {
		case err != nil:
			return p, fmt.Errorf("read for the snapshot: %w", err)
		case !known && (m.Sequence != p.source || m.ID != p.state.SourceMessageID):
			return s.follow(ctx, key, progress{})
		case known:
			p.state, p.source = s.folder.Apply(p.state, m), m.Sequence
		}
		known = true
	}
	if !known {
		return s.follow(ctx, key, progress{})
	}
	return p, nil
}
