package redact

import "strings"

// group is one group of digits of a number.
type group struct{ start, end int }

// number inspects the digits text[i:j] and returns where the scan continues.
func (p *scanner) number(i, j int) int {
	if run(p.s, i, digits) != j {
		return j
	}
	if end := p.ssn(i, j); end > i {
		p.add(SSN, i, end)
		return end
	}
	if end := botToken(p.s, i, j); end > i {
		p.add(Token, i, end)
		return end
	}
	if end := card(p.s, i, j); end > i {
		p.add(CardNumber, i, end)
		if a, b := cardCode(p.s, end); b > a {
			p.add(CardCode, a, b)
			return b
		}
		return end
	}
	return j
}

// botToken returns the end of a Telegram bot token, or i if none is found.
func botToken(s string, i, j int) int {
	if j-i < 8 || j-i > 10 || j >= len(s) || s[j] != ':' {
		return i
	}
	end := run(s, j+1, base64url)
	if end-j-1 != 35 || !random(s[j+1:end]) {
		return i
	}
	return end
}

// ssn returns the end of the US social security number at i, or i if none is found or the text does
// not name it.
func (p *scanner) ssn(i, j int) int {
	s := p.s
	if j-i != 3 || len(s) < i+11 || s[i] == '9' || s[i:j] == "000" || s[i:j] == "666" {
		return i
	}
	sep := s[j]
	if sep != '-' && sep != ' ' || run(s, j+1, digits) != j+3 || s[j+3] != sep || run(s, j+4, digits) != j+8 || !wordEndsAt(s, j+8) {
		return i
	}
	if s[j+1:j+3] == "00" || s[j+4:j+8] == "0000" {
		return i
	}
	for _, near := range []string{before(s, i, 64), after(s, j+8, 32)} {
		if strings.Contains(near, "ssn") || strings.Contains(near, "social security") || strings.Contains(near, "social-security") {
			return j + 8
		}
	}
	return i
}

// maxGroups is the largest number of digit groups of a card number.
const maxGroups = 6

// card returns the end of the card number whose first digits are text[i:j], or i if none is found.
func card(s string, i, j int) int {
	if j-i > 19 || s[i] < '2' || s[i] > '8' {
		return i
	}
	groups := make([]group, 0, maxGroups)
	var number [19]byte
	first, n, lines, markedUp := i, 0, 0, false
	for {
		if n+j-i > len(number) || len(groups) == maxGroups {
			return first
		}
		groups = append(groups, group{i, j})
		n += copy(number[n:], s[i:j])
		if n >= 13 && cardMayEnd(s, j) && plausible(s, groups, number[:n], markedUp, lines) && cardMayStart(s, groups[0].start) {
			return j
		}
		next, line, markup := separator(s, j)
		if next == j {
			return first
		}
		if line {
			lines++
		}
		markedUp = markedUp || markup
		i, j = next, run(s, next, digits)
	}
}

// cardMayStart rejects digits that continue something: a decimal, a path, a phone number, an order
// number.
func cardMayStart(s string, i int) bool {
	if i == 0 {
		return true
	}
	switch c := s[i-1]; c {
	case '/', '+', '#', '\\', '@':
		return false
	case '.', ',', '-', ':':
		if i > 1 && (alnum[s[i-2]] && c != ':' || digits[s[i-2]]) {
			return false
		}
	}
	preceding := strings.TrimRight(before(s, i, 24), " \t:=#\"'.-")
	preceding = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(preceding, "number"),
		"nr"), "no"), " \t:=#\"'.-_")
	for _, w := range []string{
		"order", "invoice", "tracking", "ticket", "isbn", "bestellnummer", "rechnung",
		"pedido", "commande", " id", "_id",
	} {
		if strings.HasSuffix(preceding, w) {
			return false
		}
	}
	return preceding != "id"
}

// cardMayEnd rejects digits that go on: a decimal, a path, a date. Two to four digits behind a slash are an expiry date
// or a card code.
func cardMayEnd(s string, j int) bool {
	if !wordEndsAt(s, j) {
		return false
	}
	if j < len(s) && s[j] == '/' {
		if end := run(s, j+1, digits); end-j >= 3 && end-j <= 5 && wordEndsAt(s, end) {
			return true
		}
	}
	if j+1 < len(s) && (s[j] == '.' || s[j] == '-' || s[j] == '/' || s[j] == ',') {
		return !alnum[s[j+1]]
	}
	return true
}

// separator returns the start of the next digits if a card number may contain the text between: one
// space or dash, one line end with indentation, emphasis, tags. Otherwise it returns j.
func separator(s string, j int) (next int, line, markup bool) {
	const most = 40
	i := j
	for i < len(s) && i-j <= most && !digits[s[i]] {
		switch c := s[i]; {
		case c == '\n':
			if line {
				return j, false, false
			}
			line = true
		case c == ' ', c == '-', c == '\t', c == '\r':
		case c == '*', c == '_', c == '`', c == '\\', line && (c == '>' || c == '|' || c == '#'):
			markup = true
		case c == '<':
			end := strings.IndexByte(s[i:min(len(s), i+most)], '>')
			if end < 0 {
				return j, false, false
			}
			markup = true
			i += end
		case strings.HasPrefix(s[i:], "&nbsp;"):
			i += len("&nbsp;") - 1
		case c >= 0x80 && blanks(s, i) > i:
			i = blanks(s, i) - 1
		default:
			return j, false, false
		}
		i++
	}
	if i == len(s) || i == j || i-j > most {
		return j, false, false
	}
	if line || markup || i == j+1 || i == j+runeLen(s, j) || s[j:i] == "&nbsp;" {
		return i, line, markup
	}
	return j, false, false
}

