package facts

import (
	"iter"
	"slices"
	"strings"
	"unicode"
)

// Keys returns the beginnings of the content words of a text, its topics, and the forms of its values, in order. Instruction says
// that it addresses the assistant. It takes a tenth of the time of [ReadStatements]. See [Comparable].
func Keys(content string, instruction bool) []string {
	var out []string
	if instruction {
		out = append(out, orderKey)
	}
	var before string
	var ws []token
	add := func(f []byte, capital bool, sign byte, money bool) {
		w := strings.Trim(string(f), "'")
		if w != "" && w[0] > '9' && isContent(w) && !currencies[w] {
			out = append(out, key(stem(w)))
		}
		if topic := topicOf(before, w); topic != "" {
			out = append(out, "*"+topic)
		}
		if diets[w] != "" || foodKinds[w] != "" {
			out = append(out, "#diet")
		} else if freezing[w] {
			out = append(out, "#freeze")
		}
		if topic, ok := topicWords[w]; ok {
			out = append(out, "#"+topic)
		} else if capital && employing[before] || w == "started" || trained[w] || len(w) > 5 && hasAnySuffix(w, tradeEndings...) {
			out = append(out, "#work")
		} else if homeNouns[w] {
			out = append(out, "#home")
		}
		if before = w; w != "" {
			ws = append(ws, token{w, sign, money})
		}
	}
	var word []byte
	capital, money := false, false // money: the sign of a currency stands before the word
	var sign, last byte = ' ', ' ' // before the word, and before the current sign
	for _, r := range content {
		c := fold(r)
		if currencySign(r) {
			c = '$'
		}
		if !inWord(c) {
			if len(word) > 0 {
				add(word, capital, sign, money)
				last = 0
			}
			if c == '$' && len(ws) > 0 && (last == 0 || last == ' ') {
				ws[len(ws)-1].money = true // "29 €"
			}
			money = c == '$'
			if word = word[:0]; last == 0 {
				sign = c
			} else {
				sign = ' '
			}
			last = c
			continue
		}
		if len(word) == 0 {
			capital = unicode.IsUpper(r)
		}
		word = append(word, c)
	}
	if len(word) > 0 {
		add(word, capital, sign, money)
	}
	number := 0 // the index behind the last number
	for i := range ws {
		if form := formOf(ws, i); form != "" {
			out = append(out, form)
		}
		if i >= number && ws[i].f[0] <= '9' {
			var whole string
			whole, number = wholeNumber(ws, i)
			out = append(out, key(whole))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// key returns the beginning of a stem, or a form as it is.
func key(stem string) string {
	if strings.HasPrefix(stem, "@") {
		return stem
	}
	return stem[:min(len(stem), 5)]
}

// orderKey is the key of texts that address the assistant.
const orderKey = "!"

// Comparable reports whether two texts with the given keys may change each other: they share a key. The form of a value counts only
// if one known text has it, unless it is a class of names; otherwise each price would be compared with all prices. Topics of a
// wish ("*money") count only if one of the texts addresses the assistant. Two that address it are compared anyway.
func Comparable(a, b []string, common func(string) bool) bool {
	i := 0
	for _, k := range a {
		for i < len(b) && b[i] < k {
			i++
		}
		if i == len(b) || b[i] != k {
			continue
		}
		switch k[0] {
		case '@':
			if isClass(k) || !common(k) {
				return true
			}
		case '*':
			if a[0] == orderKey || b[0] == orderKey {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// Common returns a function that reports whether more than one of some texts with the given keys has a word.
func Common(keys iter.Seq[[]string]) func(stem string) bool {
	count := map[string]int{}
	for ks := range keys {
		for _, k := range ks {
			count[k]++
		}
	}
	return func(stem string) bool { return count[key(stem)] > 1 }
}
