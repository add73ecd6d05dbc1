package redact

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	goflag "flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	trainTo    = goflag.String("train", "", "file to write the weights to: weights.bin")
	folds      = goflag.Int("folds", 0, "number of parts of the cross-validation")
	vocabulary = goflag.String("vocabulary", "", "list of train/vocabulary.py to write vocabulary.bin from")
)

// commonRank is the rank of the first word that is not common.
const commonRank = 6_000

// TestWriteVocabulary writes vocabulary.bin, the filters of the common and of all words of a list of train/vocabulary.py.
func TestWriteVocabulary(t *testing.T) {
	if *vocabulary == "" {
		t.Skip("only with -vocabulary FILE")
	}
	f, err := os.Open(*vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	common, known := make([]byte, commonBits/8), make([]byte, knownBits/8)
	for s := bufio.NewScanner(f); s.Scan(); {
		rank, w := 0, ""
		if _, err := fmt.Sscan(s.Text(), &rank, &w); err != nil || len(w) < 3 {
			continue
		}
		for _, filter := range [...][]byte{known, common} {
			for k := range uint32(filterHashes) {
				at := mix(part(w), k) % uint32(len(filter)*8)
				filter[at/8] |= 1 << (at % 8)
			}
			if rank >= commonRank {
				break
			}
		}
	}
	if err := os.WriteFile("vocabulary.bin", append(common, known...), 0o644); err != nil {
		t.Fatal(err)
	}
}

// trainText is a text with its secrets.
type trainText struct {
	group   string // texts of one group are in one part of the cross-validation
	head    string // the words for a secret that the text before is about
	text    string
	secrets [][2]int // the bounds in text
	values  []string
	weight  float64
	counts  bool // in the cross-validation
	alarm   bool // is a text without a secret
	corpus  string
	held    bool // is measured, and never trained with
}

// before cuts what was said before from a line.
func (x *trainText) before(line string) string {
	if rest, ok := strings.CutPrefix(line, "A > "); ok {
		said, rest, _ := strings.Cut(rest, " > ")
		x.head = Head(said)
		x.group = x.corpus + said
		return rest
	}
	return line
}

// find sets the bounds of the values.
func (x *trainText) find(values []string) {
	at := 0
	for _, v := range values {
		n := strings.Index(x.text[at:], v)
		if n < 0 {
			if n = strings.Index(x.text, v); n < 0 {
				continue
			}
			at = 0
		}
		x.secrets = append(x.secrets, [2]int{at + n, at + n + len(v)})
		x.values = append(x.values, v)
		at += n + len(v)
	}
	slices.SortFunc(x.secrets, func(a, b [2]int) int { return a[0] - b[0] })
}

var nounsForValues = strings.Fields(`lantern pelican walnut harbor velvet copper thistle marble otter willow barrel trumpet saddle candle meadow
	pepper cactus badger tunnel ribbon teapot rocket violin pickle anchor gravel turnip hammock puddle sparrow orchard kettle bishop tractor
	moss quartz raven cedar bramble tulip donut igloo jigsaw mango noodle oyster parsnip quilt radish salmon tomato umbrella walrus yogurt zebra
	winter summer river mountain blue green purple silver golden quiet happy brave lucky crimson hollow rusty lazy stormy frosty gentle wobbly
	apfel birne nebel stern lampe regen wolke kuchen fenster garten vogel winter sommer katze hund tisch stuhl baum wald fluss berg
	blume schnee honig brezel dackel hummel igel kessel laterne möhre nuss ofen pudel quark rübe socke tasse ufer wiese zwiebel
	girafe tortue nuage lune soleil fleur montagne rivage papillon citron fromage pomme cerise moutarde tambour chaussette libellule
	brume tonnerre violette bateau camion chapeau escargot fraise grenouille hibou
	naranja tambor nieve luna gato perro girasol cangrejo pulpo mariposa limón queso manzana caracol tormenta montaña río bosque
	almendro barco camello dragón espejo farola guitarra helado iglesia jirafa lechuza`)

// lettered reports whether v is spelled letter by letter.
func lettered(v string) bool {
	parts := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" ,.-", r) })
	for _, p := range parts {
		if len(p) > 1 {
			return false
		}
	}
	return len(parts) > 3
}

