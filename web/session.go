package web

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	sessionIdle    = 12 * time.Hour // a session ends after this time without a request
	maxSessions    = 1000           // the session that was idle longest makes room
	sessionsPerKey = 20             // of them the one that was idle longest makes room, so that no key ends the sessions of others
	maxTokenLen    = 64             // of a cookie
)

// signedPrefix begins the cookies of visitors who signed in, so that the end of a session is noticed.
const signedPrefix = "s."

// session is a visitor who signed in.
type session struct {
	key  string
	used time.Time
}

// sessions maps cookies to API keys. The keys stay in the memory of this process: a browser has only the
// cookie, and a restart ends all sessions. A visitor of a server without keys has a cookie for CSRF
// tokens and no session.
type sessions struct {
	now   func() time.Time
	token func() string

	mu  sync.Mutex
	all map[string]*session
}

// key returns the API key of a cookie, or "".
func (s *sessions) key(cookie string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.all[cookie]
	if found == nil {
		return ""
	}
	now := s.now()
	if now.Sub(found.used) > sessionIdle {
		delete(s.all, cookie)
		return ""
	}
	found.used = now
	return found.key
}

// open reports whether a cookie has a session. It does not count as a use.
func (s *sessions) open(cookie string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.all[cookie]
	return found != nil && s.now().Sub(found.used) <= sessionIdle
}

// start returns the cookie of a new session.
func (s *sessions) start(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, oldest, same, oldestSame := len(s.all), "", 0, ""
	for cookie, one := range s.all {
		if oldest == "" || one.used.Before(s.all[oldest].used) {
			oldest = cookie
		}
		if one.key != key {
			continue
		}
		if same++; oldestSame == "" || one.used.Before(s.all[oldestSame].used) {
			oldestSame = cookie
		}
	}
	switch {
	case same >= sessionsPerKey:
		delete(s.all, oldestSame)
	case all >= maxSessions:
		delete(s.all, oldest)
	}
	cookie := signedPrefix + s.token()
	s.all[cookie] = &session{key: key, used: s.now()}
	return cookie
}

func (s *sessions) end(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, cookie)
}

// cookieName returns the name of the cookie. Browsers share cookies between the ports of a machine, so the
// port is a part of it.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host) // without a port it is that of the scheme
	return "ragctx-console-" + cmp.Or(port, "default")
}

// cookieOf returns the cookie of a request, or "".
func cookieOf(r *http.Request) string {
	c, err := r.Cookie(cookieName(r))
	if err != nil || len(c.Value) > maxTokenLen {
		return ""
	}
	return c.Value
}

// giveCookie sends a cookie that scripts cannot read and other sites cannot use.
func giveCookie(w http.ResponseWriter, r *http.Request, value string) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: value, Path: root, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	})
}

// csrfToken returns the token that forms of a visitor carry. It is a hash of the cookie, so it needs no
// store, outlives restarts and does not reveal the cookie.
func csrfToken(cookie string) string {
	sum := sha256.Sum256([]byte("ragctx console form\x00" + cookie))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// csrfHeader carries the token of requests of scripts.
const csrfHeader = "X-CSRF-Token"

// sentByForm reports whether a request carries its visitor's token, in the header or the form.
func sentByForm(r *http.Request, cookie string) bool {
	token := r.Header.Get(csrfHeader)
	if token == "" {
		token = r.PostFormValue("csrf")
	}
	return cookie != "" && subtle.ConstantTimeCompare([]byte(token), []byte(csrfToken(cookie))) == 1
}
