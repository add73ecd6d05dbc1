package api

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index/vector/kernel"
)

// answersTo is the variable that has a run of TestAnswersOnEveryProcessor write its
// answers to a file.
const answersTo = "RAGCTX_TEST_ANSWERS"

// TestAnswersOnEveryProcessor asks in processes that are told to do without instructions
// of this processor, and compares all bytes of the answers but their times.
func TestAnswersOnEveryProcessor(t *testing.T) {
	every := 1
	if testing.Short() {
		every = 8
	}
	if file := os.Getenv(answersTo); file != "" {
		if err := os.WriteFile(file, []byte(kernel.Best().Name+"\n"+relevanceAnswers(t, every)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("only of this architecture's instructions can a process be told to do without")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := relevanceAnswers(t, every)
	seen := map[string]bool{kernel.Best().Name: true}
	for _, without := range []string{
		"cpu.avx512vnni=off", "cpu.avx512vnni=off,cpu.avx2=off", "cpu.avx512vnni=off,cpu.avx2=off,cpu.avx=off,cpu.fma=off",
	} {
		file := filepath.Join(t.TempDir(), "answers")
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestAnswersOnEveryProcessor$", fmt.Sprint("-test.short=", testing.Short()))
		cmd.Env = append(os.Environ(), "GODEBUG="+without, answersTo+"="+file)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", without, err, out)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, got, _ := strings.Cut(string(b), "\n")
		seen[name] = true
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s (%s) answers otherwise than %s (-%[3]s +%[2]s):\n%[4]s", without, name, kernel.Best().Name, diff)
		}
	}
	if len(seen) != len(kernel.All()) {
		t.Errorf("answers were compared of %v, this machine has %d kernels", seen, len(kernel.All()))
	}
}

// relevanceAnswers are the answers to every nth question of testdata/relevance in all formats.
func relevanceAnswers(t *testing.T, n int) string {
	const corpus = "../testdata/relevance"
	f := exampleServer(t)
	err := fs.WalkDir(os.DirFS(corpus+"/docs"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(corpus, "docs", name))
		if err != nil {
			return err
		}
		if strings.HasPrefix(name, "dialogue/") {
			for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
				id := fmt.Sprintf("%s-%d", strings.ReplaceAll(name, "/", "-"), i)
				a := f.call(t, "POST", memoriesPath, fmt.Sprintf(`{"id":%q,"content":%s,"importance":0.%d,"occurred":"2026-02-%02dT00:00:00Z"}`,
					id, quoted(line), i%10, 1+i%28))
				if a.status/100 != 2 {
					return fmt.Errorf("%s: %s", id, a.body)
				}
			}
			return nil
		}
		_, err = f.eng.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: name, Text: string(b)}, "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(corpus + "/questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	times := regexp.MustCompile(`"took_ms":[0-9.e+-]+`)
	var out strings.Builder
	note := func(method, path, body string) {
		a := f.call(t, method, path, body)
		if a.status != 200 {
			t.Fatalf("%s %s %s: %s", method, path, body, a.body)
		}
		fmt.Fprintln(&out, path, body, a.header.Get("ETag"), times.ReplaceAllString(strings.TrimSpace(a.body), ""))
	}
	note("GET", memoriesPath+"?limit=20", "") // before the questions, whose items are counted in the background
	formats := []string{"xml", "documents", "json", "text"}
	asked, lines := 0, 0
	for line := range strings.Lines(string(b)) {
		parts := strings.Split(line, " | ")
		if len(parts) < 2 || strings.HasPrefix(line, "#") {
			continue
		}
		if lines++; lines%n != 0 {
			continue
		}
		question := quoted(parts[1])
		note("POST", "/v1/context", fmt.Sprintf(`{"query":%s,"explain":true,"format":%q,"diversity":%.1f}`,
			question, formats[asked%len(formats)], float64(asked%3)/4))
		note("POST", "/v1/search", fmt.Sprintf(`{"query":%s,"explain":true,"max_results":50}`, question))
		asked++
	}
	if asked == 0 {
		t.Fatal("no questions")
	}
	return out.String()
}
