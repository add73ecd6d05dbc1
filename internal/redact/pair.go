package redact

import (
	"slices"
	"strings"
)

var methods = wordSet(`sso saml saml2 oauth oidc ldap google github gitlab apple facebook okta passkey 2fa mfa otp totp sudo ssh
webauthn fido
	fido2 keycloak azure entra kerberos basic digest jwt bearer cookie cookies badge fingerprint face
	chrome firefox safari edge browser phone mobile cable ethernet lan hotspot 5g 4g lte full email password sms`)

// options lists the options of commands that take a password. user is whether a user name stands before it, and
// glued whether it may stand directly after the option.
var options = []struct {
	command, option string
	separator       byte // between a user name and the password, or 0
	glued           bool
}{
	{"curl", "-u", ':', false},
	{"curl", "--user", ':', false},
	{"http", "-a", ':', false},
	{"mysql", "-p", 0, true},
	{"mariadb", "-p", 0, true},
	{"sshpass", "-p", 0, true},
	{"redis-cli", "-a", 0, false},
	{"login", "-p", 0, false},
	{"mongo", "-p", 0, false},
	{"ssh-keygen", "-N", 0, false},
	{"ssh-keygen", "-P", 0, false},
	{"mosquitto", "-P", 0, false}, //nolint:misspell // the name of a program
	{"rar ", "-p", 0, true},
	{"rar ", "-hp", 0, true},
	{"unrar ", "-p", 0, true},
	{"cqlsh", "-p", 0, false},
	{"pdftotext", "-upw", 0, false},
	{"pdftotext", "-opw", 0, false},
	{"unzip", "-P", 0, false},
	{"zip", "-P", 0, false},
	{"7z", "-p", 0, true},
	{"podman", "-p", 0, false},
	{"rdesktop", "-p", 0, false},
	{"psexec", "-p", 0, false},
	{"winrs", "-p:", 0, true},
	{"schtasks", "/rp", 0, false},
	{"jarsigner", "-keypass", 0, false},
	{"keytool", "-keypass", 0, false},
	{"snmp", "-A", 0, false},
	{"snmp", "-X", 0, false},
	{"gh secret set", "--body", 0, false},
	{"gh secret set", "-b", 0, false},
	{"openssl", "-passin pass:", 0, true},
	{"openssl", "-passout pass:", 0, true},
	{"ldap", "-w", 0, false},
	{"smbclient", "-U", '%', false},
	{"rpcclient", "-U", '%', false},
	{"sqlcmd", "-P", 0, false},
	{"ipmitool", "-P", 0, false},
	{"ftp", "-u", ',', false},
	{"lftp", "-u", ',', false},
	{"xfreerdp", "/p:", 0, true},
	{"keytool", "-storepass", 0, false},
	{"openssl", "-k", 0, false},
	{"openssl", "pass:", 0, true},
}

// option redacts the password in the option at i of a known command.
func (p *scanner) option(i int) {
	s := p.s
	line := s[max(0, i-96):i]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	for _, o := range options {
		at := i + len(o.option)
		if !strings.HasPrefix(s[i:], o.option) || at >= len(s) || !hasCommand(line, o.command) {
			continue
		}
		next := blanks(s, at)
		if next == at && !o.glued || next > at && o.glued && o.command != "sshpass" {
			continue
		}
		end := fieldsEnd(s, next)
		v := s[next:end]
		start := next
		if o.separator != 0 {
			at := strings.IndexByte(v, o.separator)
			if at < 1 {
				return
			}
			start = next + at + 1
		}
		start, end = p.unquoted(start, end)
		if v := s[start:end]; len(v) >= 3 && !placeholder(v) && v[0] != '-' && !digitsOnly(v, 1, 4) && !p.touched(start, end) {
			p.add(Password, start, end)
		}
		return
	}
}

// hasCommand reports whether a word of the line begins with the name of a command.
func hasCommand(line, command string) bool {
	for from := 0; ; {
		at := strings.Index(line[from:], command)
		if at < 0 {
			return false
		}
		if from += at; from == 0 || !wordByte[line[from-1]] {
			return true
		}
		from++
	}
}

