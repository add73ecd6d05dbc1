package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
)

// maxProblemBytes bounds the part of an unexpected answer that is read.
const maxProblemBytes = 1 << 20

// Client calls a [Server]. Its errors match the sentinels of package ragctx, like the engine's; an
// error about the request is a [*Problem] that names the faulty field. If the server cannot be
// reached, the error is [ragctx.ErrUnavailable]. Only the contexts have timeouts. A Client is safe
// for concurrent use.
type Client struct {
	base string
	http *http.Client
	when http.Header // preconditions, sent with each request
}

// NewClient returns a client for the server at baseURL, such as "http://127.0.0.1:7700". It follows
// no redirects and uses no proxies, because most servers run on this machine.
func NewClient(baseURL string) *Client { return NewClientWith(baseURL, ClientOptions{}) }

// ClientOptions configures a [Client]. The zero value works for a server without keys.
type ClientOptions struct {
	// Key is the API key to send.
	Key string
	// Certificate is the SHA-256, in hex, of the server's certificate. If set, only this
	// certificate is accepted, whatever its names and issuer.
	Certificate string
	// RootCAs verify the server's certificate otherwise; nil are the system's.
	RootCAs *x509.CertPool
}

// NewClientWith is [NewClient] with options.
func NewClientWith(baseURL string, o ClientOptions) *Client {
	transport := transportTo(o.Certificate)
	if o.RootCAs != nil && o.Certificate == "" {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs}
	}
	return newClient(strings.TrimRight(baseURL, "/"), keyed{transport, o.Key})
}

// dialTimeout is how long a server may take to accept a connection.
const dialTimeout = 5 * time.Second

// transportTo returns a transport to a server with a certificate; "" is any that the system trusts.
func transportTo(certificate string) *http.Transport {
	transport := &http.Transport{
		DialContext: httpclient.Dial(net.Dialer{Timeout: dialTimeout}), MaxIdleConnsPerHost: 16,
		DisableCompression: true, // on one machine compressing takes longer than sending
	}
	if certificate != "" {
		transport.TLSClientConfig = &tls.Config{
			MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, //nolint:gosec // VerifyConnection does it
			VerifyConnection: func(cs tls.ConnectionState) error { return verifyPin(cs, certificate) },
		}
	}
	return transport
}

// NewClientOver returns a client that sends each request by transport. The requests have paths below
// baseURL.
func NewClientOver(baseURL string, transport http.RoundTripper) *Client {
	return newClient(strings.TrimRight(baseURL, "/"), transport)
}

func newClient(base string, transport http.RoundTripper) *Client {
	return &Client{base: base, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Forward sends a request of another client, one of [NewClientOver] with baseURL "http://host", to this
// client's server.
func (c *Client) Forward(r *http.Request) (*http.Response, error) {
	to, err := url.Parse(c.base + r.URL.EscapedPath())
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	to.RawQuery = r.URL.RawQuery
	r.URL, r.Host = to, ""
	return c.http.Transport.RoundTrip(r)
}

func verifyPin(cs tls.ConnectionState, pin string) error {
	if sum := sha256.Sum256(cs.PeerCertificates[0].Raw); hex.EncodeToString(sum[:]) != pin {
		return fmt.Errorf("%w: the server shows another certificate than it announced", ragctx.ErrUnavailable)
	}
	return nil
}

// keyed sends a key with every request.
type keyed struct {
	*http.Transport

	key string
}

// RoundTrip implements [http.RoundTripper].
func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	if k.key != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+k.key)
	}
	return k.Transport.RoundTrip(r)
}

// Close closes the client's idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Healthz reports whether the server is up.
func (c *Client) Healthz(ctx context.Context) error {
	return c.do(ctx, http.MethodGet, "/healthz", nil, nil, nil)
}

// PutDocument stores a document.
func (c *Client) PutDocument(ctx context.Context, namespace string, d ragctx.Document, root string) (store.Put, error) {
	// JSON would replace invalid bytes by U+FFFD, and so change the text.
	if err := ragctx.ValidText("text", d.Text); err != nil {
		return store.Put{}, err
	}
	var put documentPut
	err := c.do(ctx, http.MethodPut, documentPath(d.ExternalID), in(namespace), DocumentRequest{
		Text: d.Text, Title: d.Title, Source: d.Source, MIME: d.MIME, Tags: d.Tags, Metadata: d.Metadata,
		Occurred: d.Occurred, Chunk: SizesOf(d.Chunk), Root: root,
	}, &put)
	return store.Put{Status: put.Status, Version: put.Version, Chunks: put.Chunks}, err
}

// DeleteDocument removes a document from every answer.
func (c *Client) DeleteDocument(ctx context.Context, namespace, id string) error {
	return c.do(ctx, http.MethodDelete, documentPath(id), in(namespace), nil, nil)
}