// isRow reports whether v is a row of nouns, such as the seed words of a wallet.
func isRow(v string) bool {
	fields := strings.Fields(v)
	for _, w := range fields {
		if w = strings.ToLower(strings.Trim(w, ",-")); w != "" && (len(w) < 3 || lexicon()[w] != 0) {
			return false
		}
	}
	return len(fields) > 5
}

// drawn returns a value of the form of v for a text.
func drawn(r *rand.Rand, v, text string) string {
	noun := func() string { return nounsForValues[r.IntN(len(nounsForValues))] }
	title := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	fields := strings.Fields(v)
	n := countDigits(v)
	letters := strings.ContainsFunc(v, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x80 })
	numeral := len(fields) > 0
	for _, f := range strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == ',' || r == '-' }) {
		numeral = numeral && numerals[strings.ToLower(f)]
	}
	switch {
	case numeral:
		separator := []string{" ", "-", ", ", " "}[r.IntN(4)]
		words := strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == ',' || r == '-' })
		if n := len(words); n > 3 {
			r.Shuffle(n-1, func(i, j int) { words[i+1], words[j+1] = words[j+1], words[i+1] })
		}
		return strings.Join(words, separator)
	case lettered(v):
		separator := []string{" ", "-", ", ", ".", " "}[r.IntN(5)]
		var letters []string
		for range 4 + r.IntN(6) {
			letters = append(letters, string("abcdefghijklmnopqrstuvwxyzABCDEFGHKLMNPR0123456789"[r.IntN(50)]))
		}
		return strings.Join(letters, separator)
	case len(fields) > 2 && n == 0 && !isRow(v):
		switch r.IntN(6) {
		case 0:
			return v
		case 1:
			for i := range fields {
				if trimmed := strings.Trim(fields[i], ",."); len(trimmed) > 3 {
					fields[i] = strings.Replace(fields[i], trimmed, noun(), 1)
				}
			}
			return strings.Join(fields, " ")
		}
		return phrase(r, text)
	case len(fields) > 4 && n == 0 || n == 0 && strings.Count(v, ",") > 3:
		if len(fields) < 4 {
			fields = strings.Split(v, ",")
		}
		words := make([]string, len(fields))
		for i := range words {
			words[i] = noun()
		}
		return strings.Join(words, []string{" ", ", ", " ", " - ", ","}[r.IntN(5)])
	case n > 0 && !letters:
		b := []byte(v)
		for i, c := range b {
			if digits[c] {
				b[i] = byte('0' + r.IntN(10))
			}
		}
		return string(b)
	case len(fields) > 1 && n == 0:
		if r.IntN(4) == 0 {
			return v
		}
		for i := range fields {
			trimmed := strings.Trim(fields[i], ",.")
			if len(trimmed) > 3 {
				fields[i] = strings.Replace(fields[i], trimmed, noun(), 1)
			}
		}
		return strings.Join(fields, " ")
	case len(fields) > 1 || n > len(v)/3:
		return v
	}
	a, b := noun(), noun()
	for b == a {
		b = noun()
	}
	switch r.IntN(14) {
	case 0:
		return title(a)
	case 1:
		return a
	case 2:
		return a + "-" + b
	case 3:
		return fmt.Sprint(a, r.IntN(2030))
	case 4:
		return title(a) + fmt.Sprint(r.IntN(100))
	case 5:
		return title(a) + title(b)
	case 6:
		return a + "_" + b + fmt.Sprint(r.IntN(10))
	case 7:
		return a + "!" + b
	case 8:
		return a + "." + b
	case 9:
		return title(a) + b
	case 10:
		return a + "&" + b
	default:
		return a + b
	}
}

