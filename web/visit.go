package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/web/internal/html"
)

// maxFormBytes bounds a form. Files are not forms; they are streamed.
const maxFormBytes = 1 << 20

// visit is one request of a visitor.
type visit struct {
	*Console

	w      http.ResponseWriter
	r      *http.Request
	client *api.Client // calls REST with the visitor's key
	page   string      // path of the page that the request belongs to; "" is none
	cookie string
	signed bool   // the visitor signed in with a key
	status int    // of the answer
	title  string // of the page; "" is its name in the navigation

	// On whole pages: the namespaces that the visitor may choose from, and the role of the key.
	namespaces []string
	role       string
}

// view answers a visit with the content of a page or with a fragment of it. A nil part means that the view
// has written the answer itself.
type view func(*visit) (html.Part, error)

// handle registers a view for a pattern of [http.ServeMux].
func (c *Console) handle(pattern, page string, show view) {
	c.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Console: c, w: w, r: r, page: page, cookie: cookieOf(r), status: http.StatusOK}
		key := c.sessions.key(v.cookie)
		v.client, v.signed = c.client(key), key != ""
		if v.cookie == "" {
			v.cookie = c.sessions.token()
			giveCookie(w, r, v.cookie)
		}
		content, err := v.checked(show)
		if err == nil && content == nil {
			return
		}
		v.answer(content, err)
	})
}

var errNoToken = fmt.Errorf("%w: the page is out of date; reload it and try again", ragctx.ErrDenied)

// maxNamespaces is how many namespaces a visitor can choose from; others are typed.
const maxNamespaces = 200

// checked calls a view, unless a request that may change something lacks the token. A whole page finds out
// first whether the visitor has to sign in.
func (v *visit) checked(show view) (html.Part, error) {
	if v.r.Method != http.MethodGet && v.r.Method != http.MethodHead {
		if v.r.URL.Path != uploadPath { // REST limits that body
			v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxFormBytes)
		}
		if !sentByForm(v.r, v.cookie) {
			return nil, errNoToken
		}
	}
	if v.page != "" && !v.partial() {
		found, err := v.rights()
		if errors.Is(err, ragctx.ErrUnauthenticated) {
			return nil, err
		}
		v.namespaces, v.role = found.Namespaces, found.Role
	}
	return show(v)
}

// rights are the namespaces and the role of a key.
type rights struct {
	Namespaces []string
	Role       string
}

func (v *visit) rights() (rights, error) {
	return get[rights](v, "/v1/namespaces", url.Values{"limit": {strconv.Itoa(maxNamespaces)}})
}

// mayWrite reports whether the visitor's key may store and delete. A fragment of a page asks REST.
func (v *visit) mayWrite() bool {
	if v.role == "" {
		if found, err := v.rights(); err == nil {
			v.role = found.Role
		}
	}
	return v.role == "write" || v.role == "admin"
}

