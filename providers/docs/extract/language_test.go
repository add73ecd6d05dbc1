package extract

import (
	"strings"
	"testing"
)

func TestDetectLanguage(t *testing.T) {
	right, all := 0, 0
	for _, x := range charsetTexts(t) {
		for _, text := range []string{x.text, strings.SplitN(x.text, "\n", 2)[0]} {
			all++
			want, _, _ := strings.Cut(x.lang, "-")
			if got := detectLanguage(text); got == want {
				right++
			} else {
				t.Logf("%s is taken for %q", x.lang, got)
			}
		}
	}
	t.Logf("%d of %d", right, all)
	if right*100 < all*85 {
		t.Errorf("%d of %d languages are recognised", right, all)
	}
}

func TestDetectLanguageIn(t *testing.T) {
	for _, x := range []struct{ name, text, want string }{
		{"a page", "# Install\n\nRun the installer and follow the steps that it shows. When it is done, open a new " +
			"terminal.\n\n```sh\ncurl -fsSL https://example.org/install.sh | sh\n```\n\nIf something goes wrong, " +
			"read the log in `/var/log/install.log`.\n", "en"},
		{
			"German with English words",
			"# Deployment\n\nDer Container wird mit `docker run` gestartet. Danach ist die Anwendung unter " +
				"http://localhost:8080 erreichbar und kann im Browser geöffnet werden.\n", "de",
		},
		{"short", "Hello there", ""},
		{"code only", "```go\nfunc main() { fmt.Println(\"hello, world\") }\n```\n", ""},
		{"a table of numbers", "| a | 1 |\n|---|---|\n| b | 2 |\n", ""},
		{"short but of one script", "ファイルを開いて、内容を確認してください。", "ja"},
		{"empty", "", ""},
	} {
		if got := detectLanguage(x.text); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

func BenchmarkDetectLanguage(b *testing.B) {
	text := strings.Repeat("Run the installer and follow the steps that it shows. ", 1000)
	for b.Loop() {
		detectLanguage(text)
	}
}
