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

// Snapshotter publishes the state of a cluster as [TopicStateSnapshot] when it changes. It reads
// messages from the log; notifications only wake it. So each message is folded exactly once and in
// log order, even after a cut-off, a crash or a restart. It writes nothing for an idle cluster.
//
// Its methods are safe for concurrent use.
type Snapshotter struct {
	log    Log
	folder *Folder
	warn   *slog.Logger

	locks [stateLocks]sync.Mutex // one per hash of a cluster
	seed  maphash.Seed

	mu     sync.Mutex
	states map[scope]progress
	dirty  map[scope]struct{}

	wake   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
}

// progress records how far a cluster has been folded.
type progress struct {
	state State
	// source is the sequence of the state's source message.
	source Sequence
	// published is the hash of the state published last.
	published [sha256.Size]byte
}

// NewSnapshotter starts a snapshotter. Close stops it.
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

// closeTimeout bounds the publishing during Close.
const closeTimeout = 2 * time.Second

// Close publishes pending snapshots for at most closeTimeout and stops the snapshotter. The next
// [Snapshotter.Publish] or the cluster's next message publishes the remaining ones. The log must
// stay open until Close returns. It may be called more than once.
func (s *Snapshotter) Close() {
	s.cancel()
	<-s.done
}

// Notify notifies the snapshotter of appended messages. It does not block.
func (s *Snapshotter) Notify(messages []Message) {
	for _, m := range messages {
		if s.folder.Folds(m.Topic) {
			s.markDirty(scope{m.Namespace, m.Cluster})
		}
	}
}

// Forget drops the states in memory, which another process may have erased.
func (s *Snapshotter) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.states)
}

func (s *Snapshotter) markDirty(key scope) {
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
			s.publishDirty(last)
			return
		case <-s.wake:
			s.publishDirty(ctx)
		}
	}
}

// publishDirty publishes the states of the changed clusters. A cluster that ctx leaves no time for
// stays dirty.
func (s *Snapshotter) publishDirty(ctx context.Context) {
	for _, key := range s.takeDirty() {
		_, err := s.Publish(ctx, key.namespace, key.cluster)
		switch {
		case err == nil, errors.Is(err, ragctx.ErrClosed):
		case ctx.Err() != nil:
			s.markDirty(key)
		default:
			s.warn.WarnContext(ctx, "publishing the snapshot of a cluster failed; the next message or query retries it",
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

// State returns the state of a cluster after every message in the log. It writes nothing. A cluster
// without messages has the zero state.
func (s *Snapshotter) State(ctx context.Context, namespace, cluster string) (State, error) {
	p, err := s.withLock(ctx, scope{namespace, cluster}, s.catchUp)
	return p.state, err
}

// Publish returns the state as [Snapshotter.State] does, and first publishes it if it has changed.
func (s *Snapshotter) Publish(ctx context.Context, namespace, cluster string) (State, error) {
	p, err := s.withLock(ctx, scope{namespace, cluster}, s.publish)
	return p.state, err
}

// Suspend runs do while no snapshot of the cluster is published, and then drops the cached state.
// Erasures use it: no later snapshot repeats an erased message.
func (s *Snapshotter) Suspend(namespace, cluster string, do func() error) error {
	_, err := s.withLock(context.Background(), scope{namespace, cluster}, func(_ context.Context, key scope) (progress, error) {
		err := do()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.states, key)
		return progress{}, err
	})
	return err
}

// SuspendAll is [Snapshotter.Suspend] for all clusters of a namespace. Clusters of other namespaces wait
// as well.
func (s *Snapshotter) SuspendAll(namespace string, do func() error) error {
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

// withLock runs do with the exclusive lock of a cluster.
func (s *Snapshotter) withLock(ctx context.Context, key scope, do func(context.Context, scope) (progress, error)) (progress, error) {
	lock := &s.locks[maphash.Comparable(s.seed, key)%stateLocks]
	lock.Lock()
	defer lock.Unlock()
	return do(ctx, key)
}

func (s *Snapshotter) publish(ctx context.Context, key scope) (progress, error) {
	p, err := s.catchUp(ctx, key)
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
	meta, err := json.Marshal(snapshotMeta{s.folder.fingerprint, p.source})
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
	s.remember(key, p)
	return p, nil
}

// remember caches a cluster's progress. A full cache evicts an arbitrary cluster.
func (s *Snapshotter) remember(key scope, p progress) {
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

// catchUp returns the progress of a cluster after all its messages.
func (s *Snapshotter) catchUp(ctx context.Context, key scope) (progress, error) {
	s.mu.Lock()
	p, known := s.states[key]
	s.mu.Unlock()
	if !known {
		var err error
		if p, err = s.restore(ctx, key); err != nil {
			return progress{}, err
		}
	}
	p, err := s.advance(ctx, key, p)
	if err == nil {
		s.remember(key, p)
	}
	return p, err
}

// snapshotMeta is the metadata of a snapshot: the rules it was folded by and the sequence of its newest
// message.
type snapshotMeta struct {
	Fold   string   `json:"fold"`
	Source Sequence `json:"source"`
}

// restore returns the progress in the log's newest snapshot, or zero progress if this folder could
// not have made that snapshot.
func (s *Snapshotter) restore(ctx context.Context, key scope) (progress, error) {
	q := Query{Filter: Filter{Namespace: key.namespace, Cluster: key.cluster, Topics: []string{TopicStateSnapshot}, Sender: SnapshotSender}}
	m, ok, err := s.log.Find(ctx, q)
	if err != nil || !ok {
		return progress{}, err
	}
	var from snapshotMeta
	var state State
	if bad := errors.Join(json.Unmarshal(m.Metadata, &from), json.Unmarshal(m.Data, &state)); bad != nil {
		return progress{}, nil //nolint:nilerr // what others wrote is passed over
	}
	if from.Fold != s.folder.fingerprint || from.Source == 0 || from.Source >= m.Sequence || state.Version != StateVersion ||
		state.ClusterID != key.cluster {
		return progress{}, nil
	}
	again, err := state.MarshalJSON()
	if err != nil || !bytes.Equal(again, m.Data) {
		return progress{}, err
	}
	return progress{state: state, source: from.Source, published: sha256.Sum256(again)}, nil
}

// advance folds the messages after p. If the last message of p is missing from the log, it folds
// from the beginning: the cluster was erased, or the snapshot comes from another log.
func (s *Snapshotter) advance(ctx context.Context, key scope, p progress) (progress, error) {
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
			return s.advance(ctx, key, progress{})
		case known:
			p.state, p.source = s.folder.Apply(p.state, m), m.Sequence
		}
		known = true
	}
	if !known {
		return s.advance(ctx, key, progress{})
	}
	return p, nil
}