// ListDocuments is an [engine.ListDocuments].
func (c *Client) ListDocuments(ctx context.Context, namespace string, o store.ListOptions) ([]store.Document, error) {
	q := in(namespace)
	set(q, "prefix", o.Prefix)
	set(q, "root", o.Root)
	setPage(q, "/v1/documents", o.Limit, documentCursor{o.After})
	var page documentPage
	err := c.do(ctx, http.MethodGet, "/v1/documents", q, nil, &page)
	found := make([]store.Document, len(page.Documents))
	for i, d := range page.Documents {
		found[i] = d.Document
	}
	return found, err
}

// Duplicates returns groups of equal or nearly equal documents, and their total number.
func (c *Client) Duplicates(ctx context.Context, namespace, prefix string, limit int) (DuplicateList, error) {
	q := in(namespace)
	set(q, "prefix", prefix)
	q.Set("limit", strconv.Itoa(limit))
	var list DuplicateList
	err := c.do(ctx, http.MethodGet, "/v1/documents:duplicates", q, nil, &list)
	return list, err
}

// Document returns a document with its text and chunks. Version 0 is the current one.
func (c *Client) Document(ctx context.Context, namespace, id string, version int) (Document, error) {
	q := in(namespace)
	q.Set("chunks", "true")
	if version != 0 {
		q.Set("version", strconv.Itoa(version))
	}
	var d Document
	return d, c.do(ctx, http.MethodGet, documentPath(id), q, nil, &d)
}

// Context calls [engine.Engine.Context] on the server.
func (c *Client) Context(ctx context.Context, q ragctx.ContextQuery) (resolve.Answer, error) {
	var a resolve.Answer
	err := c.do(ctx, http.MethodPost, "/v1/context", nil, contextRequestOf(q), &a)
	return a, err
}

// Search calls [engine.Engine.Search] on the server.
func (c *Client) Search(ctx context.Context, q ragctx.ContextQuery) (engine.SearchResult, error) {
	var r engine.SearchResult
	err := c.do(ctx, http.MethodPost, "/v1/search", nil, contextRequestOf(q), &r)
	return r, err
}

// Explain calls [engine.Engine.Explain] on the server.
func (c *Client) Explain(ctx context.Context, q ragctx.ContextQuery) (engine.Explanation, error) {
	var x engine.Explanation
	err := c.do(ctx, http.MethodPost, "/v1/explain", nil, contextRequestOf(q), &x)
	return x, err
}

// CompleteTurn calls [engine.Engine.CompleteTurn] on the server.
func (c *Client) CompleteTurn(ctx context.Context, t ragctx.Turn) (engine.TurnResult, error) {
	var r engine.TurnResult
	err := c.do(ctx, http.MethodPost, "/v1/turns", nil, t, &r)
	return r, err
}

// Remember calls [engine.Memories.Put] on the server.
func (c *Client) Remember(ctx context.Context, m ragctx.Memory) (ragctx.Memory, store.Status, error) {
	var put memoryPut
	err := c.do(ctx, http.MethodPost, "/v1/memories", nil, memoryRequest{
		ID: m.ID, Namespace: m.Namespace, UserID: m.UserID, AgentID: m.AgentID, SessionID: m.SessionID,
		Type: string(m.Type), Content: m.Content, Importance: &m.Importance, Tags: m.Tags, Metadata: m.Metadata,
		Occurred: m.Occurred, Expires: m.Expires, Profile: m.Profile, Pinned: m.Pinned, Origin: string(m.Origin),
	}, &put)
	return put.Memory, put.Status, err
}

func in(namespace string) url.Values {
	q := make(url.Values)
	set(q, "namespace", namespace)
	return q
}

func set(q url.Values, key, value string) {
	if value != "" {
		q.Set(key, value)
	}
}

func documentPath(id string) string { return "/v1/documents/" + escaped(id) }

