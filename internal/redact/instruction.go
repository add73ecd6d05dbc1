package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Instruction reports whether text gives orders to a model, and a short reason for people. It is
// meant for the text of tools and documents, not for a user's messages.
//
// It detects, in English, German, Spanish, French, Russian, Japanese and Chinese, and partly in
// Korean, Portuguese, Italian and others: orders to ignore earlier instructions; a new role; a
// system prompt, or a request to reveal it; something to remember for later answers; rules for
// future answers or for summaries of this text; secrets to keep from the user; tools to call; data
// to send to an address; any "must" or "should" that addresses an AI or an assistant. It also
// detects role markers of prompt formats, invisible characters, and all of these spelled letter by
// letter, in look-alikes, base64, hexadecimal, escapes, rot13, or backwards.
//
// Imperatives for people pass: "always back up the database", "never commit secrets", "remember
// that pods are mortal". So do quotations in a sentence about attacks.
//
// Detection is incomplete. TestRecall measures the share of attacks found; it is low for unfamiliar
// wording. Everything shown to a model must be treated as evidence in any case.
func Instruction(text string) (reason string, ok bool) {
	if reason, ok = hidden(text); ok {
		return reason, true
	}
	if reason, ok = spoken(text); ok {
		return reason, true
	}
	return disguised(text)
}

// spoken looks for instructions in the plain text.
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

// roleMarks are the role markers of prompt formats. Text that contains them tries to impersonate
// another role.
var roleMarks = []string{
	"<|im_start|>", "<|im_end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|endoftext|>", "<|eot_id|>",
	"<|start_header_id|>", "<|begin_of_text|>",
	"<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "### Instruction:",
	"### System:", "### Human:", "### Assistant:",
	"<system-reminder>", "<IMPORTANT>", "<system_prompt>", "<system>", "<system_instruction", "<|channel|>",
	"<|start|>", "[SYSTEM]", "[SYSTEM ", "[system](#", "\n\nHuman:", `{"role":"system"`, `{"role": "system"`,
}

// roleMark returns the first role marker in text, or "". Bracketed markers count only in capitals;
// in small letters they are code.
func roleMark(text string) string {
	for i := 0; i < len(text); i++ {
		n := strings.IndexAny(text[i:], "<[#{\n")
		if n < 0 {
			return ""
		}
		i += n
		for _, m := range roleMarks {
			if text[i] == m[0] && len(text)-i >= len(m) &&
				(text[i:i+len(m)] == m || m[0] != '[' && m != "<system>" && strings.EqualFold(text[i:i+len(m)], m)) {
				return strings.TrimSpace(m)
			}
		}
	}
	return ""
}

// Limits of decoded text, in bytes.
const (
	leastEncoded = 24
	mostEncoded  = 8 << 10
)

// encoded looks for instructions in base64.
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

// decode decodes s from base64; it returns "" if the result is not text.
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

// likelyText reports whether b is text: valid characters, no control characters, and almost only
// letters and spaces. The last character may be cut off.
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

// Subversion reports whether text orders a model to drop its instructions, to reveal them, to keep something
// from its user or to send data away. Unlike [Instruction], it lets a user's wishes pass: a role, or how to answer.
func Subversion(text string) (reason string, ok bool) {
	for range 4 {
		if reason, ok = Instruction(text); ok && subversive[reason] {
			return reason, true
		}
		_, rest, more := strings.Cut(text, ": ") // "Remember: …"
		if !more {
			return "", false
		}
		text = rest
	}
	return "", false
}

// subversive holds the reasons that no wish of a user has.
var subversive = map[string]bool{
	"overrides earlier instructions": true, "speaks of a model's instructions": true, "keeps something from the user": true,
	"sends data to an address": true,
}
