package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/ragctx/ragctx"
)

// resumed calls read again whenever its stream breaks off, until ctx or the stream's reader ends
// it; only the latter is no error. read reports whether the stream had begun.
func resumed(ctx context.Context, read func() (bool, error)) error {
	for began := false; ; {
		open, err := read()
		began = began || open
		if errors.Is(err, errNotRead) {
			return nil
		}
		if err != nil && !(began && errors.Is(err, ragctx.ErrUnavailable)) || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		select {
		case <-time.After(reconnectIn):
		case <-ctx.Done():
		}
	}
}

// readStream reads one stream of server-sent events until it ends, which is no error, or tell
// returns false.
func readStream[T any](ctx context.Context, c *Client, path string, q url.Values, tell func(T) bool) (open bool, err error) {
	req, err := c.request(ctx, http.MethodGet, path, q, nil)
	if err != nil {
		return false, err
	}
	resp, err := c.stream(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	for lines := bufio.NewReader(resp.Body); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return true, nil // the stream has ended
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var what T
		if err := json.Unmarshal(data, &what); err != nil {
			return true, fmt.Errorf("read event: %w", err)
		}
		if !tell(what) {
			return true, errNotRead
		}
	}
}