// escaped returns an id as one segment of a path. Proxies do not normalise it, and it does not end
// like a verb (see [verb]).
func escaped(id string) string {
	if id == "." || id == ".." {
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return strings.ReplaceAll(url.PathEscape(id), ":", "%3A")
}

// contextRequestOf returns q as a request. Zero limits become the server's defaults.
func contextRequestOf(q ragctx.ContextQuery) contextRequest {
	r := contextRequest{
		Query: q.Query, Depth: string(q.Depth), Namespace: q.Namespace, UserID: q.UserID, AgentID: q.AgentID,
		SessionID: q.SessionID, AsOf: q.AsOf, Now: q.Now, Tokenizer: q.Tokenizer, Format: q.Format, Preset: q.Preset,
		Queries: q.Queries, Messages: q.Messages, Exclude: q.Exclude, MinRelevance: q.MinRelevance,
		Diversity: q.Diversity, Explain: q.Explain, Exact: q.Exact,
		ProviderParams: q.Params, Blocks: q.Blocks, StableTokens: q.StableTokens, Citations: q.Citations,
		Spotlight: q.Spotlight, Highlight: q.Highlight, Shown: q.Shown,
	}
	if !q.Wants(ragctx.TypeMemory) || !q.Wants(ragctx.TypeResource) || !q.Wants(ragctx.TypeSkill) {
		for _, t := range q.ContextTypes { // with all types there is no filter, and the list may be a default
			r.ContextTypes = append(r.ContextTypes, string(t))
		}
	}
	if !q.Filter.IsZero() {
		f := FilterRequest(q.Filter)
		r.Filter = &f
	}
	if q.MaxResults != 0 {
		r.MaxResults = &q.MaxResults
	}
	if q.MaxTokens != 0 {
		r.MaxTokens = &q.MaxTokens
	}
	return r
}

// do sends a request and decodes the answer into out, unless that is nil.
func (c *Client) do(ctx context.Context, method, path string, q url.Values, body, out any) error {
	req, err := c.request(ctx, method, path, q, body)
	if err != nil {
		return err
	}
	return c.answer(req, out)
}

// stream sends a request, and returns the answer for the caller to read and close.
func (c *Client) stream(req *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(req.Context(), err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		defer resp.Body.Close()
		return nil, c.failure(resp)
	}
	return resp, nil
}

// Call sends a request to any path of the server, such as "/v1/status". A body needs its media type;
// without a body both are empty. The caller closes the answer's body. An answer that is a problem is
// returned as the error.
func (c *Client) Call(ctx context.Context, method, path string, q url.Values, body io.Reader, media string) (*http.Response, error) {
	req, err := c.request(ctx, method, path, q, nil)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Body, req.ContentLength = io.NopCloser(body), -1
		req.Header.Set("Content-Type", media)
	}
	return c.stream(req)
}

// download copies the answer from a path to w.
func (c *Client) download(ctx context.Context, path string, query url.Values, what string, w io.Writer) error {
	req, err := c.request(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return err
	}
	resp, err := c.stream(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return c.unreachable(ctx, fmt.Errorf("read %s: %w", what, err))
	}
	return nil
}

// upload sends JSON lines of unknown length.
func (c *Client) upload(ctx context.Context, path string, query url.Values, r io.Reader, out any) error {
	req, err := c.request(ctx, http.MethodPost, path, query, nil)
	if err != nil {
		return err
	}
	req.Body, req.ContentLength = io.NopCloser(r), -1
	req.Header.Set("Content-Type", linesType)
	return c.answer(req, out)
}

// answer sends a request and decodes the answer into out, unless that is nil.
func (c *Client) answer(req *http.Request, out any) error {
	ctx := req.Context()
	resp, err := c.stream(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return c.unreachable(ctx, fmt.Errorf("read answer: %w", err))
	}
	return nil
}

func (c *Client) request(ctx context.Context, method, path string, q url.Values, body any) (*http.Request, error) {
	target := c.base + path
	if len(q) > 0 {
		target += "?" + q.Encode()
	}
	var payload io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("%w: encode request: %w", ragctx.ErrInvalid, err)
		}
		if replaced(b) {
			return nil, fmt.Errorf("%w: the request has text that is not valid UTF-8; convert it before sending it", ragctx.ErrInvalid)
		}
		payload = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ragctx.ErrInvalid, err)
	}
	maps.Copy(req.Header, c.when)
	if body != nil {
		req.Header.Set("Content-Type", jsonType)
	}
	return req, nil
}

// replaced reports whether encoding/json replaced an invalid byte by U+FFFD: only then it writes
// that character as an escape.
func replaced(b []byte) bool {
	for {
		i := bytes.Index(b, []byte(`\ufffd`))
		if i < 0 {
			return false
		}
		backslashes := i - len(bytes.TrimRight(b[:i], `\`))
		if backslashes%2 == 0 {
			return true
		}
		b = b[i+1:]
	}
}

// unreachable returns the error of a request without an answer: the context's if it has ended, else
// [ragctx.ErrUnavailable].
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("call %s: %w", c.base, ctx.Err())
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // without the whole URL
	}
	return fmt.Errorf("%w: no answer from %s: %w", ragctx.ErrUnavailable, c.base, err)
}

// failure returns the problem in resp.
func (c *Client) failure(resp *http.Response) error {
	if err := causeOf(resp); err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxProblemBytes))
	p := &Problem{}
	known := slices.Contains([]string{problemType, jsonType}, resp.Header.Get("Content-Type")) // jsonType: see foreign
	if err != nil || !known || json.Unmarshal(b, p) != nil || p.Code == "" {
		return fmt.Errorf("%w: %s answered %s, which is not what a ragctx server says; check the address",
			ragctx.ErrUnavailable, c.base, resp.Status)
	}
	return p
}
