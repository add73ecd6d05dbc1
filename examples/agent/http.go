package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
)

const (
	attempts       = 5
	maxPause       = 30 * time.Second
	maxAnswerBytes = 64 << 20
)

// passing are the answers after which the same may go well: 529 is Anthropic's for being
// overloaded.
var passing = []int{
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
	http.StatusServiceUnavailable, http.StatusGatewayTimeout, 529,
}

// Refused is an answer that is none of those hoped for.
type Refused struct {
	URL    string
	Status int
	Body   string
	after  time.Duration
}

func (r *Refused) Error() string {
	return fmt.Sprintf("%s: %d %s", r.URL, r.Status, r.Body[:min(len(r.Body), 1000)])
}

// Caller posts JSON, again where that may help.
type Caller struct {
	Client *http.Client
	Pause  time.Duration // before the first repetition, longer before others; 0 is a second
}

// post sends JSON and reads JSON. Who is sent something twice must know it by its header.
func (c Caller) post(ctx context.Context, url string, header http.Header, body, answer any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	pause := cmp.Or(c.Pause, time.Second)
	for n := 1; ; n++ {
		said, err := c.once(ctx, url, header, b)
		if err == nil {
			return json.Unmarshal(said, answer)
		}
		var r *Refused
		refused := errors.As(err, &r)
		if n == attempts || refused && !slices.Contains(passing, r.Status) {
			return err
		}
		wait := pause
		if refused {
			wait = cmp.Or(r.after, pause)
		}
		select {
		case <-time.After(min(wait, maxPause)):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause *= 2
	}
}

func (c Caller) once(ctx context.Context, url string, header http.Header, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header.Clone()
	r.Header.Set("Content-Type", "application/json")
	res, err := c.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes))
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After")) // none is 0
		return nil, &Refused{url, res.StatusCode, string(b), time.Duration(seconds) * time.Second}
	}
	return b, nil
}
