package web

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/html"
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
	return html.E("div.sign-in", html.T("h1", "ragctx"), html.T("p", note),
		html.If(fault != "", html.E("p.fault#fault", html.A("role", "alert"), html.Text(fault))),
		html.E("form", html.A("method", "post"), html.A("action", root+"/sign-in"), v.tokenField(),
			hidden("next", next),
			html.E("label", html.T("span", "API key"), html.E("input", html.A("type", "password"), html.A("name", "key"),
				html.Flag("required", true), html.Flag("autofocus", true), html.A("autocomplete", "current-password"),
				html.Int("maxlength", maxKeyBytes), html.If(fault != "", html.A("aria-describedby", "fault")))),
			html.T("button.main", "Sign in")),
		html.E("p.quiet", html.Text("Create keys with "), html.T("code", "ragctx keys create"), html.Text(".")))
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