// answer writes the content of a page, or the error in its place.
func (v *visit) answer(content html.Part, err error) {
	if errors.Is(err, ragctx.ErrUnauthenticated) {
		v.toSignIn()
		return
	}
	if err != nil {
		content = v.problem(err)
	}
	if !v.partial() {
		content = v.layout(content)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Add("Vary", "HX-Request")
	v.w.WriteHeader(v.status)
	if err := html.WriteTo(v.w, content); err != nil {
		v.log.DebugContext(v.r.Context(), "the console's visitor is gone", "error", err)
	}
}

// partial reports whether htmx replaces a part of the page by the answer.
func (v *visit) partial() bool {
	return v.r.Header.Get("HX-Request") == "true" && v.r.Header.Get("HX-History-Restore-Request") != "true"
}

// goTo leads the visitor to another page after a form. It returns no content.
func (v *visit) goTo(address string) (html.Part, error) {
	http.Redirect(v.w, v.r, address, http.StatusSeeOther)
	return nil, nil
}

// toSignIn leads the visitor to the sign-in page and from there back.
func (v *visit) toSignIn() {
	back := v.r.URL.RequestURI()
	if v.partial() || v.r.Method != http.MethodGet {
		back = v.page
		if u, err := url.Parse(v.r.Header.Get("HX-Current-URL")); err == nil && strings.HasPrefix(u.Path, root+"/") {
			back = u.RequestURI()
		}
	}
	target := root + "/sign-in?" + url.Values{"next": {back}}.Encode()
	if strings.HasPrefix(v.cookie, signedPrefix) {
		target += "&ended=true"
	}
	if v.partial() {
		v.w.Header().Set("HX-Redirect", target)
		v.w.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(v.w, v.r, target, http.StatusSeeOther)
}

// param returns a value of the address or of the form.
func (v *visit) param(name string) string { return v.r.FormValue(name) }

// namespace returns the namespace that the page shows; "" is that of the visitor's key.
func (v *visit) namespace() string { return v.r.URL.Query().Get("namespace") }

// link returns an address below the console in the namespace of the page. The arguments are names and
// values; an empty value is left out.
func (v *visit) link(path string, args ...string) string {
	q := make(url.Values)
	if ns := v.namespace(); ns != "" {
		q.Set("namespace", ns)
	}
	for i := 0; i+1 < len(args); i += 2 {
		if q.Del(args[i]); args[i+1] != "" {
			q.Set(args[i], args[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// query returns parameters for REST, with the namespace of the page. An empty value is left out.
func (v *visit) query(args ...string) url.Values {
	q := make(url.Values)
	for i := 0; i+1 < len(args); i += 2 {
		if args[i+1] != "" {
			q.Set(args[i], args[i+1])
		}
	}
	if ns := v.namespace(); ns != "" {
		q.Set("namespace", ns)
	}
	return q
}

// get reads a route of REST. T has the fields that the page shows.
func get[T any](v *visit, path string, q url.Values) (T, error) {
	return send[T](v, http.MethodGet, path, q, nil)
}

// send calls a route of REST with a body in JSON; nil is none.
func send[T any](v *visit, method, path string, q url.Values, body any) (out T, err error) {
	return call[T](v.r.Context(), v.client, method, path, q, body)
}

// call is send with a client.
func call[T any](ctx context.Context, c *api.Client, method, path string, q url.Values, body any) (out T, err error) {
	err = exchange(ctx, c, method, path, q, body, &out)
	return out, err
}

// exchange sends a body in JSON and decodes the answer. It is apart from call, whose code exists once per type.
func exchange(ctx context.Context, c *api.Client, method, path string, q url.Values, body, out any) error {
	var r io.Reader
	media := ""
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r, media = bytes.NewReader(b), "application/json"
	}
	resp, err := c.Call(ctx, method, path, q, r, media)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil && !errors.Is(err, io.EOF) { // some answers are empty
		return fmt.Errorf("read the answer of %s: %w", path, err)
	}
	return nil
}

// segment returns an id as one segment of a path of REST.
func segment(id string) string {
	if id == "." || id == ".." {
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return strings.ReplaceAll(url.PathEscape(id), ":", "%3A")
}

// detailOf returns the text of an error for people.
func detailOf(err error) string {
	if p, ok := errors.AsType[*api.Problem](err); ok {
		return p.Detail
	}
	return err.Error()
}

// problem returns an error as content, and sets the status of the answer.
func (v *visit) problem(err error) html.Part {
	code, faults := "", []api.Fault(nil)
	if p, ok := errors.AsType[*api.Problem](err); ok {
		faults, code, v.status = p.Errors, p.Code, p.Status
	} else {
		_, v.status = ragctx.CodeOf(err)
	}
	v.title = cmp.Or(v.title, http.StatusText(v.status))
	var list html.List
	for _, f := range faults {
		list = append(list, html.F(`<li><code>{}</code>{}</li>`, f.Location, " "+f.Message))
	}
	return html.F(`<div class="problem" role="alert"><h2>{}</h2>{}{}</div>`,
		sentence(detailOf(err)), html.If(len(list) > 0, html.F(`<ul>{}</ul>`, list)),
		html.If(code != "", html.F(`<p class="quiet">{}</p>`, fmt.Sprintf("%d %s", v.status, code))))
}
