// Package web is the console: pages for people, at /console. A page is made on the server, and knows the
// engine only through the routes that REST offers, called with the visitor's own key. So its roles and its
// isolation are those of REST.
//
// # How to add a page
//
//  1. Write its view, func(v *visit) (html.Part, error), in a file of its own. A view calls REST with get and
//     send, and returns the content as markup of package html, which escapes every argument.
//  2. Add a row to pages (pages.go). Navigation, layout, sign-in and error pages follow from the row.
//  3. Add routes to the row's also for parts of the page. The answer to a request of htmx is a fragment: the
//     view's parts without the layout. Other methods than GET are checked for the CSRF token.
//  4. Keep the state of a page in its address, with [visit.link], so that reload and the back button work.
//  5. Add its styles to assets/console.css, and a test that uses it in a browser to tools/console/pages.
//
// There are no inline scripts and no inline styles; the Content-Security-Policy refuses both. Widths and
// positions of charts are attributes of SVG. Scripts that htmx cannot replace go into assets/console.js.
package web

import (
	"crypto/rand"
	"encoding/base64"
	"log/slog"
	"net/http"
	"time"

	"github.com/ragctx/ragctx/api"
)

// root is the path of the console.
const root = "/console"

// Options configures a [Console]. The zero value works.
type Options struct {
	Now      func() time.Time // nil is [time.Now]
	NewToken func() string    // generates secrets of 256 bits; nil is [crypto/rand]
	Log      *slog.Logger
}

// Console serves the pages. It is safe for concurrent use.
type Console struct {
	client   func(key string) *api.Client
	sessions sessions
	maps     mapCache
	mux      *http.ServeMux
	now      func() time.Time
	log      *slog.Logger
}

// New returns a console. client returns a client of the server with a visitor's key; "" sends no key.
func New(client func(key string) *api.Client, o Options) *Console {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewToken == nil {
		o.NewToken = newToken
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Console{
		client: client, mux: http.NewServeMux(), now: o.Now, log: o.Log,
		sessions: sessions{now: o.Now, token: o.NewToken, all: make(map[string]*session)},
		maps:     mapCache{all: make(map[string]*vectorMap)},
	}
	c.mux.Handle("GET "+assetsRoot, assetHandler())
	c.handle("GET "+root+"/sign-in", "", showSignIn)
	c.handle("POST "+root+"/sign-in", "", signIn)
	c.handle("POST "+root+"/sign-out", "", signOut)
	for _, p := range pages() {
		c.handle("GET "+p.path, p.path, p.view)
		for pattern, v := range p.also {
			c.handle(pattern, p.path, v)
		}
	}
	c.handle("GET "+root+"/alive", "", alive)
	c.handle(root+"/", "", noPage)
	return c
}

func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// policy allows scripts, styles and pictures of the console itself, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP implements [http.Handler].
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // without any referrer forms have no origin
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if r.URL.Path == root || r.URL.Path == root+"/" {
		http.Redirect(w, r, pages()[0].path, http.StatusSeeOther)
		return
	}
	c.mux.ServeHTTP(w, r)
}