// synonyms are words that may stand for each other: in all sentences, and in those without a value.
var synonyms = [...][2][]string{
	{{"password", "pw", "pwd", "passwd", "passcode", "wifi password", "admin password"}, {"passphrase", "PIN", "pin", "secret"}},
	{{"Passwort", "Kennwort", "PW", "WLAN-Passwort", "Router-Kennwort"}, {"Passphrase", "PIN"}},
	{{"mot de passe", "mdp", "mot de passe du wifi"}, {"code PIN", "code secret"}},
	{{"contraseña", "clave", "contraseña del wifi"}, {"clave del banco"}},
	{{"PIN", "pin", "card pin", "pin code"}, {}},
	{{"door code", "gate code", "alarm code", "entry code"}, {}},
}

// reworded returns x with another word for the secret, and whether it has one.
func (x trainText) reworded(r *rand.Rand) (trainText, bool) {
	for _, k := range r.Perm(len(synonyms)) {
		words := synonyms[k][0]
		for _, w := range words[:min(2, len(words))] {
			at := strings.Index(x.text, w)
			if at < 0 || at > 0 && alnum[x.text[at-1]] || !wordEndsAt(x.text, at+len(w)) {
				continue
			}
			others := words
			if x.alarm {
				others = append(slices.Clone(words), synonyms[k][1]...)
			}
			other := others[r.IntN(len(others))]
			y := x
			y.counts, y.secrets, y.values, y.weight = false, nil, nil, x.weight/2
			y.text = x.text[:at] + other + x.text[at+len(w):]
			for _, b := range x.secrets {
				if b[0] < at+len(w) && b[1] > at {
					return x, false
				}
				d := 0
				if b[0] > at {
					d = len(other) - len(w)
				}
				y.secrets = append(y.secrets, [2]int{b[0] + d, b[1] + d})
			}
			return y, other != w
		}
	}
	return x, false
}

// copies returns texts with other values, and one with the values removed.
func (x trainText) copies(r *rand.Rand, n int) (out []trainText) {
	if len(x.secrets) == 0 {
		return nil
	}
	render := func(value func(v string) string, label bool) trainText {
		y := x
		y.secrets, y.values, y.counts = nil, nil, false
		var b strings.Builder
		at := 0
		for _, s := range x.secrets {
			if s[0] < at {
				continue
			}
			b.WriteString(x.text[at:s[0]])
			start := b.Len()
			b.WriteString(value(x.text[s[0]:s[1]]))
			if label {
				y.secrets = append(y.secrets, [2]int{start, b.Len()})
			}
			at = s[1]
		}
		b.WriteString(x.text[at:])
		y.text = b.String()
		return y
	}
	for range n {
		y := render(func(v string) string { return drawn(r, v, x.text) }, true)
		y.weight = x.weight / float64(n)
		out = append(out, y)
	}
	y := render(func(string) string { return "[redacted: password]" }, false)
	y.weight = x.weight / 2
	return append(out, y)
}

type trainTurn struct {
	User      string   `json:"user"`
	Assistant string   `json:"assistant"`
	Secrets   []string `json:"secrets"`
}

type trainDialogue struct {
	ID    string      `json:"id"`
	Turns []trainTurn `json:"turns"`
}

func trainLines(t testing.TB, name string) (out []string) {
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\n"); line != "" && line[0] != '#' {
			out = append(out, strings.NewReplacer("⏎", "\n", "␉", "\t", "⍽", "\u00a0", "¦", "").Replace(line))
		}
	}
	return out
}

// isHeld holds the files that the weights are only measured with, and that nobody reads.
var isHeld = map[string]bool{"said_held.txt": true, "unsaid_held.txt": true, "messages_held.jsonl": true, "names_held.txt": true}

