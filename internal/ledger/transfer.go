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

// maxLine holds a message with every character escaped.
const maxLine = 8 << 20

// maxLineErrors is how many mistakes of an import are told.
const maxLineErrors = 1000

// A batch of an import ends with the message by which it reaches one of these.
const (
	importMessages = 500
	importBytes    = 4 << 20
)

// Importer is what messages are imported into.
type Importer interface {
	// Import appends messages of one cluster as [Importing] says, all or none, and
	// returns those that are new.
	Import(ctx context.Context, messages []Message) ([]Message, error)
}

// Imported is what became of the lines of an import.
type Imported struct {
	Imported  int         `json:"imported"`
	Unchanged int         `json:"unchanged" doc:"that the cluster had already"`
	Failed    int         `json:"failed"`
	Errors    []LineError `json:"errors" nullable:"false" doc:"what is wrong with the lines that failed, of the first 1000"`
}

// LineError is what is wrong with a line.
type LineError struct {
	Line  int    `json:"line" doc:"from 1"`
	Error string `json:"error"`
}

// Export writes the messages that match in order, each as a [Line]. Limit, Offset,
// MaxBytes and Newest of q are ignored.
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

// Import appends the messages of an export, one JSON object per line, to a cluster,
// with their ids and times. Lines as Zeroshot has them are read as well; see
// [ReadLine]. A line that is wrong, or is of another cluster, is passed over and told
// of in the result; an error is about the whole. Importing again changes nothing.
func Import(ctx context.Context, to Importer, namespace, cluster string, r io.Reader) (Imported, error) {
	in := importer{to: to, namespace: namespace, cluster: cluster, done: Imported{Errors: []LineError{}}}
	if err := (Filter{Namespace: namespace, Cluster: cluster}).Check(); err != nil {
		return in.done, err
	}
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, whole, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return in.done, errors.Join(fmt.Errorf("read messages: %w", err), in.flush(ctx))
		}
		switch line = bytes.TrimSpace(line); {
		case !whole:
			in.fail(n, ragctx.TooLarge("line", "is longer than %d bytes", maxLine))
		case len(line) > 0:
			if err := in.line(ctx, n, line); err != nil {
				return in.done, err
			}
		}
		if err != nil { // io.EOF: that was the last line
			return in.done, in.flush(ctx)
		}
	}
}

// readLine returns the next line. One that is too long is read, but not returned whole.
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

// importer is one import.
type importer struct {
	to                 Importer
	namespace, cluster string
	batch              []Message
	lines              []int // of the batch
	ids                map[string]bool
	size               int
	done               Imported
}

func (in *importer) fail(n int, err error) {
	in.done.Failed++
	if len(in.done.Errors) < maxLineErrors {
		in.done.Errors = append(in.done.Errors, LineError{n, err.Error()})
	}
}

// line takes in a line. An error ends the import.
func (in *importer) line(ctx context.Context, n int, line []byte) error {
	m, err := ReadLine(line)
	if err == nil {
		m, err = in.check(m)
	}
	if err != nil {
		in.fail(n, err)
		return nil
	}
	if m.ID != "" && in.ids[m.ID] { // given twice
		in.done.Unchanged++
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
		return m, ragctx.Invalid("cluster", "is %q, but the import is into %q; import it there, or change the line", ragctx.Clip(m.Cluster), ragctx.Clip(in.cluster))
	}
	m.Namespace, m.Cluster = in.namespace, in.cluster
	checked, err := Check([]Message{m}, Importing)
	if err != nil {
		return m, err
	}
	return checked[0], nil
}

// flush appends the batch. Messages that are refused together are tried one by one,
// so that the mistake is that of its line.
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
		in.done.Imported += len(added)
		in.done.Unchanged += len(batch) - len(added)
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
