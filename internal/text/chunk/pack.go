package chunk

// packer packs the atoms of consecutive sections into chunks.
type packer struct {
	atomizer
	chunks []Chunk
	at     Pos // end of the last chunk
}

// flush makes chunks of the current section and starts a new one.
func (p *packer) flush(heading []string) {
	atoms := p.atoms
	from := len(p.chunks) // first chunk of the section
	prev := 0             // first atom of the last chunk
	for i := 0; i < len(atoms); {
		j := p.end(atoms, i)
		if j == len(atoms) && len(p.chunks) > from && p.joins(atoms, prev, i) {
			p.chunks = p.chunks[:len(p.chunks)-1]
			p.at = startOf(p.chunks)
			i = prev
		}
		p.emit(atoms[i].start, atoms[j-1].end, heading)
		prev, i = i, j
	}
	p.atoms = atoms[:0]
}

// joins reports whether the atoms from i on are too few for a chunk and fit into the previous one,
// which begins at prev.
func (p *packer) joins(atoms []atom, prev, i int) bool {
	limit := min(p.opts.TargetChars+p.opts.TargetChars/4, p.opts.MaxChars)
	return p.tiny(size(atoms[i:])) && size(atoms[prev:]) <= limit
}

// tiny reports whether n characters are too few for a chunk.
func (p *packer) tiny(n int) bool { return n < p.opts.TargetChars/4 }

// end returns the index after the last atom of the chunk that begins at atom i.
func (p *packer) end(atoms []atom, i int) int {
	j := i + 1
	for j < len(atoms) {
		n := size(atoms[i : j+1])
		// A tiny chunk, such as a heading, is joined with the next atom.
		if n > p.opts.TargetChars && (n > p.opts.MaxChars || !p.tiny(size(atoms[i:j]))) {
			break
		}
		j++
	}
	if j == len(atoms) {
		return j
	}
	best := j
	for k := j - 1; k > i && size(atoms[i:k]) >= p.opts.TargetChars/2; k-- {
		if atoms[k-1].after > atoms[best-1].after {
			best = k
		}
	}
	return best
}

// size is the length of a run of atoms in code points.
func size(atoms []atom) int { return atoms[len(atoms)-1].runeEnd - atoms[0].runeStart }

func (p *packer) emit(start, end int, heading []string) {
	c := Chunk{Ordinal: len(p.chunks), Heading: heading, Text: p.text[start:end]}
	c.Start = advance(p.text, p.at, start)
	c.End = advance(p.text, c.Start, end)
	p.at = c.End
	p.chunks = append(p.chunks, c)
}

// startOf returns the end of the last chunk, where position counting continues.
func startOf(chunks []Chunk) Pos {
	if len(chunks) == 0 {
		return Pos{Line: 1}
	}
	return chunks[len(chunks)-1].End
}
