package imports

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// qdrantKey is the environment variable with the key of a server of Qdrant.
const qdrantKey = "QDRANT_API_KEY"

// qdrant reads the payloads of a server, or of the folder of the local mode of Qdrant's Python client.
func qdrant(ctx context.Context, source string, emit func(Item) error) error {
	if strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://") {
		return qdrantServer(ctx, source, emit)
	}
	files, err := filepath.Glob(filepath.Join(source, "collection", "*", "storage.sqlite"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no collection of the local mode; a server is given as its URL", source)
	}
	for _, f := range files {
		if err == nil {
			err = qdrantFile(ctx, f, emit)
		}
	}
	return err
}

func qdrantFile(ctx context.Context, name string, emit func(Item) error) error {
	db, err := openSQLite(name)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT point FROM points ORDER BY id")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer rows.Close()
	collection := filepath.Base(filepath.Dir(name))
	for n := 1; rows.Next(); n++ {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		id, payload, err := localPoint(raw)
		if err != nil {
			if err := emit(Item{Name: fmt.Sprintf("%s: point %d", collection, n), Err: err}); err != nil {
				return err
			}
			continue
		}
		if err := emitPoint(collection, id, payload, emit); err != nil {
			return err
		}
	}
	return rows.Err()
}

// localPoint reads a point of the local mode.
func localPoint(raw []byte) (id string, payload map[string]any, err error) {
	if len(raw) > maxElement {
		return "", nil, ragctx.TooLarge("point", "is longer than %d MiB", maxElement>>20)
	}
	v, err := unpickle(raw)
	if err != nil {
		return "", nil, err
	}
	point, _ := v.(*object)
	if point == nil {
		return "", nil, errPickle
	}
	state, _ := point.state.(map[string]any)
	fields, _ := state["__dict__"].(map[string]any)
	delete(fields, "vector")
	id, ok := keyOf(fields["id"])
	if !ok {
		return "", nil, ragctx.Invalid("id", "is missing")
	}
	left := maxValues
	b, err := json.Marshal(plain(fields["payload"], 0, &left))
	if err == nil && left < 0 {
		err = ragctx.TooLarge("payload", "has more than %d values", maxValues)
	}
	if err == nil {
		err = json.Unmarshal(b, (*ragctx.Metadata)(&payload))
	}
	if err != nil {
		return "", nil, ragctx.Invalid("payload", "cannot be read: %v", err)
	}
	return id, payload, nil
}

func emitPoint(collection, id string, payload map[string]any, emit func(Item) error) error {
	name := collection + "/" + id
	d := record("qdrant/"+name, "", payload)
	if d == nil {
		return emit(Item{Name: name, LeftOut: "points whose payload has no text"})
	}
	return emit(Item{Name: name, Document: d})
}

// Limits of a request to a server.
const (
	qdrantPage    = 256 // points
	qdrantTimeout = time.Minute
)

// qdrantServer reads all collections of a server by its REST API.
func qdrantServer(ctx context.Context, source string, emit func(Item) error) error {
	key := os.Getenv(qdrantKey)
	base, err := httpclient.ParseEndpoint(source, key)
	if err != nil {
		return err
	}
	transport := &http.Transport{DialContext: httpclient.Dial(net.Dialer{})}
	defer transport.CloseIdleConnections()
	c := http.Client{
		Transport: transport, Timeout: qdrantTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // it would get the key
	}
	call := func(method, path string, body, out any) error {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, method, base.JoinPath(path).String(), bytes.NewReader(b))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		if key != "" {
			r.Header.Set("Api-Key", key)
		}
		resp, err := c.Do(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answered %s; a key is read from %s", base.Host, resp.Status, qdrantKey)
		}
		if err := json.NewDecoder(io.LimitReader(resp.Body, maxElement)).Decode(out); err != nil {
			return fmt.Errorf("%s: the answer cannot be read: %w", base.Host, err)
		}
		return nil
	}
	var all struct {
		Result struct {
			Collections []struct {
				Name string `json:"name"`
			} `json:"collections"`
		} `json:"result"`
	}
	if err := call(http.MethodGet, "collections", nil, &all); err != nil {
		return err
	}
	for _, col := range all.Result.Collections {
		var offset json.RawMessage
		for {
			var page struct {
				Result struct {
					Points []struct {
						ID      json.RawMessage `json:"id"`
						Payload ragctx.Metadata `json:"payload"`
					} `json:"points"`
					Next json.RawMessage `json:"next_page_offset"`
				} `json:"result"`
			}
			ask := map[string]any{"limit": qdrantPage, "with_payload": true, "with_vector": false}
			if offset != nil {
				ask["offset"] = offset
			}
			if err := call(http.MethodPost, "collections/"+url.PathEscape(col.Name)+"/points/scroll", ask, &page); err != nil {
				return err
			}
			for _, p := range page.Result.Points {
				if err := emitPoint(col.Name, strings.Trim(string(p.ID), `"`), p.Payload, emit); err != nil {
					return err
				}
			}
			next := page.Result.Next
			if len(next) == 0 || string(next) == "null" || len(page.Result.Points) == 0 {
				break
			}
			if bytes.Equal(next, offset) {
				return fmt.Errorf("%s answers with the same page of %s again", base.Host, col.Name)
			}
			offset = next
		}
	}
	return nil
}
