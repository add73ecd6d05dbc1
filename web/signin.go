package web

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/internal/html"
)

// maxKeyBytes bounds the key of the sign-in form.
const maxKeyBytes = 512

func showSignIn(v *visit) (html.Part, error) { return v.signInForm(v.param("next"), ""), nil }

// signInForm asks for a key.
func (v *visit) signInForm(next, fault string) html.Part {
	v.title = "Sign in"
	note := "This server requires an API key. The console has the rights of the key that you sign in with."
	if fault == "" && v.r.URL.Query().Get("ended") == "true" {
		note = "Your session has ended. Sign in again to go on where you were."
	}
	return html.F(`<div class="sign-in"><h1>ragctx</h1><p>{}</p>{}<form method="post" action={}>{}{}<label><span>API key</span>
			<input type="password" name="key" required autofocus autocomplete="current-password" maxlength={} aria-describedby={}></label>
			<button class="main">Sign in</button></form><p class="quiet">Create keys with <code>ragctx keys create</code>.</p></div>`,
		note, html.If(fault != "", html.F(`<p class="fault" id="fault" role="alert">{}</p>`, fault)), root+"/sign-in",
		v.tokenField(), hidden("next", next), maxKeyBytes, html.When(fault != "", "fault"))
}

// signIn starts a session for a key that the server accepts.
func signIn(v *visit) (html.Part, error) {
	key, next := strings.TrimSpace(v.r.PostFormValue("key")), v.r.PostFormValue("next")
	_, err := call[struct{}](v.r.Context(), v.Console.client(key), http.MethodGet, "/v1/namespaces", nil, nil)
	switch {
	case errors.Is(err, ragctx.ErrUnauthenticated), len(key) > maxKeyBytes, key == "":
		v.status = http.StatusUnauthorized
		return v.signInForm(next, "The server does not know this key, or it was revoked or has expired."), nil
	case err != nil:
		return nil, err
	}
	v.sessions.end(v.cookie)
	giveCookie(v.w, v.r, v.sessions.start(key))
	to, err := url.Parse(next)
	if err != nil || to.Scheme != "" || to.Host != "" || !strings.HasPrefix(path.Clean(to.Path), root+"/") ||
		strings.HasPrefix(to.Path, root+"/sign-") || strings.ContainsAny(next, "\\\r\n") {
		next = root
	}
	return v.goTo(next)
}

func signOut(v *visit) (html.Part, error) {
	v.sessions.end(v.cookie)
	giveCookie(v.w, v.r, v.sessions.token())
	return v.goTo(root)
}
