package redact

import "strings"

// url redacts the password of a URL whose authority begins at i, and the secret part of a webhook
// URL. A user name without a password may be a secret, too: "https://ghp_…@github.com" is found
// by its shape.
func (p *scanner) url(i int) {
	s := p.s
	end := run(s, i, authorityByte)
	authority := s[i:end]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		colon := strings.IndexByte(authority[:at], ':')
		if colon >= 0 && urlPassword(authority[colon+1:at]) && (end == len(s) || s[end] != '[') {
			p.add(Password, i+colon+1, i+at)
		}
		return
	}
	p.webhook(i, end)
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
	case (strings.HasSuffix(host, "discord.com") || strings.HasSuffix(host, "discordapp.com")) && path == "/api/webhooks/":
		end += len(path) - 1
	case strings.HasSuffix(host, ".webhook.office.com"):
	default:
		return
	}
	secret := end + 1
	last := run(p.s, secret, webhookByte)
	if last-secret >= 20 && random(p.s[secret:last]) {
		p.add(Webhook, secret, last)
	}
}

var webhookByte = setOf("a-zA-Z0-9_/@=-")