// trainTexts returns the texts to train with, and those held back.
func trainTexts(t testing.TB) (out []trainText) {
	for _, name := range []string{"wordings.txt", "wordings_loose.txt", "secrets.txt", "said.txt", "said_hard.txt", "said_held.txt"} {
		for n, line := range trainLines(t, name) {
			x := trainText{group: fmt.Sprint(name, n), weight: 1, counts: name != "secrets.txt", corpus: name}
			x.held = isHeld[name]
			line = x.before(line)
			for {
				head, rest, ok := strings.Cut(line, "⟦")
				x.text += head
				if !ok {
					break
				}
				v, rest, _ := strings.Cut(rest, "⟧")
				if name == "secrets.txt" {
					_, v, _ = strings.Cut(v, ":")
				}
				x.secrets = append(x.secrets, [2]int{len(x.text), len(x.text) + len(v)})
				x.values = append(x.values, v)
				x.text += v
				line = rest
			}
			out = append(out, x)
		}
	}
	for _, name := range []string{
		"talk.txt", "harmless.txt", "documentation.txt", "unsaid.txt", "unsaid_hard.txt", "unsaid_held.txt",
		"names.txt", "names_held.txt", "code.txt",
	} {
		for n, line := range trainLines(t, name) {
			x := trainText{group: fmt.Sprint(name, n), weight: 3, counts: name != "documentation.txt", alarm: true, corpus: name}
			x.held, x.text = isHeld[name], x.before(line)
			if name == "harmless.txt" || name == "names.txt" {
				x.weight = 6
			}
			out = append(out, x)
		}
	}
	for _, line := range trainLines(t, "paragraphs.txt") {
		file, para, _ := strings.Cut(line, ": ")
		out = append(out, trainText{group: file, text: para, weight: 1, alarm: true, corpus: "paragraphs.txt", counts: true})
	}
	files, _ := filepath.Glob("../../testdata/memory/dev/*.jsonl")
	for _, file := range files {
		out = append(out, dialogueTexts(t, file, "dev/"+filepath.Base(file))...)
	}
	for _, name := range messageFiles {
		out = append(out, dialogueTexts(t, "testdata/"+name, name)...)
	}
	out = append(out, turnTexts(t)...)
	r := rand.New(rand.NewPCG(1, 2))
	for _, x := range out {
		if x.held {
			continue
		}
		for range 2 {
			if y, ok := x.reworded(r); ok {
				out = append(out, y)
				if len(y.secrets) > 0 {
					out = append(out, y.copies(r, 1)...)
				}
			}
		}
		out = append(out, x.copies(r, 20)...)
		if x.alarm && x.head == "" && len(x.text) > 30 && strings.HasSuffix(x.corpus, ".jsonl") {
			y := x
			y.head, y.counts, y.weight = []string{
				"the password. ", "the PIN. ", "the login. ", "the password? ", "the box. ", "the box? ", "the phone. ", "to enter? ", "to enter. ",
				"the letters? ", "the phone? ",
			}[r.IntN(11)], false, 0.5
			out = append(out, y)
		}
	}
	slices.SortFunc(gridTexts, func(a, b trainText) int { return cmp.Compare(a.text, b.text) }) // they are made from maps
	for _, x := range gridTexts {
		out = append(out, x)
		if x.alarm || r.IntN(4) > 0 {
			continue
		}
		out = append(out, x.copies(r, 1)...)
	}
	return out
}

// messageFiles are messages to assistants, by authors who had seen neither the rules nor each other's texts.
var messageFiles = []string{"messages.jsonl", "messages_held.jsonl"}

