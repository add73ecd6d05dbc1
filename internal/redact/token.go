package redact

import (
	"slices"
	"strings"
)

// shape is a kind of token with a vendor's prefix.
type shape struct {
	prefix string
	// least and most are the number of following characters of set; most 0 means unbounded.
	least, most int
	set         *byteSet
	kind        string
}

// shapes is indexed by the first byte of the prefix. If the prefix can be a word of its own ("sk-",
// "hf_"), the rest must be long and look random.
var shapes = byFirst(
	// Language models.
	shape{"sk-", 20, 0, base64url, APIKey}, // OpenAI, Anthropic, DeepSeek, OpenRouter
	shape{"hf_", 30, 0, alnum, APIKey},
	shape{"gsk_", 40, 0, alnum, APIKey},
	shape{"xai-", 40, 0, base64url, APIKey},
	shape{"pplx-", 40, 0, alnum, APIKey},
	shape{"r8_", 32, 0, alnum, APIKey},
	shape{"nvapi-", 40, 0, base64url, APIKey},
	shape{"tvly-", 20, 0, base64url, APIKey},
	shape{"lsv2_", 40, 0, base64url, APIKey},
	// Code and packages.
	shape{"ghp_", 30, 0, alnum, APIKey},
	shape{"gho_", 30, 0, alnum, APIKey},
	shape{"ghu_", 30, 0, alnum, APIKey},
	shape{"ghs_", 30, 0, alnum, APIKey},
	shape{"ghr_", 30, 0, alnum, APIKey},
	shape{"github_pat_", 30, 0, base64url, APIKey},
	shape{"glpat-", 20, 0, dotted, APIKey},
	shape{"gldt-", 20, 0, base64url, APIKey},
	shape{"glrt-", 20, 0, dotted, APIKey},
	shape{"glptt-", 20, 0, base64url, APIKey},
	shape{"glcbt-", 20, 0, base64url, APIKey},
	shape{"npm_", 36, 0, alnum, APIKey},
	shape{"pypi-", 24, 0, base64url, APIKey},
	shape{"rubygems_", 40, 0, alnum, APIKey},
	shape{"dckr_pat_", 20, 0, base64url, APIKey},
	shape{"lin_api_", 30, 0, alnum, APIKey},
	shape{"PMAK-", 40, 0, base64url, APIKey},
	shape{"ATATT3", 50, 0, setOf("a-zA-Z0-9_=-"), APIKey},
	// Clouds.
	shape{"AKIA", 16, 16, upperNum, APIKey},
	shape{"ASIA", 16, 16, upperNum, APIKey},
	shape{"AIza", 35, 35, base64url, APIKey},
	shape{"GOCSPX-", 24, 0, base64url, Secret},
	shape{"ya29.", 30, 0, dotted, Token},
	shape{"dop_v1_", 24, 0, alnum, APIKey},
	shape{"dapi", 32, 32, hexLower, APIKey},
	shape{"hvs.", 24, 0, base64url, Token},
	shape{"hvb.", 24, 0, base64url, Token},
	shape{"AGE-SECRET-KEY-1", 24, 0, upperNum, PrivateKey},
	shape{"glsa_", 32, 0, setOf("a-zA-Z0-9_"), APIKey},
	shape{"NRAK-", 24, 0, alnum, APIKey},
	shape{"sbp_", 40, 0, alnum, APIKey},
	shape{"sntrys_", 40, 0, setOf("a-zA-Z0-9_+/="), APIKey},
	// Messages and money.
	shape{"xoxb-", 20, 0, base64url, Token},
	shape{"xoxp-", 20, 0, base64url, Token},
	shape{"xoxa-", 20, 0, base64url, Token},
	shape{"xoxr-", 20, 0, base64url, Token},
	shape{"xoxs-", 20, 0, base64url, Token},
	shape{"xoxe-", 20, 0, base64url, Token},
	shape{"xoxe.", 20, 0, dotted, Token},
	shape{"xapp-", 20, 0, base64url, Token},
	shape{"sk_live_", 16, 0, alnum, APIKey},
	shape{"sk_test_", 16, 0, alnum, APIKey},
	shape{"rk_live_", 16, 0, alnum, APIKey},
	shape{"rk_test_", 16, 0, alnum, APIKey},
	shape{"pk_live_", 16, 0, alnum, APIKey},
	shape{"pk_test_", 16, 0, alnum, APIKey},
	shape{"whsec_", 12, 0, base64std, Secret},
	shape{"SG.", 24, 0, dotted, APIKey},
	shape{"SK", 32, 32, hexLower, APIKey}, // Twilio; AC… is an account name
	shape{"key-", 32, 32, hexLower, APIKey},
	shape{"shpat_", 32, 32, setOf("a-fA-F0-9"), APIKey},
	shape{"shpss_", 32, 32, setOf("a-fA-F0-9"), Secret},
	shape{"shpca_", 32, 32, setOf("a-fA-F0-9"), APIKey},
	shape{"sq0atp-", 22, 0, base64url, APIKey},
	shape{"sq0csp-", 40, 0, base64url, Secret},
	shape{"secret_", 40, 0, alnum, APIKey},
	shape{"ntn_", 40, 0, alnum, APIKey},
	shape{"figd_", 40, 0, base64url, APIKey},
)

