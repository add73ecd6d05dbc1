package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMails(t *testing.T) {
	crlf := func(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", "\r\n")) }
	head := "From: a@e.org\nSubject: s\n"
	text := "From: a@e.org\nSubject: s\n"
	multi := head + "Content-Type: multipart/mixed; boundary=b\n\n"
	for _, x := range []struct {
		name, in string
		want     []string
	}{
		{"plain", head + "\nhello\n", []string{": " + text + "\nhello\n"}},
		{"no body", head, []string{": " + text}},
		{
			"unknown charset", head + "Content-Type: text/plain; charset=x-none\n\ncaf\xe9\n",
			[]string{": " + text + "\ncafé\n"},
		},
		{
			"raw bytes in a header", "From: a@e.org\nSubject: caf\xe9\n\nx",
			[]string{": From: a@e.org\nSubject: café\n\nx\n"},
		},
		{"broken header lines", "garbage\n" + head + "no colon here\n\nx", []string{": " + text + "\nx\n"}},
		{
			"empty plain text",
			multi + "--b\nContent-Type: multipart/alternative; boundary=c\n\n--c\n\n \n--c\nContent-Type: " +
				"text/html\n\n<p>html\n--c--\n--b--\n",
			[]string{": " + text + "\nhtml\n"},
		},
		{
			"cut off", multi + "--b\n\nfirst\n--b\nContent-Transfer-Encoding: base64\n\naGVsbG",
			[]string{": " + text + "\nfirst\n\nhell\n"},
		},
		{
			"base64 with noise", head + "Content-Transfer-Encoding: base64\n\naGVs\n~~~\nbG8=\n-- \n",
			[]string{": " + text + "\nhello\n"},
		},
		{"same names", multi + strings.Repeat("--b\nContent-Disposition: attachment; filename=\"../n.txt\"\n\nx\n",
			2) + "--b--", []string{": " + text, "n.txt: x", "n (2).txt: x"}},
		{
			"bad attachment",
			multi + "--b\n\nbody\n--b\nContent-Type: application/zip; name=a.zip\nContent-Disposition: " +
				"attachment\n\nnope\n--b--",
			[]string{
				": " + text + "\nbody\n",
				"a.zip! is damaged or truncated: its list of files cannot be read (zip: not a valid zip " +
					"file)",
			},
		},
		{
			"large attachment", multi + "--b\n\nbody\n--b\nContent-Disposition: attachment; filename=big.txt\n\n" +
				strings.Repeat("x", 5000) + "\n--b--",
			[]string{
				": " + text + "\nbody\n",
				"big.txt! has at least 2001 bytes; the limit for a file inside another is 2000: unpack it",
			},
		},
		{
			"digest", head + "Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: one\n\n1\n--b--",
			[]string{": " + text, "attachment-1.eml: Subject: one\n\n1\n"},
		},
		{"too deep", head + nestedParts(12), []string{"! has parts that are nested more than 8 deep"}},
		{"too many", multi + strings.Repeat("--b\n\nx\n", 1100) + "--b--", []string{"! has more than 1000 parts"}},
		{
			"many header lines", strings.Repeat("a:\n", 10_001) + "\nx",
			[]string{"! has a header of more than 10000 lines or 1048576 bytes: it is not a mail, or is damaged"},
		},
		{
			"long header", "Subject: " + strings.Repeat("a", 1<<20) + "\n\nx",
			[]string{"! has a header of more than 10000 lines or 1048576 bytes: it is not a mail, or is damaged"},
		},
		{
			"many lines before the header", "x\n\n" + strings.Repeat("a\n", 10_001) + head + "\nx",
			[]string{"! is not a mail, or is damaged (EOF)"},
		},
		{"no mail", "hello\nworld\n", []string{"! is not a mail, or is damaged (EOF)"}},
	} {
		got := readLines(t, File{Name: "x.eml", Data: crlf(x.in)}, Options{MaxMember: 2000})
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], "\r", "")
		}
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s: %s", x.name, diff)
		}
	}
}

func nestedParts(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("Content-Type: multipart/mixed; boundary=b" + string(rune('a'+i)) + "\n\n--b" +
			string(rune('a'+i)) + "\n")
	}
	return b.String()
}

func TestMailbox(t *testing.T) {
	box := "From a Mon\nFrom: a@e.org\nSubject: one\n\nfirst\n>From the start\n\nFrom b Tue\nSubject: two\n\nsecond\n"
	want := []string{
		"1.eml: From: a@e.org\nSubject: one\n\nfirst\n>From the start\n",
		"2.eml: Subject: two\n\nsecond\n",
	}
	if diff := cmp.Diff(want, readLines(t, File{Name: "x.mbox", Data: []byte(box)}, Options{})); diff != "" {
		t.Error(diff)
	}
	got := readLines(t, File{Name: "x.mbox", Data: []byte(box)}, Options{MaxMembers: 1})
	if len(got) != 2 || !strings.HasPrefix(got[1], "! holds more than 1 files") {
		t.Errorf("beyond the limit: %q", got)
	}
}

