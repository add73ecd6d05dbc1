package api

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/store"
)

func clusterAt(cluster, below string) string { return clustersPath + "/" + escaped(cluster) + below }

// AppendMessages calls [engine.Ledger.Append] on the server.
func (c *Client) AppendMessages(ctx context.Context, messages []ledger.Message) ([]ledger.Message, error) {
	if len(messages) == 0 {
		return []ledger.Message{}, nil
	}
	first := messages[0]
	r := messagesRequest{Namespace: first.Namespace}
	for i, m := range messages {
		if m.Namespace != first.Namespace || m.Cluster != first.Cluster {
			return nil, ragctx.Invalid(fmt.Sprintf("messages[%d].cluster", i), "is another one than that of the "+
				"first message; send a batch for each")
		}
		r.Messages = append(r.Messages, MessageBody{
			ID: m.ID, Topic: m.Topic, Sender: m.Sender, Receiver: m.Receiver, Text: m.Text, Data: m.Data,
			Metadata: m.Metadata, Timestamp: m.Timestamp,
		})
	}
	if len(messages) == 1 { // so that errors name its fields
		r.MessageBody, r.Messages = r.Messages[0], nil
	}
	var list messageList
	err := c.do(ctx, http.MethodPost, clusterAt(first.Cluster, "/messages"), nil, r, &list)
	return list.Messages, err
}

func filtering(f ledger.Filter) url.Values {
	q := in(f.Namespace)
	for _, t := range f.Topics {
		q.Add("topic", t)
	}
	set(q, "sender", f.Sender)
	set(q, "receiver", f.Receiver)
	return q
}

func ranging(m ledger.Query) url.Values {
	q := filtering(m.Filter)
	for name, ms := range map[string]int64{"since": m.Since, "until": m.Until, "after": m.After} {
		if ms != 0 {
			q.Set(name, time.UnixMilli(ms).UTC().Format(time.RFC3339Nano))
		}
	}
	for _, p := range []struct {
		name  string
		value int64
	}{
		{"after_sequence", int64(m.AfterSeq)},
		{"through_sequence", int64(m.ThroughSeq)}, //nolint:gosec // 63 bits
		{"limit", int64(m.Limit)},
	} {
		if p.value != 0 {
			q.Set(p.name, strconv.FormatInt(p.value, 10))
		}
	}
	if m.Newest {
		q.Set("order", "desc")
	}
	return q
}

// Messages calls [engine.Ledger.Messages] on the server, which bounds the number of messages. The bounds
// of the sequence lead to further messages; Offset is not supported.
func (c *Client) Messages(ctx context.Context, q ledger.Query) ([]ledger.Message, error) {
	if q.Offset != 0 {
		return nil, ragctx.Invalid("offset", "is not supported by the server; use a bound of the sequence")
	}
	var list messageList
	err := c.do(ctx, http.MethodGet, clusterAt(q.Cluster, "/messages"), ranging(q), nil, &list)
	return list.Messages, err
}

// LastMessage calls [engine.Ledger.Last] on the server.
func (c *Client) LastMessage(ctx context.Context, namespace, cluster string) (ledger.Sequence, error) {
	found, err := c.Messages(ctx, ledger.Query{Filter: ledger.Filter{Namespace: namespace, Cluster: cluster}, Limit: 1, Newest: true})
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0].Sequence, nil
}

// FollowMessages calls [engine.Ledger.Follow] on the server. A stream that
// breaks off is resumed where it was.
func (c *Client) FollowMessages(ctx context.Context, f ledger.Filter, after ledger.Sequence) iter.Seq2[ledger.Message, error] {
	return func(yield func(ledger.Message, error) bool) {
		err := resumed(ctx, func() (bool, error) {
			q := filtering(f)
			q.Set("after_sequence", after.String())
			return readStream(ctx, c, clusterAt(f.Cluster, "/stream"), q, func(m ledger.Message) bool {
				after = m.Sequence
				return yield(m, nil)
			})
		})
		if err != nil {
			yield(ledger.Message{}, err)
		}
	}
}

// ExportMessages calls [engine.Ledger.Export] on the server.
func (c *Client) ExportMessages(ctx context.Context, q ledger.Query, w io.Writer) error {
	q.Limit, q.Offset, q.Newest = 0, 0, false
	return c.download(ctx, clusterAt(q.Cluster, ":export"), ranging(q), "messages", w)
}

// ImportMessages calls [engine.Ledger.Import] on the server.
func (c *Client) ImportMessages(ctx context.Context, namespace, cluster string, r io.Reader) (ledger.Imported, error) {
	var done ledger.Imported
	err := c.upload(ctx, clusterAt(cluster, ":import"), in(namespace), r, &done)
	return done, err
}

// Clusters calls [engine.Ledger.Clusters] on the server.
func (c *Client) Clusters(ctx context.Context, namespace, after string, limit int) ([]store.ClusterInfo, error) {
	q := in(namespace)
	setPage(q, clustersPath, limit, clusterCursor{after})
	var list clusterList
	err := c.do(ctx, http.MethodGet, clustersPath, q, nil, &list)
	return list.Clusters, err
}

// Cluster calls [engine.Ledger.Cluster] on the server.
func (c *Client) Cluster(ctx context.Context, namespace, name string) (engine.Cluster, error) {
	var info engine.Cluster
	err := c.do(ctx, http.MethodGet, clusterAt(name, ""), in(namespace), nil, &info)
	return info, err
}

// EraseCluster calls [engine.Ledger.Erase] on the server.
func (c *Client) EraseCluster(ctx context.Context, namespace, name string) (store.Erased, error) {
	q := in(namespace)
	q.Set("erase", "true")
	var erased store.Erased
	err := c.do(ctx, http.MethodDelete, clusterAt(name, ""), q, nil, &erased)
	return erased, err
}
