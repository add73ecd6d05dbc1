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
	p.share(end)
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
