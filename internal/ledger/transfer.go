package ledger

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ragctx/ragctx"
)

// maxLine fits a message with every character escaped.
const maxLine = 8 << 20

// maxLineErrors limits the errors that an import reports.
const maxLineErrors = 1000

// Limits of a batch of an import. The message that reaches one of them is the batch's last.
const (
	importMessages = 500
	importBytes    = 4 << 20
)

// Importer is the destination of an import.
type Importer interface {
	// Import appends messages of one cluster in mode [Importing], all or none, and returns the new
	// ones.
	Import(ctx context.Context, messages []Message) ([]Message, error)
}

// Imported summarizes an import.
type Imported struct {
	Imported  int         `json:"imported"`
	Unchanged int         `json:"unchanged" doc:"that the cluster had already"`
	Failed    int         `json:"failed"`
	Errors    []LineError `json:"errors" nullable:"false" doc:"errors of the first 1000 lines that failed"`
}

// LineError is the error of one line.
type LineError struct {
	Line  int    `json:"line" doc:"from 1"`
	Error string `json:"error"`
}

// Export writes the matching messages in order, each as a [Line]. It ignores Limit, Offset,
// MaxBytes and Newest of q.
func Export(ctx context.Context, log Log, q Query, w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	for m, err := range Pages(ctx, log, q) {
		if err != nil {
			return err
		}
		line, err := Line(m)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("write messages: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write messages: %w", err)
	}
	return nil
}

// Import appends the messages of an export, one JSON object per line, to a cluster, with their ids
// and times. It also reads Zeroshot's lines, see [ReadLine]. A line that is invalid or belongs to
// another cluster is skipped and reported in the result; the returned error concerns the whole
// import. Importing again changes nothing.
func Import(ctx context.Context, to Importer, namespace, cluster string, r io.Reader) (Imported, error) {
	in := importer{to: to, namespace: namespace, cluster: cluster, result: Imported{Errors: []LineError{}}}
	if err := (Filter{Namespace: namespace, Cluster: cluster}).Check(); err != nil {
		return in.result, err
	}
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, whole, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return in.result, errors.Join(fmt.Errorf("read messages: %w", err), in.flush(ctx))
		}
		switch line = bytes.TrimSpace(line); {
		case !whole:
			in.fail(n, ragctx.TooLarge("line", "is longer than %d bytes", maxLine))
		case len(line) > 0:
			if err := in.line(ctx, n, line); err != nil {
				return in.result, err
			}
		}
		if err != nil { // io.EOF: the last line
			return in.result, in.flush(ctx)
		}
	}
}

// readLine returns the next line. It reads a too long line to its end and returns whole = false.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := r.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= maxLine; whole {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// importer is one import in progress.
type importer struct {
	to                 Importer
	namespace, cluster string
	batch              []Message
	lines              []int // line numbers of the batch
	ids                map[string]bool
	size               int
	result             Imported
}

func (in *importer) fail(n int, err error) {
	in.result.Failed++
	if len(in.result.Errors) < maxLineErrors {
		in.result.Errors = append(in.result.Errors, LineError{n, err.Error()})
	}
}

// line adds a line to the batch. An error ends the import.
func (in *importer) line(ctx context.Context, n int, line []byte) error {
	m, err := ReadLine(line)
	if err == nil {
		m, err = in.check(m)
	}
	if err != nil {
		in.fail(n, err)
		return nil
	}
	if m.ID != "" && in.ids[m.ID] { // a duplicate within the batch
		in.result.Unchanged++
		return nil
	}
	if in.ids == nil {
		in.ids = make(map[string]bool)
	}
	in.ids[m.ID] = true
	in.batch, in.lines = append(in.batch, m), append(in.lines, n)
	if in.size += m.Size(); in.size >= importBytes || len(in.batch) >= importMessages {
		return in.flush(ctx)
	}
	return nil
}

func (in *importer) check(m Message) (Message, error) {
	if m.Cluster != "" && m.Cluster != in.cluster {
		return m, ragctx.Invalid("cluster", "is %q, but the import is into %q; import it there, or change the line",
			ragctx.Clip(m.Cluster), ragctx.Clip(in.cluster))
	}
	m.Namespace, m.Cluster = in.namespace, in.cluster
	checked, err := Check([]Message{m}, Importing)
	if err != nil {
		return m, err
	}
	return checked[0], nil
}

// flush appends the batch. If the batch is rejected, it tries the messages one by one to find the
// invalid lines.
func (in *importer) flush(ctx context.Context) error {
	batch, lines := in.batch, in.lines
	in.batch, in.lines, in.ids, in.size = nil, nil, nil, 0
	if len(batch) == 0 {
		return nil
	}
	added, err := in.to.Import(ctx, batch)
	if _, status := ragctx.CodeOf(err); err != nil && (status >= http.StatusInternalServerError || ctx.Err() != nil) {
		return fmt.Errorf("lines %d to %d: %w", lines[0], lines[len(lines)-1], err)
	}
	switch {
	case err == nil:
		in.result.Imported += len(added)
		in.result.Unchanged += len(batch) - len(added)
	case len(batch) == 1:
		in.fail(lines[0], err)
	default:
		for i := range batch {
			in.batch, in.lines = batch[i:i+1], lines[i:i+1]
			if err := in.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
