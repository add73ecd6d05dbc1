package extract

import "testing"

// TestEscapeStarts escapes only text that Markdown would read as structure.
func TestEscapeStarts(t *testing.T) {
	for in, want := range map[string]string{
		"# a": `\# a`, "####### a": "####### a", "#1": "#1", "#": `\#`,
		"- a": `\- a`, "-a": "-a", "---": `\---`, "* * *": `\* * *`, "**a** b": "**a** b", "+ a": `\+ a`,
		"+49 30": "+49 30", "___": `\___`, "__a__": "__a__",
		"===": `\===`, "= a": "= a", "~~~": `\~~~`, "~5": "~5", "```go": "\\```go",
		"``` a``b ``` c": "``` a``b ``` c", "`a` b": "`a` b",
		"> a": `\> a`, "| a": `\| a`, "[a]: b": `\[a]: b`, "[a](b)": "[a](b)",
		"1. a": `1\. a`, "12) a": `12\) a`, "1.5 a": "1.5 a", "1.": `1\.`, "1234567890. a": "1234567890. a",
		"2024":      "2024",
		"a\n# b\nc": "a\n\\# b\nc", "": "",
	} {
		if got := escapeStarts(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
