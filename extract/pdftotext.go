package extract

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"
)

// byPDFToText asks the program pdftotext of poppler or xpdf and reports whether its
// text is more plausible than doc's, or there is none of doc's.
func byPDFToText(ctx context.Context, f File, o Options, doc *pdfDoc, failed error) (string, bool) {
	s, err := runPDFToText(ctx, f.Data, o.MaxText)
	if err != nil {
		return "", false
	}
	if failed != nil {
		return s, true
	}
	var theirs plausibility
	for line := range strings.Lines(s) {
		theirs.add(line)
	}
	ours := doc.plausibility(doc.choose())
	return s, theirs.score() > ours.score()+pdfToTextMargin
}

// errPDFToText says that the program gave nothing.
var errPDFToText = errors.New("extract: pdftotext gave no text")

// pdfToTextMargin is how much better its text has to be: it has no headings, and its
// lines are not joined.
const pdfToTextMargin = .05

// runPDFToText runs the program on a temporary file, without a shell, as long as ctx
// lasts and up to a length of output.
func runPDFToText(ctx context.Context, data []byte, maxText int) (string, error) {
	program, err := exec.LookPath("pdftotext")
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp("", "ragctx-*.pdf")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	if e := file.Close(); err != nil || e != nil {
		return "", errPDFToText
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-q", "-enc", "UTF-8", file.Name(), "-")
	cmd.WaitDelay = time.Second
	out := &limited{left: maxText, full: cancel}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		return "", errPDFToText
	}
	s := strings.TrimSuffix(out.String(), "\f")
	if !utf8.ValidString(s) || strings.TrimSpace(s) == "" {
		return "", errPDFToText
	}
	return s, nil
}

// limited keeps what is written to it up to a length, and calls full beyond it.
type limited struct {
	bytes.Buffer
	left int
	full func()
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		l.full()
		return 0, io.ErrShortWrite
	}
	return l.Buffer.Write(b)
}
