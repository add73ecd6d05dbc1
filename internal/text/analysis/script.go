package analysis

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// stem reduces a folded word in place by the rules of its script.
func stem(b []byte) []byte {
	if len(b) == 0 || b[0] < utf8.RuneSelf {
		for _, c := range b {
			if !small(c) {
				return b
			}
		}
		return porter(b)
	}
	switch r, _ := utf8.DecodeRune(b); {
	case unicode.Is(unicode.Cyrillic, r):
		return stemCyrillic(b)
	case unicode.Is(unicode.Arabic, r):
		return stemArabic(b)
	}
	return b
}

// The endings follow J. Savoy's light stemmers (UniNE), longest first. Each
// letter of the Cyrillic and Arabic lists takes two bytes.
var (
	cyrillicEndings = byLastByte("иями оями оиев ями ами ого его ому ему ыми ими иях ией иям ием ев ов ие ье еи ии ой " +
		"ий ей ям ем ам ом ах ях ую юю ая яя ое ее ые ый ых их ым им ия ья ию ью а е и й о у ы ь ю я")
	arabicPrefixes = split("وال بال كال فال لل ال")
	arabicEndings  = split("ها ان ات ون ين يه ه ي")
)

func byLastByte(s string) (table [256][][]byte) {
	for _, end := range split(s) {
		last := end[len(end)-1]
		table[last] = append(table[last], end)
	}
	return table
}

func split(s string) [][]byte { return bytes.Fields([]byte(s)) }

// stemCyrillic removes an inflectional ending if at least three letters remain.
func stemCyrillic(b []byte) []byte {
	b = mapRunes(b, func(r rune) rune {
		if r == 'ё' {
			return 'е'
		}
		return r
	})
	for _, end := range cyrillicEndings[b[len(b)-1]] {
		if bytes.HasSuffix(b, end) && utf8.RuneCount(b)-len(end)/2 >= 3 {
			b = b[:len(b)-len(end)]
			break
		}
	}
	if bytes.HasSuffix(b, []byte("нн")) {
		b = b[:len(b)-len("н")]
	}
	return b
}

// stemArabic removes vowel points and the stretching sign and unifies the variants of three
// letters. It removes article, conjunction and suffixes if at least two letters remain.
func stemArabic(b []byte) []byte {
	b = mapRunes(b, foldArabic)
	b = trimArabicPrefix(b)
	for _, end := range arabicEndings {
		if bytes.HasSuffix(b, end) && utf8.RuneCount(b)-len(end)/2 >= 2 {
			b = b[:len(b)-len(end)]
		}
	}
	return b
}

func trimArabicPrefix(b []byte) []byte {
	n := utf8.RuneCount(b)
	for _, p := range arabicPrefixes {
		if bytes.HasPrefix(b, p) && n-len(p)/2 >= 2 {
			return b[len(p):]
		}
	}
	if n >= 4 {
		return bytes.TrimPrefix(b, []byte("و"))
	}
	return b
}

func foldArabic(r rune) rune {
	switch {
	case 0x064b <= r && r <= 0x065f, r == 0x0670, r == 0x0640:
		return -1
	case r == 'إ', r == 'أ', r == 'آ':
		return 'ا'
	case r == 'ى':
		return 'ي'
	case r == 'ة':
		return 'ه'
	}
	return r
}

// mapRunes applies f in place. f must not return a rune of more bytes; a negative result drops the
// rune. A word that would become empty stays unchanged.
func mapRunes(b []byte, f func(rune) rune) []byte {
	keep := 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if f(r) >= 0 {
			keep++
		}
		i += size
	}
	if keep == 0 {
		return b
	}
	out := b[:0]
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		i += size
		if m := f(r); m >= 0 {
			out = utf8.AppendRune(out, m)
		}
	}
	return out
}
