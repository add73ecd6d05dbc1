package redact

import "strings"

// url redacts the password of a URL whose authority begins at i, and the secret part of a webhook
// URL. A user name without a password may be a secret, too: "https://ghp_…@github.com" is found
// by its shape.
func (p *scanner) url(i int) {
	s := p.s
	end := run(s, i, authorityByte)
	if colon := strings.IndexByte(s[i:end], ':'); colon > 0 && end < len(s) && s[end] == '/' && run(s, i+colon+1, digits) < end {
		if whole := fieldsEnd(s, end); slashInPassword(s[end:whole]) {
			end = whole
		}
	}
	authority := s[i:end]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		colon := strings.IndexByte(authority[:at], ':')
		if colon >= 0 && urlPassword(authority[colon+1:at]) && (end == len(s) || s[end] != '[') {
			p.add(Password, i+colon+1, i+at)
		}
		return
	}
	p.webhook(i, end)
	p.share(end)
}

// account redacts the password of "name:password@host:port" without a scheme. The name is text[i:j].
func (p *scanner) account(i, j int) {
	if j+1 >= len(p.s) || p.s[j] != ':' || i > 0 && p.s[i-1] > ' ' && strings.IndexByte("\"'`(=", p.s[i-1]) < 0 ||
		schemes[strings.ToLower(p.s[i:j])] {
		return
	}
	end := run(p.s[:min(len(p.s), j+maxValue)], j+1, authorityByte)
	rest := p.s[j+1 : end]
	at := strings.LastIndexByte(rest, '@')
	if at < 3 || !urlPassword(rest[:at]) {
		return
	}
	if !accountNames[strings.ToLower(p.s[i:j])] && !chosenForms[formOf(rest[:at])] {
		return // user:root@localhost
	}
	host, port, _ := strings.Cut(strings.TrimRight(rest[at+1:], ".,;"), ":")
	if run(host, 0, dotted) == len(host) && !strings.HasPrefix(host, "sha") &&
		(host == "localhost" || host != "" && run(port, 0, digits) >= 2) {
		p.add(Password, j+1, j+1+at)
	}
}

// schemes stand before an address with "@". accountNames are those of databases and administrators.
var (
	schemes = wordSet(`mailto sip sips xmpp ssh to cc bcc from acct http https ftp sftp imap smtp ldap rtsp ws turn stun rsync git enode
		peer`)
	accountNames = wordSet("elastic postgres root admin kibana neo4j guest sa minio mysql redis mongo")
)

// passFile redacts the password at the end of a line "host:port:database:user:password" of PostgreSQL. Its port is text[i:j].
func (p *scanner) passFile(i, j int) {
	if i == 0 || p.s[i-1] != ':' || j >= len(p.s) || p.s[j] != ':' || j-i < 4 {
		return
	}
	end := fieldsEnd(p.s, j)
	fields := strings.SplitN(p.s[j+1:end], ":", 3)
	if len(fields) < 3 || fields[0] == "" || fields[1] == "" || run(fields[1], 0, dotted) < len(fields[1]) ||
		fields[0] != "*" && run(fields[0], 0, settingByte) < len(fields[0]) {
		return
	}
	start := end - len(fields[2])
	v := fields[2][:cut(fields[2], false)]
	known := strings.Contains(before(p.s, i, 200), "pgpass") || p.s[i:j] == "5432" && chosenForms[formOf(v)]
	if known && len(v) > 3 && !placeholder(v) && !digitsOnly(v, 1, 64) && !p.touched(start, start+len(v)) {
		p.add(Password, start, start+len(v))
	}
}

// slashInPassword reports whether what follows the first slash of a URL goes on with its password: it names no port, and has one
// "@" before the name of a host.
func slashInPassword(path string) bool {
	v, host, ok := strings.Cut(path, "@")
	return ok && len(v) > 1 && v[len(v)-1] != '/' && !strings.ContainsAny(v, "?#") && strings.Count(v, "/") == 1 &&
		strings.Contains(host, ".") && lowerLetters[host[0]] && !digits[host[1]]
}

// sharePaths hold what stands before the random part of a link that opens without signing in, and its least length.
var sharePaths = []struct {
	path  string
	least int
}{{"/s/", 8}, {"/private-", 10}}

// share redacts the random part of the path at i of such a link.
func (p *scanner) share(i int) {
	end := run(p.s, i, webhookByte)
	for _, k := range sharePaths {
		at := strings.Index(p.s[i:end], k.path)
		if at < 0 {
			continue
		}
		start := i + at + len(k.path)
		stop := run(p.s, start, alnum)
		if v := p.s[start:stop]; len(v) >= k.least && random(v) && (mixedCase(v) || countDigits(v) > 2) && !p.touched(start, stop) {
			p.add(Token, start, stop)
		}
	}
}

// authorityByte holds the bytes allowed before the path of a URL. It is lenient, because passwords
// in connection strings are often not escaped.
var authorityByte = func() *byteSet {
	var set byteSet
	for c := range 256 {
		set[c] = c > ' ' && !strings.ContainsRune("/?\"'`<>[]|\\", rune(c))
	}
	return &set
}()

// urlPassword reports whether the password of a URL may be real.
func urlPassword(s string) bool {
	switch {
	case s == "", strings.ContainsAny(s[:1], "$<{%*"), strings.Contains(s, "://"):
		return false
	}
	return !placeholder(s)
}

// webhook redacts the secret part of a webhook URL, which grants write access to the channel.
func (p *scanner) webhook(i, end int) {
	host := strings.ToLower(p.s[i:end])
	path := p.s[end:min(len(p.s), end+len("/api/webhooks/"))]
	switch {
	case host == "hooks.slack.com":
		p.slackPath(end + 1)
		return
	case (strings.HasSuffix(host, "discord.com") || strings.HasSuffix(host, "discordapp.com")) && path == "/api/webhooks/":
		end += len(path) - 1
	case strings.HasSuffix(host, ".webhook.office.com"):
	case strings.HasPrefix(host, "hooks."), strings.Contains(host, "webhook"):
		last := run(p.s, end, webhookByte)
		at := end + strings.LastIndexByte(p.s[end:last], '/') + 1
		if v := p.s[at:last]; at > end && len(v) >= 10 && random(v) && changes(v) >= len(v)/2 && !p.touched(at, last) {
			p.add(Webhook, at, last)
		}
		return
	default:
		return
	}
	secret := end + 1
	last := run(p.s, secret, webhookByte)
	if last-secret >= 20 && random(p.s[secret:last]) {
		p.add(Webhook, secret, last)
	}
}

// slackPath redacts the path of a webhook of Slack at i, with a workspace, a channel and a random part.
func (p *scanner) slackPath(i int) {
	end := run(p.s, i, webhookByte)
	if path, ok := strings.CutPrefix(p.s[i:end], "services/T"); ok && strings.Count(path, "/") >= 2 && len(path) >= 16 &&
		!p.touched(i, end) {
		p.add(Webhook, i, end)
	}
}

var webhookByte = setOf("a-zA-Z0-9_/@=-")
