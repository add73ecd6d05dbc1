package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/store"
)

// ClusterKey are the parameters that name a cluster. It is exported because huma ignores unexported
// embedded types.
type ClusterKey struct {
	Scoped
	Cluster string `path:"cluster" doc:"name of a cluster of agents, at most 256 bytes" example:"issue-17"`
}

func (k ClusterKey) filter() ledger.Filter {
	return ledger.Filter{Namespace: k.Namespace, Cluster: k.Cluster}
}

// MessageFilter are the parameters that select messages of a cluster. It is exported for huma, like
// ClusterKey.
type MessageFilter struct {
	ClusterKey
	Topics   []string `query:"topic,explode" doc:"only these topics"`
	Sender   string   `query:"sender"`
	Receiver string   `query:"receiver" doc:"receiver; messages without one are addressed to broadcast"`
}

func (f MessageFilter) filter() ledger.Filter {
	out := f.ClusterKey.filter()
	for _, t := range f.Topics {
		if t != "" {
			out.Topics = append(out.Topics, t)
		}
	}
	out.Sender, out.Receiver = f.Sender, f.Receiver
	return out
}

// MessageRange are the parameters that bound the messages of a cluster. It is exported for huma,
// like ClusterKey.
type MessageRange struct {
	MessageFilter
	Since      time.Time `query:"since" doc:"only messages at or after this time"`
	Until      time.Time `query:"until" doc:"only messages at or before this time"`
	After      time.Time `query:"after" doc:"only messages after this time"`
	AfterSeq   string    `query:"after_sequence" doc:"only messages with a greater sequence"`
	ThroughSeq string    `query:"through_sequence" doc:"only messages up to this sequence, inclusive"`
}

func (r MessageRange) query() (ledger.Query, error) {
	q := ledger.Query{Filter: r.filter()}
	var err error
	for _, bound := range [...]struct {
		field string
		time  time.Time
		to    *int64
	}{{"since", r.Since, &q.Since}, {"until", r.Until, &q.Until}, {"after", r.After, &q.After}} {
		if *bound.to, err = millisOf(bound.field, bound.time); err != nil {
			return q, err
		}
	}
	if q.AfterSeq, err = sequenceOf("after_sequence", r.AfterSeq); err == nil {
		q.ThroughSeq, err = sequenceOf("through_sequence", r.ThroughSeq)
	}
	return q, err
}

// millisOf returns a time in the ledger's milliseconds, a part of one rounded up; no time is 0.
func millisOf(field string, t time.Time) (int64, error) {
	ms := t.Add(time.Millisecond - 1).UnixMilli()
	switch {
	case t.IsZero():
		return 0, nil
	case ms <= 0:
		return 0, ragctx.Invalid(field, "is before 1970; messages are later")
	}
	return ms, nil
}

// sequenceOf parses a sequence parameter; "" is 0.
func sequenceOf(field, text string) (ledger.Sequence, error) {
	var n ledger.Sequence
	if text == "" {
		return 0, nil
	}
	err := n.UnmarshalText([]byte(text))
	if f, ok := errors.AsType[*ragctx.FieldError](err); ok {
		f.Field = field
	}
	return n, err
}