// positional redacts the password among the arguments of the command text[i:j]: "htpasswd -b file ada …".
func (p *scanner) positional(i, j int) {
	start := strings.LastIndexByte(p.s[max(0, i-96):i], '\n') + 1 + max(0, i-96)
	end := min(len(p.s), j+maxAfter)
	if n := strings.IndexByte(p.s[j:end], '\n'); n >= 0 {
		end = j + n
	}
	line := p.s[j:end]
	fields := fieldsAt(p.s, j, end)
	switch strings.ToLower(p.s[i:j]) {
	case "identified":
		if len(fields) > 3 && strings.EqualFold(fields[0].in(p.s), "with") {
			fields = fields[2:]
		}
		if len(fields) > 1 && strings.EqualFold(fields[0].in(p.s), "by") && (p.s[i:j] == "IDENTIFIED" &&
			!predicate(fields[1].in(p.s)) || strings.IndexByte("'\"", p.s[fields[1].start]) >= 0) {
			p.argument(fields[1])
		}
	case "requirepass", "masterauth":
		if len(fields) == 0 {
			return
		}
		form, alone := formOf(fields[0].in(p.s)), len(fields) == 1
		if oddForms[form] || form == gStrong || p.s[fields[0].start] == '"' ||
			alone && (p.s[i:j] == "requirepass" || strings.TrimSpace(p.s[start:i]) == "") {
			p.argument(fields[0])
		}
	case "enable":
		if n := len(fields); strings.TrimSpace(p.s[start:i]) == "" && n == 2 && namesSecret(fields[0].in(p.s)) {
			p.argument(fields[n-1])
		}
	case "htpasswd":
		for n, f := range fields {
			if v := f.in(p.s); v[0] == '-' && strings.Contains(v, "b") && n < len(fields)-1 {
				p.argument(fields[len(fields)-1])
			}
		}
	case "sqlplus":
		for len(fields) > 0 && p.s[fields[0].start] == '-' {
			fields = fields[1:]
		}
		if len(fields) > 0 {
			user, rest, ok := strings.Cut(fields[0].in(p.s), "/")
			if v, _, at := strings.Cut(rest, "@"); ok && at && user != "" && v != "" {
				from := fields[0].start + len(user) + 1
				p.argument(group{from, from + len(v)})
			}
		}
	case "wpa_passphrase":
		if len(fields) == 2 {
			p.argument(fields[1])
		}
	case "convertto": // ConvertTo-SecureString "…" -AsPlainText
		for _, f := range fields[min(1, len(fields)):] {
			if strings.IndexByte("'\"", p.s[f.start]) >= 0 {
				p.argument(f)
				break
			}
		}
	case "echo", "printf":
		if said, file, ok := strings.Cut(line, " > "); ok && len(fields) > 0 && namesSecretFile(file) {
			p.argument(group{fields[0].start, j + len(said)})
			return
		}
		command, reader, piped := strings.Cut(line, "|")
		if !piped || len(fields) == 0 || strings.TrimSpace(command) == "" ||
			!strings.Contains(reader, "sudo -S") && !strings.Contains(reader, "stdin") && !strings.Contains(reader, "chpasswd") {
			return
		}
		f := fields[0]
		if strings.Contains(reader, "chpasswd") {
			f.start += strings.IndexByte(f.in(p.s), ':') + 1
		}
		p.argument(f)
	case "net":
		p.netUse(fields)
	}
}

// netUse redacts the password of "net use" and "net user" of Windows.
func (p *scanner) netUse(fields []group) {
	if len(fields) < 3 {
		return
	}
	switch strings.ToLower(fields[0].in(p.s)) {
	case "use":
		if !slices.ContainsFunc(fields, func(f group) bool { v := f.in(p.s); return v[0] == '\\' || v[len(v)-1] == ':' || v == "*" }) {
			return
		}
		for n, f := range fields[1:] {
			v := f.in(p.s)
			if n > 0 && v[0] != '/' && v[0] != '\\' && v != "*" && !strings.HasSuffix(v, ":") {
				p.argument(f)
			}
		}
	case "user":
		if v := fields[2].in(p.s); v[0] != '/' && v != "*" {
			p.argument(fields[2])
		}
	}
}

// argument redacts an argument of a command, without its quotes.
func (p *scanner) argument(f group) {
	start, end := p.unquoted(f.start, f.end)
	if v := p.s[start:end]; len(v) >= 3 && !placeholder(v) && !expression(v, "") && v[0] != '-' && !p.touched(start, end) {
		p.add(Password, start, end)
	}
}

// unquoted returns the bounds of the value in text[start:end]: within its quotes, or without the signs at its end.
func (p *scanner) unquoted(start, end int) (int, int) {
	if from, to, ok := p.quotation(start); ok {
		return from, to
	}
	return start, start + cut(p.s[start:end], false)
}

func (g group) in(s string) string { return s[g.start:g.end] }

// fieldsAt returns the fields of s[i:end] that spaces divide.
func fieldsAt(s string, i, end int) (out []group) {
	for i < end && len(out) < maxTokens {
		start := blanks(s, i)
		i = start
		for i < end && s[i] > ' ' {
			i++
		}
		if i == start || i > end {
			break
		}
		out = append(out, group{start, i})
	}
	return out
}

// hereString redacts the text at i that a shell feeds to a command that reads a password.
func (p *scanner) hereString(i int) {
	near := before(p.s, i, 96)
	near = near[strings.LastIndexByte(near, '\n')+1:]
	for _, command := range [...]string{"kinit", "cryptsetup", "sudo -s", "stdin", "gpg"} {
		if strings.Contains(near, command) {
			if f := fieldsAt(p.s, i, min(len(p.s), i+maxValue)); len(f) > 0 {
				p.argument(f[0])
			}
			return
		}
	}
}
