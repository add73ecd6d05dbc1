package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Instruction reports whether text speaks to a model and tells it what to do, and
// why that seems so, in a few words for people. It is meant for what tools and
// documents say; to what a user says it does not apply.
//
// Found are, in English, German, Spanish, French, Russian, Japanese, Chinese, and less of
// it in Korean, Portuguese, Italian and others: that what was said before is to be ignored;
// a new role; a system's prompt, or the wish to see it; something to be kept in memory for
// later answers; how to answer from now on, always, never, or when this text is summarised;
// what the user must not learn; tools to be used; data to be sent to an address; whatever
// turns to an AI or an assistant with "must" and "should". Besides: the marks with which
// models tell roles apart, characters that nobody sees, and all of this letter by letter,
// in look-alikes, in base64, hexadecimal digits, escapes, rot13, and backwards.
//
// Imperatives to people are none: "always back up the database", "never commit
// secrets", "remember that pods are mortal". Nor is what a sentence about attacks quotes.
//
// It is a net with holes. TestRecall says how many attacks it finds, and that it finds few
// of those whose wording is new to it; what is shown to a model is evidence in any case.
func Instruction(text string) (reason string, ok bool) {
	if reason, ok = hidden(text); ok {
		return reason, true
	}
	if reason, ok = spoken(text); ok {
		return reason, true
	}
	return disguised(text)
}

// spoken looks at what a text says in clear.
func spoken(text string) (reason string, ok bool) {
	if m := roleMark(text); m != "" {
		return "marks of a role: " + m, true
	}
	if placeholderQuery(text) {
		return "shows a picture whose address takes data along", true
	}
	s := speech{grammar: commands()}
	return s.read(text)
}

// roleMarks tell the roles of a conversation apart in the prompts of models. Text
// that brings its own wants to be taken for another role's.
var roleMarks = []string{
	"<|im_start|>", "<|im_end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>", "<|begin_of_text|>",
	"<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "### Instruction:", "### System:", "### Human:", "### Assistant:",
	"<system-reminder>", "<IMPORTANT>", "<system_prompt>", "<system>", "<system_instruction", "<|channel|>", "<|start|>", "[SYSTEM]", "[SYSTEM ", "[system](#", "\n\nHuman:", `{"role":"system"`, `{"role": "system"`,
}

// roleMark returns the first of the marks in text, "" if there is none. Those in
// brackets are in capitals; in small letters they are code.
func roleMark(text string) string {
	for i := 0; i < len(text); i++ {
		n := strings.IndexAny(text[i:], "<[#{\n")
		if n < 0 {
			return ""
		}
		i += n
		for _, m := range roleMarks {
			if text[i] == m[0] && len(text)-i >= len(m) && (text[i:i+len(m)] == m || m[0] != '[' && m != "<system>" && strings.EqualFold(text[i:i+len(m)], m)) {
				return strings.TrimSpace(m)
			}
		}
	}
	return ""
}

// Limits of what is decoded, in bytes.
const (
	leastEncoded = 24
	mostEncoded  = 8 << 10
)

// encoded looks at what a text says in base64.
func encoded(text string) (reason string, ok bool) {
	for i := 0; i < len(text); {
		if !encodedByte[text[i]] {
			i++
			continue
		}
		end := run(text, i, encodedByte)
		if end-i >= leastEncoded {
			if reason, ok = spoken(decode(text[i:min(end, i+mostEncoded)])); ok {
				return "in base64: " + reason, true
			}
		}
		i = end
	}
	return "", false
}

var encodedByte = setOf("a-zA-Z0-9+/_-")

// decode returns what s says in base64, "" if that is no text.
func decode(s string) string {
	s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
	if probe, err := base64.RawStdEncoding.DecodeString(s[:leastEncoded]); err != nil || !likelyText(probe) {
		return ""
	}
	if len(s)%4 == 1 {
		s = s[:len(s)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(b)
}

// likelyText reports whether b is text: no control characters, and hardly anything but
// letters and spaces, or characters that are whole. The last one may be cut off.
func likelyText(b []byte) bool {
	odd, wide := 0, 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r < ' ' && r != '\n' && r != '\t' && r != '\r':
			return false
		case r >= utf8.RuneSelf && r != utf8.RuneError && unicode.IsLetter(r):
			wide++
		case r == utf8.RuneError && len(b)-i < utf8.UTFMax && wide > 0:
		case r >= utf8.RuneSelf, !alnum[b[i]] && r != ' ':
			odd++
		}
		i += size
	}
	return odd*4 <= len(b)
}