// TestMailLimits limits the text of a mail and still reads its attachments.
func TestMailLimits(t *testing.T) {
	in := "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n" +
		strings.Repeat("x", 2000) + "\n--b\nContent-Disposition: attachment; filename=n.txt\n\nx\n--b--"
	want := []string{"! holds 2002 bytes of text; the limit is 1000: split the file", "n.txt: x"}
	if diff := cmp.Diff(want, readLines(t, File{Name: "x.eml", Data: []byte(in)}, Options{MaxText: 1000})); diff != "" {
		t.Error(diff)
	}
	box := "From a\n" + strings.Repeat("a:\n", 10_001) + "\nx\n\nFrom b\nSubject: two\n\ny\n"
	want = []string{"1.eml! has a header of more than 10000 lines or 1048576 bytes: it is not a mail, or is " +
		"damaged", "2.eml: Subject: two\n\ny\n"}
	if diff := cmp.Diff(want, readLines(t, File{Name: "x.mbox", Data: []byte(box)}, Options{})); diff != "" {
		t.Error(diff)
	}
}

func TestUnflow(t *testing.T) {
	in := "a line that \ngoes on\n> quoted \n> more\n-- \nsig\n From here\n"
	want := "a line that goes on\n> quoted \n> more\n-- \nsig\nFrom here\n"
	if got := unflow(in); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNotebooks(t *testing.T) {
	for _, x := range []struct {
		name, in string
		want     []string
	}{
		{"format 3", `{"worksheets":[{"cells":[{"cell_type":"heading","level":2,"source":"Old"},{"cell_type":"code","input":["x = 1\n","y"],"language":"python"}]}]}`, []string{": ## Old\n\n```python\nx = 1\ny\n```\n"}},
		{
			"language of the kernel",
			`{"metadata":{"kernelspec":{"language":"R"}},"cells":[{"cell_type":"code","source":"plot()"}]}`,
			[]string{": ```r\nplot()\n```\n"},
		},
		{
			"fence in code", "{\"cells\":[{\"cell_type\":\"code\",\"source\":\"\\\"\\\"\\\"```\\\"\\\"\\\"\"}]}",
			[]string{": ````python\n\"\"\"```\"\"\"\n````\n"},
		},
		{"odd types", `{"cells":[{"cell_type":"code","source":7},{"cell_type":"raw","source":"r"},{"cell_type":"code","source":"x","outputs":[{"text":{}},{"data":{"text/plain":5}}]}]}`, []string{": r\n\n```python\nx\n```\n"}},
		{
			"long output", `{"cells":[{"cell_type":"code","source":"x","outputs":[{"text":"` +
				strings.Repeat(`line\n`, 100) + `"}]}]}`,
			[]string{": ```python\nx\n```\n\n```output\n" + strings.Repeat("line\n", 40) + "…\n```\n"},
		},
		{
			"odd metadata",
			`{"metadata":{"authors":["Ann"],"title":7,"kernelspec":[],"language_info":{"name":{}}},"cells":{},"worksheets":[1,{"cells":[{"source":"s","level":1.5}]}]}`,
			[]string{": s\n"},
		},
		{"no object", `[{"cells":[]}]`, []string{"! is not a notebook: it has no cells"}},
		{"no cells", `{"cells":[]}`, []string{"! is not a notebook: it has no cells"}},
		{"no JSON", `{"cells":[`, []string{"! is not a notebook, or is truncated; copy it again"}},
		{
			"deep", strings.Repeat(`{"cells":[`, 20_000),
			[]string{"! is not a notebook, or is damaged (invalid character '[' exceeded max depth)"},
		},
	} {
		if diff := cmp.Diff(x.want, readLines(t, File{Name: "x.ipynb", Data: []byte(x.in)}, Options{})); diff != "" {
			t.Errorf("%s: %s", x.name, diff)
		}
	}
}

// TestFormatOf detects files whose name, type and content disagree.
func TestFormatOf(t *testing.T) {
	for _, x := range []struct{ name, mime, data, want string }{
		{"a.html", "", "", "text/html"},
		{"page", "", "<!DOCTYPE html><p>x", "text/html"},
		{"page", "text/html; charset=utf-8", "x", "text/html"},
		{"notes.md", "", "<html>", ""},
		{"https://e.org/a.html?b=c.zip#d", "", "", "text/html"},
		{"a.HTM", "", "", "text/html"},
		{"a.txt", "", "\x1f\x8b\x08", "application/gzip"},
		{"a.jar", "", "PK\x03\x04", ""},
		{"download", "application/octet-stream", "PK\x03\x04", mimeZip},
		{"x.bin", "", "text", ""},
	} {
		got := ""
		if f := formatOf(File{Name: x.name, MIME: x.mime, Data: []byte(x.data)}); f != nil {
			got = f.mime
		}
		if got != x.want {
			t.Errorf("%s as %q beginning with %q is %q, want %q", x.name, x.mime, x.data, got, x.want)
		}
	}
}
