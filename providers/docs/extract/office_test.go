package extract

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
)

// zipped packs parts, given as alternating names and contents, in order.
func zipped(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		// stored, because compression would dominate the test time
		w, err := z.CreateHeader(&zip.FileHeader{Name: parts[i]})
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readOne reads a file that must yield exactly one text or error.
func readOne(t testing.TB, name string, data []byte, o Options) (Text, error) {
	t.Helper()
	var text Text
	var failed error
	n := 0
	for x, err := range Read(t.Context(), File{Name: name, Data: data}, o) {
		text, failed = x, err
		n++
	}
	if n != 1 {
		t.Fatalf("%s: %d results", name, n)
	}
	if !utf8.ValidString(text.Text) {
		t.Fatalf("%s: no UTF-8", name)
	}
	return text, failed
}

// goldenText formats a result for a golden file.
func goldenText(t *testing.T, name string, data []byte) string {
	t.Helper()
	return strings.ReplaceAll(describe(t, File{Name: filepath.Base(name), Data: data}, Options{}), "\f", "␌")
}

// archived returns the parts of a hand-written package.
func archived(t testing.TB, file string) []txtar.File {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
}

// supporting returns all parts of a package except one, as alternating names and contents.
func supporting(t testing.TB, name, but string) []string {
	t.Helper()
	var parts []string
	for _, f := range archived(t, filepath.Join("testdata", "office", name)) {
		if f.Name != but {
			parts = append(parts, f.Name, string(f.Data))
		}
	}
	return parts
}

func TestOfficeByHand(t *testing.T) {
	files, err := filepath.Glob("testdata/office/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var parts []string
			want := ""
			for _, f := range ar.Files {
				if f.Name == "want" {
					want = string(f.Data)
				} else {
					parts = append(parts, f.Name, string(f.Data))
				}
			}
			got := goldenText(t, strings.TrimSuffix(file, ".txtar"), zipped(t, parts...))
			if *update && got != want {
				if n := len(ar.Files) - 1; ar.Files[n].Name == "want" {
					ar.Files = ar.Files[:n]
				}
				ar.Files = append(ar.Files, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestOfficeByLibraries(t *testing.T) {
	for _, name := range []string{"handbook.docx", "results.pptx", "orders.xlsx", "lighthouse.epub"} {
		file := filepath.Join("testdata", "office", name)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := goldenText(t, name, data)
		if *update {
			if err := os.WriteFile(file+".golden", []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file + ".golden")
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}
