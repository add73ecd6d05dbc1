package tokens

// The splitters below implement the published patterns by hand. Each looks at a rune at most a
// small, fixed number of times; a backtracking engine takes microseconds per piece. Alternatives
// are tried in the order of the pattern. Where the pattern would backtrack, a comment explains why
// one step is enough.

// cl100k splits as
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func (t *classes) cl100k(s string, i int) int {
	if n := contraction(s, i); n > 0 {
		return i + n
	}
	c, n := t.at(s, i)
	switch {
	case c&letter != 0:
		return t.skip(s, i+n, letter)
	case c&number != 0:
		return t.number(s, i)
	case c&newline == 0:
		if end := t.skip(s, i+n, letter); end > i+n {
			return end
		}
	}
	return t.rest(s, i, newline)
}

// o200k splits as
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
//	\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
func (t *classes) o200k(s string, i int) int {
	c, n := t.at(s, i)
	if c&number != 0 {
		return t.number(s, i)
	}
	if end := t.word(s, i, c, n); end > i {
		return end + contraction(s, end)
	}
	return t.rest(s, i, newline|slash)
}

// word returns the end of a match of the first two alternatives of o200k, before the contraction.
// It returns i if there is no match.
func (t *classes) word(s string, i int, c class, n int) int {
	start := i
	if c&(letter|newline) == 0 {
		start += n
	}
	if end := t.cased(s, start); end > start {
		return end
	}
	// A mark can be part of the word instead of the character before it, and the first alternative
	// has priority.
	if start > i && c&lower != 0 {
		if end := t.cased(s, i); end > i {
			return end
		}
	}
	// The first alternative failed, so no lower follows these.
	if end := t.skip(s, start, upper); end > start {
		return end
	}
	return i
}

// cased matches upper*lower+ at i and returns its end, or i. If no lower follows the uppers, the
// pattern backtracks to the last upper that is also a lower, so the match ends there.
func (t *classes) cased(s string, i int) int {
	end := i // end of the last rune that is both
	j := i
	for {
		c, n := t.at(s, j)
		if c&upper == 0 {
			break
		}
		j += n
		if c&lower != 0 {
			end = j
		}
	}
	if k := t.skip(s, j, lower); k > j {
		return k
	}
	return end
}

// contraction returns the length of (?i:'s|'t|'re|'ve|'m|'ll|'d) at i, or 0. Only ASCII case is
// folded.
func contraction(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return 0
	}
	a := s[i+1] | 0x20
	switch a {
	case 's', 't', 'm', 'd':
		return 2
	}
	if i+2 >= len(s) {
		return 0
	}
	b := s[i+2] | 0x20
	if b == 'e' && (a == 'r' || a == 'v') || a == 'l' && b == 'l' {
		return 3
	}
	return 0
}

// number matches \p{N}{1,3}.
func (t *classes) number(s string, i int) int {
	for range 3 {
		c, n := t.at(s, i)
		if c&number == 0 {
			break
		}
		i += n
	}
	return i
}

// rest matches " ?[^\s\p{L}\p{N}]+" followed by runes of the class tail, otherwise the alternatives
// for whitespace.
func (t *classes) rest(s string, i int, tail class) int {
	start := i
	if s[i] == ' ' {
		start++
	}
	if end := t.skip(s, start, other); end > start {
		return t.skip(s, end, tail)
	}
	return t.blank(s, i)
}

// blank matches \s*[\r\n]+|\s+(?!\S)|\s+. It returns the end of the last newline; without one, the
// end of the text; otherwise all but the last rune, which belongs to the next piece; a single rune
// is matched alone.
func (t *classes) blank(s string, i int) int {
	var last, lastLine int
	end := i
	for {
		c, n := t.at(s, end)
		if c&space == 0 {
			break
		}
		last = end
		end += n
		if c&newline != 0 {
			lastLine = end
		}
	}
	switch {
	case lastLine > 0:
		return lastLine
	case end == len(s) || last == i:
		return end
	}
	return last
}