// plausible reports whether the digits and their grouping are typical of a card.
func plausible(s string, groups []group, number []byte, markedUp bool, lines int) bool {
	lengths := make([]byte, len(groups))
	for i, g := range groups {
		lengths[i] = byte('0' + min(9, g.end-g.start))
	}
	usual := false
	switch string(lengths) {
	case "4444", "465", "464", "44443":
		usual = lines <= 1
	case "9":
		usual = len(number) == 15 || len(number) == 16
	}
	if !issued(number) || !luhn(number) {
		return false
	}
	if usual && (!markedUp || len(groups) > 1) {
		return true
	}
	end := groups[len(groups)-1].end
	return saysCard(before(s, groups[0].start, 48)) || saysCard(after(s, end, 32))
}

func saysCard(near string) bool {
	for _, w := range []string{
		"card", "visa", "amex", "american express", "diners", "maestro", "karte", "tarjeta", "carte", "cvv",
		"cvc",
	} {
		if strings.Contains(near, w) {
			return true
		}
	}
	return false
}

// issued reports whether a card issuer uses numbers of this prefix and length.
func issued(n []byte) bool {
	p := 0
	for _, c := range n[:6] {
		p = p*10 + int(c-'0')
	}
	p4, p3, p2, size := p/100, p/1000, p/10000, len(n)
	switch {
	case p2/10 == 4: // Visa
		return size == 13 || size == 16 || size == 19
	case p2 >= 51 && p2 <= 55, p4 >= 2221 && p4 <= 2720: // Mastercard
		return size == 16
	case p2 == 34, p2 == 37: // American Express
		return size == 15
	case p4 == 6011, p3 >= 644 && p3 <= 649, p2 == 65: // Discover, RuPay
		return size == 16 || size == 19
	case p4 >= 3528 && p4 <= 3589: // JCB
		return size == 16 || size == 19
	case p3 >= 300 && p3 <= 305, p3 == 309, p2 == 36, p2 == 38, p2 == 39: // Diners
		return size == 14 || size == 16
	case p2 == 62, p2 == 81: // UnionPay
		return size >= 16
	case p4 >= 2200 && p4 <= 2204: // Mir
		return size >= 16
	case p2 == 50, p2 >= 56 && p2 <= 58, p2 == 60, p2 == 63, p2 == 67: // Maestro, Verve
		return size == 13 || size == 16 || size >= 18
	}
	return false
}

// luhn verifies the checksum of ISO/IEC 7812.
func luhn(n []byte) bool {
	sum := 0
	for i, c := range n {
		d := int(c - '0')
		if (len(n)-i)%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// cardCode returns the bounds of the card code after a card number that ends at i: three or four digits after an expiry date, or
// after a slash if they are no expiry date themselves.
func cardCode(s string, i int) (start, end int) {
	skip := func(i int) int {
		for i < len(s) && strings.IndexByte(" ,;|/:.-\t", s[i]) >= 0 {
			i++
		}
		return i
	}
	i = skip(i)
	if w, ok := hasPrefixFold(s, i, "expiry", "expires", "exp", "valid thru"); ok {
		i = skip(i + len(w))
	}
	month := run(s, i, digits)
	noDate := month-i == 3 || month-i == 4 && (s[i:i+2] > "12" || s[i:i+2] == "00")
	if noDate && strings.HasSuffix(strings.TrimRight(s[:i], " "), "/") && wordEndsAt(s, month) {
		return i, month
	}
	if month-i < 1 || month-i > 2 || month == len(s) || s[month] != '/' && s[month] != '-' {
		return 0, 0
	}
	year := run(s, month+1, digits)
	if n := year - month - 1; n != 2 && n != 4 {
		return 0, 0
	}
	start = skip(year)
	end = run(s, start, digits)
	if n := end - start; start == year || n < 3 || n > 4 || !wordEndsAt(s, end) {
		return 0, 0
	}
	return start, end
}

// ibanLength maps a country to the length of its account numbers (ISO 13616).
var ibanLength = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28, "CH": 21,
	"CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27,
	"GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26,
	"IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24,
	"ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29,
	"RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24,
	"TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}

// iban returns the end of the account number whose first characters are text[i:j], or i if there is
// none. Single spaces and dashes may separate its groups.
func iban(s string, i, j int) int {
	if j-i < 4 || !digits[s[i+2]] || !digits[s[i+3]] || digits[s[i]] || digits[s[i+1]] {
		return i
	}
	left := ibanLength[strings.ToUpper(s[i:i+2])]
	if left == 0 {
		return i
	}
	number := make([]byte, 0, left)
	at := i
	for ; len(number) < left; at++ {
		switch {
		case at == len(s):
			return i
		case alnum[s[at]]:
			number = append(number, s[at])
		case at+1 < len(s) && alnum[s[at+1]] && (s[at] == ' ' || s[at] == '-') && len(number) >= 4:
		case strings.HasPrefix(s[at:], "\u00a0"):
			at++ // two bytes long
		default:
			return i
		}
	}
	if !wordEndsAt(s, at) || !mod97(number) {
		return i
	}
	return at
}

// mod97 verifies the checksum of ISO 7064, with the first four characters moved to the end.
func mod97(number []byte) bool {
	rest := 0
	for i := range number {
		switch c := number[(i+4)%len(number)] | 0x20; {
		case c >= 'a' && c <= 'z':
			rest = (rest*100 + int(c-'a') + 10) % 97
		default:
			rest = (rest*10 + int(c&0xf)) % 97
		}
	}
	return rest == 1
}
