package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/web/html"
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
		state := html.Part(html.E("form", html.A("method", "post"), html.A("action", v.link(keysPath+"/revoke")), v.tokenField(),
			hidden("id", k.ID),
			html.E("button.danger", html.A("data-confirm", "Revoke the key “"+k.Name+"”? It stops working at once."),
				html.A("aria-label", "Revoke "+k.Name), html.Text("Revoke"))))
		if !k.Revoked.IsZero() {
			state = html.T("span.quiet", "revoked "+minute(k.Revoked))
		}
		scope := "all namespaces"
		if len(k.Namespaces) > 0 {
			scope = strings.Join(k.Namespaces, ", ")
		}
		if k.User != "" {
			scope += ", user " + k.User
		}
		rows = append(rows, html.E("tr", html.E("td", html.Text(k.Name+" "), html.T("code.quiet", k.Prefix)), html.T("td", k.Role),
			html.T("td", scope),
			html.T("td.number", minute(k.Created)), html.T("td.number", orNever(k.LastUsed)), html.T("td.number", orNever(k.Expires)),
			html.E("td", state)))
	}
	list := html.Part(html.T("p.empty",
		"There are no keys: every program of this machine is admin. The first key must be an admin's, and from then on "+
			"every request needs a key."))
	if len(rows) > 0 {
		list = wide("Keys", html.E("table", html.E("thead", html.E("tr", column("Key"), column("Role"), column("For"),
			numberColumn("Created (UTC)"), numberColumn("Last used (UTC)"),
			numberColumn("Expires (UTC)"), column("State"))), html.E("tbody", rows)))
	}
	return html.List{
		heading("Health", v.healthTabs(keysPath)),
		html.If(made != nil, v.showNewKey(made)), list,
		html.If(page.NextCursor != "", html.E("p.pages", html.E("a.button",
			html.A("href", v.link(keysPath, "cursor", page.NextCursor)), html.Text("Next keys")))),
		html.E("section", html.T("h2", "A new key"), html.E("form.row", html.A("method", "post"), html.A("action", v.link(keysPath)),
			v.tokenField(),
			html.E("label", html.T("span", "Purpose"), html.E("input", html.A("name", "name"), html.Flag("required", true),
				html.A("maxlength", "200"))),
			selection("Role", "role", "read", roles),
			html.E("label", html.T("span", "Only these namespaces, by commas"),
				html.E("input", html.A("name", "namespaces"), html.A("placeholder", "all"))),
			html.E("label", html.T("span", "Only this user"), html.E("input", html.A("name", "user"), html.A("placeholder", "any"),
				html.A("maxlength", "512"))),
			html.E("label", html.T("span", "Expires in days"), html.E("input", html.A("type", "number"), html.A("name", "days"),
				html.A("min", "1"), html.A("max", "36500"), html.A("placeholder", "never"))),
			html.T("button.main", "Create"))),
	}, nil
}

// newKey shows the text of a key, which the server does not keep.
func (v *visit) showNewKey(made *newKey) html.Part {
	if made == nil {
		return nil
	}
	return html.E("div.note", html.A("role", "status"), html.T("p", "The key “"+made.Name+"” is shown this once. Copy it now."),
		html.E("p.actions", html.T("code#made", made.Key), html.E("button", html.A("type", "button"), html.A("data-copy", "made"),
			html.Text("Copy"))))
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
		status := html.T("td.number", strconv.Itoa(e.Status))
		if e.Status >= http.StatusBadRequest {
			status = html.T("td.number.fault", strconv.Itoa(e.Status))
		}
		rows = append(rows, html.E("tr", html.T("td.when", moment(e.At)),
			html.E("td", html.If(e.KeyID != "", html.E("a", html.A("href", v.link(auditPath, "key_id", e.KeyID)),
				html.Text(name)))), html.T("td", e.Operation), html.T("td", e.Namespace), html.T("td", e.Target), status))
	}
	list := html.Part(html.T("p.empty", "Nothing was changed through the server yet."))
	if len(rows) > 0 {
		list = wide("Audit log", html.E("table", html.E("thead", html.E("tr", column("Time (UTC)"), column("Key"),
			column("Operation"), column("Namespace"), column("Item"), numberColumn("Status"))),
			html.E("tbody", rows)))
	}
	return html.List{
		heading("Health", v.healthTabs(auditPath)), list,
		html.If(page.NextCursor != "", html.E("p.pages", html.E("a.button",
			html.A("href", v.link(auditPath, "key_id", v.param("key_id"), "cursor", page.NextCursor)),
			html.Text("Earlier entries")))),
	}, nil
}
