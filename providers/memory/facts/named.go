package facts

import (
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// Speakers returns the names of the persons who wrote some messages.
func Speakers(messages []ragctx.Message) (out []string) {
	for _, m := range messages {
		if from, ok := speaker(m); ok && from.named && !slices.Contains(out, from.name) {
			out = append(out, from.name)
		}
	}
	return out
}

// SpeakerOf returns the speaker with whose name a content begins, or "". It is the longest name: Ann Marie before Ann.
func SpeakerOf(content string, speakers []string) (speaker string) {
	for _, name := range speakers {
		rest, ok := strings.CutPrefix(content, name)
		if ok && len(name) > len(speaker) && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "'s ")) {
			speaker = name
		}
	}
	return speaker
}

// asUser returns the content of a fact as if an unnamed user had said it, and the name that it had instead:
// "Mara's car" becomes "The user's car" if Mara is the speaker of [SpeakerOf]. Whoever is quoted is a speaker.
func asUser(content, speaker string) (as, name string) {
	unnamed := func(l *language) bool { return strings.HasPrefix(content, l.user) }
	if slices.ContainsFunc(languages(), unnamed) || strings.Contains(content, "the user") {
		return content, ""
	}
	if name, quote, ok := strings.Cut(content, ": "); ok && strings.Count(name, " ") < 4 {
		for _, l := range slices.Backward(languages()) { // « with a space is French
			if strings.HasPrefix(quote, l.quotes[0]) {
				return l.says + quote, name
			}
		}
	}
	if speaker == "" {
		return content, ""
	}
	rest := strings.TrimPrefix(content, speaker)
	return english.user + strings.ReplaceAll(rest, " "+speaker+"'s ", " the user's "), speaker
}

// nameAgain returns a content of [asUser] with the name of its speaker.
func nameAgain(content, speaker string) string {
	for _, l := range languages() {
		if quote, ok := strings.CutPrefix(content, l.says); ok {
			return speaker + ": " + quote
		}
	}
	return strings.NewReplacer(english.user, speaker, strings.ToLower(english.user), speaker).Replace(content)
}

// nameOf returns the name, in small letters, of the person whom a statement is about, or whose thing.
func (s *statement) nameOf(t *text, ws []word, speaker string) string {
	if speaker != "" {
		own := func(w word) bool { f := t.folded(w); return f == "user's" || ownWord[f] }
		relative := s.owner == aPerson && kinStems[s.person]
		if s.owner == theUser || s.owner == aThing && len(s.subject) == 0 ||
			(s.owner == aThing || relative) && slices.ContainsFunc(ws[:min(3, len(ws))], own) {
			return strings.ToLower(speaker)
		}
	}
	for _, w := range ws {
		f := strings.TrimSuffix(t.folded(w), "'s")
		if s.owner == aPerson && !kinStems[s.person] && !thirdPerson[s.person] && stem(f) == s.person {
			return f
		}
	}
	if len(ws) > 0 && t.capital(ws[0].from) {
		if name, ok := strings.CutSuffix(t.folded(ws[0]), "'s"); ok {
			return name
		}
	}
	return ""
}

// sameName reports whether two names may be of one person: names of speakers are whole, others are one word.
func sameName(n, o *statement) bool {
	if n.bySpeaker && o.bySpeaker {
		return n.name == o.name
	}
	return n.called == o.called || n.called+"s" == o.called || o.called+"s" == n.called // Maras Auto
}

// foldWord folds the first word of a name.
func foldWord(name string) string {
	if name == "" {
		return ""
	}
	t := read(name)
	if ws := t.words(0, len(t.fold)); len(ws) > 0 {
		return t.folded(ws[0])
	}
	return ""
}

// otherName reports whether two statements are about persons of different names, or about their things. It is not so if a
// role passes to another person. Then the newer statement names the older person, or repeats the role. Without a known
// speaker a name may be one of a thing, and a replacement counts.
func otherName(n, o *statement) bool {
	if n.name == "" || o.name == "" || sameName(n, o) || anotherVersion(n, o) != "" || oldIsSubject(n, o) ||
		n.has(term{stem: stem(o.called)}) {
		return false
	}
	if !n.bySpeaker && !o.bySpeaker && (n.quoted || o.quoted || n.changes().says(cueReplace, cueNow)) {
		return false
	}
	role := slices.DeleteFunc(slices.Clone(o.words), func(x term) bool { return x.stem == stem(o.called) })
	return len(role) == 0 || slices.ContainsFunc(role, func(x term) bool { return !n.has(x) }) || !o.hasAny(definite)
}