func byFirst(list ...shape) *[256][]shape {
	var by [256][]shape
	for _, s := range list {
		by[s.prefix[0]] = append(by[s.prefix[0]], s)
	}
	return &by
}

// maxInspected is the number of bytes of a token that are inspected. Longer tokens exist, but so do
// repetitions of a token's beginning.
const maxInspected = 512

// knownToken returns the kind and end of the token at i; the end is i if none begins there.
func knownToken(s string, i int) (kind string, end int) {
	for _, sh := range shapes[s[i]] {
		if !strings.HasPrefix(s[i:], sh.prefix) {
			continue
		}
		if end := sh.end(s, i+len(sh.prefix)); end > i {
			return sh.kind, end
		}
	}
	if end := jwt(s, i); end > i {
		return Token, end
	}
	if end := prefixedToken(s, i); end > i {
		return APIKey, end
	}
	return "", i
}

// prefixedToken returns the end of the token at i, or i: one or two short words in small letters, each with "_" behind it, and 20
// or more letters of both cases among digits. One of the words says that it is a token. Ids of objects have other words, and
// identifiers few changes between letters and digits.
func prefixedToken(s string, i int) int {
	body, secret := i, false
	for range 2 {
		n := run(s[:min(len(s), body+9)], body, lowerLetters) - body
		if n < 2 || n > 8 || body+n >= len(s) || s[body+n] != '_' {
			break
		}
		secret = secret || tokenWords[s[body:body+n]]
		body += n + 1
	}
	if !secret {
		return i
	}
	end := run(s[:min(len(s), body+maxInspected)], body, alnum)
	lower, upper, changes := false, false, 0
	for j := body; j < end; j++ {
		lower, upper = lower || lowerLetters[s[j]], upper || s[j] >= 'A' && s[j] <= 'Z'
		if j > body && digits[s[j]] != digits[s[j-1]] {
			changes++
		}
	}
	if end-body < 20 || !lower || !upper || changes < 6 || !wordEndsAt(s, end) {
		return i
	}
	signature := s[end:run(s[:min(len(s), end+maxInspected)], end, dotted)]
	return end + len(strings.TrimRight(signature, ".-"))
}

// tokenWords are words of prefixes of tokens.
var tokenWords = map[string]bool{
	"access": true, "api": true, "apikey": true, "at": true, "auth": true, "key": true, "live": true, "pat": true, "pk": true, "rt": true,
	"refresh": true, "secret": true, "sk": true, "tok": true, "token": true,
}

// licenceKey returns the end of the key at i, or i: four or more groups of four to six capital letters and digits with dashes
// between them, most of them with both. Groups of one pattern are codes, such as numbers of flights. Near a word for a licence
// three groups are enough.
func licenceKey(s string, i int) int {
	groups, mixed, same, end := 0, 0, true, i
	first := 0 // the pattern of the first group
	for at := i; groups < 12; at = end + 1 {
		pattern := 1 // and a bit for each byte, 1 for a digit
		for end = at; end < len(s) && end-at < 7 && (digits[s[end]] || s[end] >= 'A' && s[end] <= 'Z'); end++ {
			if pattern <<= 1; digits[s[end]] {
				pattern++
			}
		}
		n := end - at
		if n < 4 || n > 6 {
			return i
		}
		if groups == 0 {
			first = pattern
		}
		groups, same = groups+1, same && pattern == first
		if letters, numbers := 1<<n, 1<<(n+1)-1; pattern != letters && pattern != numbers {
			mixed++
		}
		if end == len(s) || s[end] != '-' {
			break
		}
	}
	bitLocker := end-i == 8*6+7 && groups == 8 && strings.Trim(s[i:end], "0123456789-") == "" // its recovery key
	if !bitLocker && (groups < 3 || same || mixed*4 < groups*3 || groups == 3 && !aboutLicence(s, i)) || !wordEndsAt(s, end) {
		return i
	}
	return end
}