// MessageBody is a message to append.
type MessageBody struct {
	ID        string          `json:"id,omitempty"`
	Topic     string          `json:"topic,omitempty" doc:"required, at most 256 bytes" example:"PLAN_READY"`
	Sender    string          `json:"sender,omitempty" doc:"required, at most 256 bytes" example:"planner"`
	Receiver  string          `json:"receiver,omitempty" doc:"default is broadcast"`
	Text      string          `json:"text,omitempty" doc:"text, data and metadata together are at most 1 MiB"`
	Data      json.RawMessage `json:"data,omitempty" doc:"any JSON"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	Timestamp int64           `json:"timestamp,omitempty" minimum:"0"`
}

// messagesRequest is a message or a batch to append.
type messagesRequest struct {
	Namespace string `json:"namespace,omitempty" maxLength:"512" doc:"default is \"default\""`
	MessageBody
	Messages []MessageBody `json:"messages,omitempty" maxItems:"1000"`
}

// messages returns the messages that a request appends to a cluster.
func (r messagesRequest) messages(cluster string) ([]ledger.Message, error) {
	bodies := []MessageBody{r.MessageBody}
	if r.Messages != nil {
		if !reflect.ValueOf(r.MessageBody).IsZero() {
			return nil, ragctx.Invalid("messages", "cannot be combined with the fields of a message; send one "+
				"message or a batch")
		}
		bodies = r.Messages
	}
	out := make([]ledger.Message, len(bodies))
	for i, b := range bodies {
		out[i] = ledger.Message{
			ID: b.ID, Timestamp: b.Timestamp, Namespace: r.Namespace, Cluster: cluster, Topic: b.Topic, Sender: b.Sender,
			Receiver: b.Receiver, Text: b.Text, Data: b.Data, Metadata: b.Metadata,
		}
	}
	return out, nil
}

// messageList is a page of messages of a cluster.
type messageList struct {
	Messages   []ledger.Message `json:"messages" nullable:"false"`
	NextCursor string           `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

// messageCursor is the position after a message, in either order.
type messageCursor struct {
	Seq ledger.Sequence `json:"seq"`
}

// apply moves the bounds of a query behind the cursor. It returns false if nothing can follow.
func (c messageCursor) apply(q *ledger.Query) bool {
	switch {
	case c.Seq == 0:
	case !q.Newest:
		q.AfterSeq = max(q.AfterSeq, c.Seq)
	case c.Seq == 1:
		return false
	case q.ThroughSeq == 0 || q.ThroughSeq >= c.Seq:
		q.ThroughSeq = c.Seq - 1
	}
	return true
}

// clusterList is a page of clusters.
type clusterList struct {
	Clusters   []store.ClusterInfo `json:"clusters" nullable:"false" doc:"in order of their names"`
	NextCursor string              `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

type clusterCursor struct {
	After string `json:"after"`
}

type (
	messagesInput struct {
		Cluster string `path:"cluster" doc:"name of a cluster of agents, at most 256 bytes" example:"issue-17"`
		Body    messagesRequest
	}
	messageQuery struct {
		MessageRange
		Page
		Order string `query:"order" enum:"asc,desc" default:"asc" doc:"desc is newest first"`
	}
	clusterListInput struct {
		Scoped
		Page
	}
	clusterDelete struct {
		ClusterKey
		Erasable
	}
	messagesOutput    struct{ Body messageList }
	clusterOutput     struct{ Body engine.Cluster }
	clusterListOutput struct{ Body clusterList }
)

// maxPageBytes limits the text in a page of messages; the last message may exceed it.
const maxPageBytes = 8 << 20

const (
	clustersPath = "/v1/clusters"
	clusterPath  = clustersPath + "/{cluster}"
)

// clusterVerb returns the registered path of a route below a cluster.
func clusterVerb(name string) string { return verbPathOf(clustersPath, name, "cluster") }

func (s *Server) ledgerRoutes() {
	op := func(id, method, path, summary, about string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{teamsGroup}, Summary: summary,
			Description: about,
		}
	}
	appending := op("append-messages", http.MethodPost, clusterVerb("messages"), "Append messages",
		"Appends one message, or a batch atomically. The messages are durable when the server answers. Time and "+
			"sequence increase with every message of a cluster.")
	appending.DefaultStatus = http.StatusCreated
	register(s, appending, s.appendMessages)
	register(s, op("query-messages", http.MethodGet, clusterVerb("messages"), "Query messages",
		"Returns messages in the order of appending. A cluster without messages is empty, not 404."), s.queryMessages)
	register(s, op("list-clusters", http.MethodGet, clustersPath, "List clusters", "Lists the clusters that have "+
		"or had messages."), s.listClusters)
	register(s, op("get-cluster", http.MethodGet, clusterPath, "Get a cluster", "Returns the number of messages "+
		"and the usage and cost of the models."), s.getCluster)
	register(s, op("erase-cluster", http.MethodDelete, clusterPath, "Erase a cluster",
		"Permanently removes all messages of a cluster. Requires erase=true; there is no other way to delete a "+
			"cluster."), s.eraseCluster)
	s.ledgerTransferRoutes()
	s.ledgerStreamRoutes()
}

func (s *Server) appendMessages(ctx context.Context, in *messagesInput) (*messagesOutput, error) {
	messages, err := in.Body.messages(in.Cluster)
	if err != nil {
		return nil, err
	}
	stored, err := s.engine.Ledger().AppendOnce(ctx, seedOf(ctx), messages)
	return &messagesOutput{messageList{Messages: stored}}, err
}

func (s *Server) queryMessages(ctx context.Context, in *messageQuery) (*messagesOutput, error) {
	q, err := in.query()
	if err != nil {
		return nil, err
	}
	c, err := decodeCursor[messageCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	q.Limit, q.Newest, q.MaxBytes = in.Limit, in.Order == "desc", maxPageBytes
	if !c.apply(&q) {
		return &messagesOutput{messageList{Messages: []ledger.Message{}}}, nil
	}
	found, err := s.engine.Ledger().Messages(ctx, q)
	list, size := messageList{Messages: found}, 0
	for _, m := range found {
		size += m.Size()
	}
	if err != nil || !q.Full(len(found), size) {
		return &messagesOutput{list}, err
	}
	last := messageCursor{found[len(found)-1].Sequence}
	q.Limit = 1
	if !last.apply(&q) {
		return &messagesOutput{list}, nil
	}
	more, err := s.engine.Ledger().Messages(ctx, q)
	if len(more) > 0 {
		list.NextCursor = encodeCursor(in.list, last)
	}
	return &messagesOutput{list}, err
}

func (s *Server) listClusters(ctx context.Context, in *clusterListInput) (*clusterListOutput, error) {
	c, err := decodeCursor[clusterCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.Ledger().Clusters(ctx, in.Namespace, c.After, in.Limit+1)
	found, next := pageOf(in.Page, found, func(c store.ClusterInfo) clusterCursor { return clusterCursor{c.Cluster} })
	return &clusterListOutput{clusterList{found, next}}, err
}

func (s *Server) getCluster(ctx context.Context, in *ClusterKey) (*clusterOutput, error) {
	c, err := s.engine.Ledger().Cluster(ctx, in.Namespace, in.Cluster)
	return &clusterOutput{c}, err
}

func (s *Server) eraseCluster(ctx context.Context, in *clusterDelete) (*erasedOutput, error) {
	if err := in.confirmed(); err != nil {
		return nil, err
	}
	erased, err := s.engine.Ledger().Erase(ctx, in.Namespace, in.Cluster)
	return &erasedOutput{erased}, err
}
