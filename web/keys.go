package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/internal/html"
)

// apiKey has the fields of a key that the page shows.
type apiKey struct {
	ID, Name, Prefix, Role string
	Namespaces             []string
	User                   string    `json:"user_id"`
	Created                time.Time `json:"created_at"`
	Expires                time.Time
	Revoked                time.Time
	LastUsed               time.Time `json:"last_used"`
}

// newKey is a key that was just created, with its text.
type newKey struct {
	apiKey

	Key string
}

var roles = []choice{{"read", "read"}, {"write", "write"}, {"admin", "admin"}}

func showKeys(v *visit) (html.Part, error) { return v.keyPage(nil) }

// keyPage lists the keys, and shows the text of a new one once.
func (v *visit) keyPage(made *newKey) (html.Part, error) {
	page, err := get[struct {
		Keys       []apiKey
		NextCursor string `json:"next_cursor"`
	}](v, "/v1/keys", v.query("cursor", v.param("cursor"), "limit", "200"))
	if err != nil {
		return nil, err
	}
	var rows html.List
	for _, k := range page.Keys {
		state := html.F(`<form method="post" action={}>{}{}<button class="danger" data-confirm={} aria-label={}>Revoke</button></form>`,
			v.link(keysPath+"/revoke"), v.tokenField(), hidden("id", k.ID),
			"Revoke the key “"+k.Name+"”? It stops working at once.", "Revoke "+k.Name)
		if !k.Revoked.IsZero() {
			state = html.F(`<span class="quiet">{}</span>`, "revoked "+minute(k.Revoked))
		}
		scope := "all namespaces"
		if len(k.Namespaces) > 0 {
			scope = strings.Join(k.Namespaces, ", ")
		}
		if k.User != "" {
			scope += ", user " + k.User
		}
		rows = append(rows, html.F(`<tr><td>{}<code class="quiet">{}</code></td><td>{}</td><td>{}</td><td class="number">{}</td>
			<td class="number">{}</td><td class="number">{}</td><td>{}</td></tr>`,
			k.Name+" ", k.Prefix, k.Role, scope, minute(k.Created), orNever(k.LastUsed), orNever(k.Expires), state))
	}
	list := html.F(`<p class="empty">There are no keys: every program of this machine is admin. The first key must be an admin's,
			and from then on every request needs a key.</p>`)
	if len(rows) > 0 {
		list = wide("Keys", html.F(`<table><thead><tr>{}{}{}{}{}{}{}</tr></thead><tbody>{}</tbody></table>`,
			column("Key"), column("Role"), column("For"), numberColumn("Created (UTC)"), numberColumn("Last used (UTC)"),
			numberColumn("Expires (UTC)"), column("State"), rows))
	}
	return html.List{
		heading("Health", v.healthTabs(keysPath)),
		html.If(made != nil, v.showNewKey(made)), list,
		html.If(page.NextCursor != "", html.F(`<p class="pages"><a class="button" href={}>Next keys</a></p>`,
			v.link(keysPath, "cursor", page.NextCursor))),
		html.F(`<section><h2>A new key</h2><form class="row" method="post" action={}>{}<label><span>Purpose</span>
			<input name="name" required maxlength="200"></label>{}<label><span>Only these namespaces, by commas</span>
			<input name="namespaces" placeholder="all"></label><label><span>Only this user</span>
			<input name="user" placeholder="any" maxlength="512"></label><label><span>Expires in days</span>
			<input type="number" name="days" min="1" max="36500" placeholder="never"></label>
			<button class="main">Create</button></form></section>`,
			v.link(keysPath), v.tokenField(), selection("Role", "role", "read", roles)),
	}, nil
}

// newKey shows the text of a key, which the server does not keep.
func (v *visit) showNewKey(made *newKey) html.Part {
	if made == nil {
		return nil
	}
	return html.F(`<div class="note" role="status"><p>{}</p><p class="actions"><code id="made">{}</code>
			<button type="button" data-copy="made">Copy</button></p></div>`,
		"The key “"+made.Name+"” is shown this once. Copy it now.", made.Key)
}

func orNever(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return minute(t)
}

// createKey creates a key. The answer to the form shows it, so that it is in no address.
func createKey(v *visit) (html.Part, error) {
	body := map[string]any{"name": v.r.PostFormValue("name"), "role": v.r.PostFormValue("role")}
	var namespaces []string
	for name := range strings.SplitSeq(v.r.PostFormValue("namespaces"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			namespaces = append(namespaces, name)
		}
	}
	if len(namespaces) > 0 {
		body["namespaces"] = namespaces
	}
	if user := v.r.PostFormValue("user"); user != "" {
		body["user_id"] = user
	}
	if text := v.r.PostFormValue("days"); text != "" {
		days, err := strconv.Atoi(text)
		if err != nil || days < 1 || days > 36_500 {
			return nil, ragctx.Invalid("days", "is %q; use a whole number from 1 to 36500", ragctx.Clip(text))
		}
		body["expires"] = v.now().AddDate(0, 0, days)
	}
	made, err := send[newKey](v, http.MethodPost, "/v1/keys", nil, body)
	if err != nil {
		return nil, err
	}
	if !v.signed { // the first key: from now on every request needs one
		v.client, v.signed = v.Console.client(made.Key), true
		v.cookie = v.sessions.start(made.Key)
		giveCookie(v.w, v.r, v.cookie)
	}
	return v.keyPage(&made)
}

func revokeKey(v *visit) (html.Part, error) {
	if _, err := send[struct{}](v, http.MethodPost, "/v1/keys/"+segment(v.r.PostFormValue("id"))+":revoke", nil, nil); err != nil {
		return nil, err
	}
	return v.goTo(v.link(keysPath))
}

// showAudit lists the changes that requests made, the newest first.
func showAudit(v *visit) (html.Part, error) {
	page, err := get[struct {
		Entries []struct {
			At                           time.Time
			KeyName                      string `json:"key_name"`
			KeyID                        string `json:"key_id"`
			Operation, Namespace, Target string
			Status                       int
		}
		NextCursor string `json:"next_cursor"`
	}](v, "/v1/audit", v.query("key_id", v.param("key_id"), "cursor", v.param("cursor"), "limit", "100"))
	if err != nil {
		return nil, err
	}
	var rows html.List
	for _, e := range page.Entries {
		name := e.KeyName
		if name == "" {
			name = e.KeyID
		}
		status := html.F(`<td class="number">{}</td>`, strconv.Itoa(e.Status))
		if e.Status >= http.StatusBadRequest {
			status = html.F(`<td class="number fault">{}</td>`, strconv.Itoa(e.Status))
		}
		rows = append(rows, html.F(`<tr><td class="when">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>{}</tr>`,
			moment(e.At), html.If(e.KeyID != "", html.F(`<a href={}>{}</a>`, v.link(auditPath, "key_id", e.KeyID), name)),
			e.Operation, e.Namespace, e.Target, status))
	}
	list := html.F(`<p class="empty">Nothing was changed through the server yet.</p>`)
	if len(rows) > 0 {
		list = wide("Audit log", html.F(`<table><thead><tr>{}{}{}{}{}{}</tr></thead><tbody>{}</tbody></table>`,
			column("Time (UTC)"), column("Key"), column("Operation"), column("Namespace"), column("Item"), numberColumn("Status"),
			rows))
	}
	return html.List{
		heading("Health", v.healthTabs(auditPath)), list,
		html.If(page.NextCursor != "", html.F(`<p class="pages"><a class="button" href={}>Earlier entries</a></p>`,
			v.link(auditPath, "key_id", v.param("key_id"), "cursor", page.NextCursor))),
	}, nil
}