// aboutLicence reports whether the text before i is about a licence.
func aboutLicence(s string, i int) bool {
	near := before(s, i, 64)
	return slices.ContainsFunc([]string{"licen", "lizenz", "product key", "gift card", "voucher"},
		func(w string) bool { return strings.Contains(near, w) })
}

// end returns the end of the token whose prefix ends at i, or 0.
func (sh shape) end(s string, i int) int {
	head := s[i:min(len(s), i+maxInspected)]
	head = head[:run(head, 0, sh.set)]
	whole := len(head) < maxInspected
	if whole {
		head = strings.TrimRight(head, ".-")
	}
	if len(head) < sh.least || sh.most > 0 && len(head) > sh.most || whole && !wordEndsAt(s, i+len(head)) || !random(head) {
		return 0
	}
	if whole {
		return i + len(head)
	}
	return run(s, i, sh.set)
}

// jwt returns the end of the JSON Web Token at i, or i: an object in base64, a dot, and more
// base64. The signature may be missing.
func jwt(s string, i int) int {
	if !strings.HasPrefix(s[i:], "eyJ") {
		return i
	}
	end := i + run(s[i:min(len(s), i+4*maxInspected)], 0, base64url)
	if end-i < 12 || end == len(s) || s[end] != '.' {
		return i
	}
	second := end + 1
	end = run(s, second, base64url)
	if end-second < 8 && !strings.HasPrefix(s[end:], "..") {
		return i
	}
	return second + len(strings.TrimRight(s[second:run(s, second, dotted)], "."))
}

// random reports whether a token looks random: it has letters and digits, and does not repeat a few
// characters as a placeholder does.
func random(s string) bool {
	var seen byteSet
	kinds, digit, letter := 0, false, false
	for i := range len(s) {
		c := s[i]
		digit = digit || digits[c]
		letter = letter || alnum[c] && !digits[c]
		if !seen[c] {
			seen[c] = true
			kinds++
		}
	}
	return digit && letter && kinds >= min(8, len(s)*2/3)
}

// awsPair redacts the secret key near an AWS key id that ends at end. It has no prefix, but always
// 40 characters.
func (p *scanner) awsPair(start, end int) {
	if !strings.HasPrefix(p.s[start+1:], "KIA") && !strings.HasPrefix(p.s[start+1:], "SIA") {
		return
	}
	for i := end; i < min(len(p.s), end+80) && p.s[i] != '['; {
		if !base64std[p.s[i]] || p.s[i] == '=' {
			i++
			continue
		}
		j := run(p.s, i, base64std)
		if j-i == 40 && random(p.s[i:j]) {
			p.add(APIKey, i, j)
			return
		}
		i = j
	}
}

const pemBegin = "-----BEGIN "

// pemMax is the longest body of a key in bytes.
const pemMax = 1 << 16

// pem redacts a private key block, complete or not, and returns where the scan continues.
func (p *scanner) pem(i int) int {
	s := p.s
	label := i + len(pemBegin)
	dashes := strings.Index(s[label:min(len(s), label+60)], "-----")
	if dashes < 0 || !strings.Contains(s[label:label+dashes], "PRIVATE KEY") {
		return label
	}
	body := label + dashes + len("-----")
	rest := s[body:min(len(s), body+pemMax)]
	if end := strings.Index(rest, "-----"); end >= 0 && strings.HasPrefix(rest[end:], "-----END ") {
		at := end + len("-----END ")
		if last := strings.Index(rest[at:min(len(rest), at+60)], "-----"); last >= 0 {
			p.add(PrivateKey, i, body+at+last+len("-----"))
			return body + at + last + len("-----")
		}
	}
	if next := strings.Index(rest, "-----"); next >= 0 {
		rest = rest[:next]
	}
	end := body + len(strings.TrimRight(rest[:keyText(rest)], " \t\r\n>\"'\\"))
	p.add(PrivateKey, i, end)
	return end
}

// keyText returns the length of the lines at the start of s that can belong to a key without an end
// line: base64, with quotes and escapes.
func keyText(s string) int {
	end := 0
	for end < len(s) {
		line, _, _ := strings.Cut(s[end:], "\n")
		if body := strings.Trim(line, " \t\r>\"'\\n,+"); run(body, 0, keyByte) != len(body) || len(body) > 0 &&
			len(body) < 16 && !strings.Contains(body, "=") {
			break
		}
		end = min(len(s), end+len(line)+1)
	}
	return end
}

var keyByte = setOf("a-zA-Z0-9+/=\\")