// dialogueTexts returns the messages of a file of dialogues.
func dialogueTexts(t testing.TB, file, corpus string) (out []trainText) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var d trainDialogue
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		before := ""
		for _, u := range d.Turns {
			for _, m := range []string{u.User, u.Assistant} {
				if m == "" {
					continue
				}
				x := trainText{group: d.ID, text: m, weight: 1, head: Head(before), counts: true, corpus: corpus, held: isHeld[corpus]}
				x.find(u.Secrets)
				if x.alarm = len(u.Secrets) == 0; x.alarm {
					x.weight = 4
				}
				clean := m
				for _, v := range u.Secrets {
					clean = strings.ReplaceAll(clean, v, "[redacted: password]")
				}
				before = before[strings.LastIndexByte(before, '\n')+1:] + "\n" + clean
				if len(x.secrets) > 0 || x.alarm {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// turnTexts returns the messages of users that facts are learnt from, without those that have a word for a secret or a known form
// of one: nobody has labelled the secrets in them.
func turnTexts(t testing.TB) (out []trainText) {
	files, _ := filepath.Glob("../../testdata/extraction/train/*.jsonl")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			var turn struct {
				ID       string
				Messages []struct {
					Role    string
					Content any
				}
			}
			if err := json.Unmarshal([]byte(line), &turn); err != nil {
				t.Fatal(err)
			}
			for _, m := range turn.Messages {
				text, ok := m.Content.(string)
				s := scanner{s: text}
				if s.run(); !ok || m.Role != "user" || len(s.found) > 0 ||
					slices.ContainsFunc(s.topics, func(tp topic) bool { return !tp.c.isWeak() }) {
					continue
				}
				out = append(out, trainText{group: turn.ID, text: text, weight: 1, alarm: true, counts: true, corpus: "turns"})
			}
		}
	}
	return out
}

// TestMessages counts the secrets that stay in clear, and the harmless messages that are changed. messages.jsonl trains the
// weights. The other files are only measured, and nobody reads their misses.
func TestMessages(t *testing.T) {
	all := map[string]*figures{}
	for _, name := range messageFiles {
		for _, x := range dialogueTexts(t, "testdata/"+name, name) {
			measure(x, all, func(string, ...any) {})
		}
	}
	for _, line := range trainLines(t, "names_held.txt") {
		measure(trainText{text: line, alarm: true, corpus: "names_held.txt"}, all, func(string, ...any) {})
	}
	report(t, all)
	for name, most := range map[string][2]float64{"messages.jsonl": {.11, .01}, "messages_held.jsonl": {.39, .045}, "names_held.txt": {0, .035}} {
		f := all[name]
		if float64(f.leaks) > most[0]*float64(f.secrets) || float64(f.alarms) > most[1]*float64(f.harmless) {
			t.Errorf("%s: more leaks or false alarms than %v", name, most)
		}
	}
}

// gridTexts are the generated wordings of classes_test.go.
var gridTexts []trainText

// sequence is a passage for the training.
type sequence struct {
	gold   []bool
	fixed  []bool
	on     [][]int32 // features of words
	in     [][]int32 // of staying inside
	out    [][]int32 // of leaving
	weight float64
	group  string
}

// trainer collects the features of passages, and fits their weights.
type trainer struct {
	index  map[uint32]int32 // of features
	hashes []uint32
	count  []int32  // texts with a feature
	last   []string // the last text with it
	seqs   []sequence
	group  string
}

func (tr *trainer) feature(f uint32) int32 {
	i, ok := tr.index[f]
	if !ok {
		i = int32(len(tr.count))
		tr.index[f] = i
		tr.count, tr.last, tr.hashes = append(tr.count, 0), append(tr.last, ""), append(tr.hashes, f)
	}
	if tr.last[i] != tr.group {
		tr.count[i]++
		tr.last[i] = tr.group
	}
	return i
}

// The trainer is a sink for the features of its last passage.
func (tr *trainer) word(n int, features []uint32) {
	tr.seqs[len(tr.seqs)-1].on[n] = tr.features(features)
}

func (tr *trainer) stay(n int, features []uint32) {
	tr.seqs[len(tr.seqs)-1].in[n] = tr.features(features)
}

func (tr *trainer) leave(n int, features []uint32) {
	tr.seqs[len(tr.seqs)-1].out[n] = tr.features(features)
}

func (tr *trainer) features(list []uint32) []int32 {
	out := make([]int32, len(list))
	for i, f := range list {
		out[i] = tr.feature(f)
	}
	return out
}

func (tr *trainer) add(x trainText) {
	s := scanner{s: x.head + x.text}
	s.run()
	s.found = merge(s.found)
	for ps := range s.passages {
		n := len(ps.words)
		q := sequence{
			weight: x.weight, group: x.group, gold: make([]bool, n), fixed: make([]bool, n),
			on: make([][]int32, n), in: make([][]int32, n), out: make([][]int32, n),
		}
		for i, w := range ps.words {
			q.fixed[i] = w.barred
			for _, b := range x.secrets {
				q.gold[i] = q.gold[i] || !q.fixed[i] && w.start < b[1]+len(x.head) && w.end > b[0]+len(x.head)
			}
		}
		tr.seqs, tr.group = append(tr.seqs, q), x.group
		ps.features(tr)
	}
}

// fit trains weights with the sequences whose group is not held back.
func (tr *trainer) fit(held func(group string) bool) []float64 {
	w, g2 := make([]float64, len(tr.count)), make([]float64, len(tr.count))
	r := rand.New(rand.NewPCG(3, 4))
	var use []int
	for i, q := range tr.seqs {
		if !held(q.group) {
			use = append(use, i)
		}
	}
	step := func(fs []int32, d float64) {
		for _, f := range fs {
			if tr.count[f] < leastTexts {
				continue
			}
			g := d - l2*w[f]
			g2[f] += g * g
			w[f] += rate * g / math.Sqrt(g2[f]+1e-4)
		}
	}
	sum := func(fs []int32) (s float64) {
		for _, f := range fs {
			s += w[f]
		}
		return s
	}
	average := make([]float64, len(w))
	for epoch := range epochs {
		if epoch > epochs/2 {
			for i, v := range w {
				average[i] += v
			}
		}
		r.Shuffle(len(use), func(i, j int) { use[i], use[j] = use[j], use[i] })
		for _, k := range use {
			q := &tr.seqs[k]
			n := len(q.gold)
			score := make([]float64, n)
			pair := make([][2]float64, n)
			for i := range n {
				score[i] = sum(q.on[i])
				if q.fixed[i] {
					score[i] = math.Inf(-1)
				}
				pair[i] = [2]float64{sum(q.in[i]), sum(q.out[i])}
			}
			alpha := make([][2]float64, n)
			alpha[0] = [2]float64{0, score[0]}
			for i := 1; i < n; i++ {
				a := alpha[i-1]
				alpha[i] = [2]float64{logSum(a[0], a[1]+pair[i][1]), logSum(a[0], a[1]+pair[i][0]) + score[i]}
			}
			total := logSum(alpha[n-1][0], alpha[n-1][1])
			beta := [2]float64{}
			for i := n - 1; i >= 0; i-- {
				one := 0.0
				if q.gold[i] {
					one = 1
				}
				if p := math.Exp(alpha[i][1] + beta[1] - total); !q.fixed[i] && math.Abs(one-p) > 1e-3 {
					step(q.on[i], q.weight*(one-p))
				}
				if i == 0 {
					break
				}
				in := math.Exp(alpha[i-1][1] + pair[i][0] + score[i] + beta[1] - total)
				out := math.Exp(alpha[i-1][1] + pair[i][1] + beta[0] - total)
				gi, go_ := 0.0, 0.0
				if q.gold[i-1] && q.gold[i] {
					gi = 1
				} else if q.gold[i-1] {
					go_ = 1
				}
				if math.Abs(gi-in) > 1e-3 {
					step(q.in[i], q.weight*(gi-in))
				}
				if math.Abs(go_-out) > 1e-3 {
					step(q.out[i], q.weight*(go_-out))
				}
				beta = [2]float64{logSum(beta[0], score[i]+beta[1]), logSum(pair[i][1]+beta[0], pair[i][0]+score[i]+beta[1])}
			}
		}
	}
	for i, v := range w {
		average[i] = (average[i] + v) / float64(epochs-epochs/2)
	}
	return average
}

// table returns the weights as [Redact] uses them.
func (tr *trainer) table(w []float64) weightTable {
	t := newWeightTable(len(w))
	for i, v := range w {
		if math.Abs(v) >= leastWeight {
			t.set(tr.hashes[i], float32(math.Round(v*weightScale)/weightScale))
		}
	}
	return t
}

// Settings of the training. The cross-validated figures hardly depend on them.
const (
	epochs      = 20
	rate        = 0.15
	l2          = 3e-3
	leastTexts  = 4    // with a feature
	leastWeight = 0.05 // that is kept
)

func leaked(text, secret string) bool {
	words := strings.Fields(secret)
	if len(words) == 1 {
		return strings.Contains(text, secret)
	}
	for i := range words[1:] {
		if strings.Contains(text, words[i]+" "+words[i+1]) {
			return true
		}
	}
	return false
}

// figures are the results of a part of the cross-validation.
type figures struct{ leaks, secrets, alarms, harmless int }

func measure(x trainText, all map[string]*figures, log func(string, ...any)) {
	f := all[x.corpus]
	if f == nil {
		f = &figures{}
		all[x.corpus] = f
	}
	got, found := Redact(x.head + x.text) // as providers/memory does
	if len(found) > 0 && found[0].Start < len(x.head) {
		got = x.head + x.text
	}
	got, _ = Redact(got[len(x.head):])
	if x.alarm {
		f.harmless++
		if got != x.text {
			f.alarms++
			log("ALARM %s %q", x.corpus, x.head+got)
		}
		return
	}
	for _, v := range x.values {
		f.secrets++
		if leaked(strings.ToLower(got), strings.ToLower(v)) {
			f.leaks++
			log("LEAK %s %q: %q", x.corpus, v, x.head+got)
		}
	}
}

// TestTrain trains the weights, or measures them by cross-validation: texts of one dialogue are in one part.
func TestTrain(t *testing.T) {
	if *trainTo == "" && *folds == 0 {
		t.Skip("only with -train FILE or -folds N")
	}
	texts := trainTexts(t)
	tr := &trainer{index: map[uint32]int32{}}
	for _, x := range texts {
		if !x.held {
			tr.add(x)
		}
	}
	t.Logf("%d texts, %d passages, %d features", len(texts), len(tr.seqs), len(tr.count))
	all := map[string]*figures{}
	for k := range *folds {
		in := func(group string) bool { return group != "" && int(part(group)%uint32(*folds)) == k }
		w := tr.table(tr.fit(in))
		weights = func() weightTable { return w }
		for _, x := range texts {
			if x.counts && !x.held && in(x.group) {
				measure(x, all, t.Logf)
			}
		}
	}
	w := tr.fit(func(string) bool { return false })
	if *trainTo != "" {
		tr.write(t, w)
	}
	tb := tr.table(w)
	weights = func() weightTable { return tb }
	for _, x := range texts {
		switch {
		case x.held:
			measure(x, all, func(string, ...any) {})
		case x.counts && *folds == 0:
			measure(x, all, t.Logf)
		}
	}
	report(t, all)
}

// write writes the weights to the file of the flag.
func (tr *trainer) write(t *testing.T, w []float64) {
	var b []byte
	for _, i := range slices.SortedFunc(maps.Values(tr.index), func(i, j int32) int { return cmp.Compare(tr.hashes[i], tr.hashes[j]) }) {
		if v := w[i]; math.Abs(v) >= leastWeight {
			b = binary.LittleEndian.AppendUint32(b, tr.hashes[i])
			b = binary.LittleEndian.AppendUint16(b, uint16(int16(math.Round(v*weightScale))))
		}
	}
	if err := os.WriteFile(*trainTo, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func report(t *testing.T, all map[string]*figures) {
	var sum figures
	for _, name := range slices.SortedFunc(maps.Keys(all), cmp.Compare[string]) {
		f := all[name]
		t.Logf("%-28s leaks %d/%d, false alarms %d/%d", name, f.leaks, f.secrets, f.alarms, f.harmless)
		sum.leaks, sum.secrets, sum.alarms, sum.harmless = sum.leaks+f.leaks, sum.secrets+f.secrets, sum.alarms+f.alarms, sum.harmless+f.harmless
	}
	t.Logf("%-28s leaks %d/%d, false alarms %d/%d", "all", sum.leaks, sum.secrets, sum.alarms, sum.harmless)
}

// AddTrainText adds a generated text, which is always trained with.
func AddTrainText(text string, secrets []string, weight float64) {
	x := trainText{text: text, weight: weight, alarm: len(secrets) == 0, corpus: "grid"}
	x.find(secrets)
	gridTexts = append(gridTexts, x)
}

func logSum(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}
