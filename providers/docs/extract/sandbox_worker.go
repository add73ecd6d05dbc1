package extract

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// exitMemory is the exit status of a process that uses too much memory.
const exitMemory = 87

// memoryInterval is how often a process checks its memory.
const memoryInterval = 10 * time.Millisecond

// ServeWorker reads the files that a [Pool] in another process sends to r, and writes their texts
// to w, until r ends. It should be the only task of its process: it ends the process when r ends in
// the middle of a file, or when a file needs too much memory. Only ServeWorker may write to w.
func ServeWorker(ctx context.Context, r io.Reader, w io.Writer) error {
	return serveWorker(ctx, r, w, readInProcess)
}

// readInProcess reads a file without members in this process.
func readInProcess(ctx context.Context, f File, o Options) (Text, error) {
	x := formatOf(f)
	if x != nil && x.read == nil {
		return Text{}, refuse("contains other files, which are read one by one")
	}
	r := reading{opts: o}
	return r.readOne(ctx, f, x)
}

// fileReader reads one file.
type fileReader func(ctx context.Context, f File, o Options) (Text, error)

func serveWorker(ctx context.Context, r io.Reader, w io.Writer, read fileReader) error {
	requests := make(chan job)
	failed := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	busy := make(chan struct{}, 1)
	go func() { failed <- receive(ctx, r, requests, busy) }()
	out := bufio.NewWriter(w)
	limited := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		case j := <-requests:
			if !limited {
				limitMemory(ctx, j.MaxMemory)
				limited = true
			}
			t, err := read(ctx, File{Name: j.Name, MIME: j.MIME, Data: j.data}, j.options())
			<-busy
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := reply(out, t, reasonOf(err, j.options())); err != nil {
				return err
			}
		}
	}
}

// job is a request with its file.
type job struct {
	request
	data []byte
}

// receive passes requests on. It keeps reading while a file is being read: if r ends then, the
// parent has ended and needs no response.
func receive(ctx context.Context, r io.Reader, requests chan<- job, busy chan struct{}) error {
	in := bufio.NewReader(r)
	for {
		var j job
		var err error
		j.data, err = readFrame(in, &j.request, maxFile)
		if err != nil {
			select {
			case busy <- struct{}{}:
			default:
				os.Exit(0) // a hanging reader cannot be stopped otherwise
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		select {
		case busy <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		select {
		case requests <- j:
		case <-ctx.Done():
			return nil
		}
	}
}

func reply(out *bufio.Writer, t Text, reason string) error {
	if err := writeFrame(out, newResponse(t, reason), []byte(t.Text)); err != nil {
		return err
	}
	return out.Flush()
}

// limitMemory makes the garbage collector work harder near the limit, and ends the process above
// it. A very large allocation fails in the system.
func limitMemory(ctx context.Context, limit int64) {
	if limit <= 0 {
		return
	}
	debug.SetMemoryLimit(limit / 4 * 3)
	limitData(limit)
	go func() {
		sample := []metrics.Sample{
			{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"},
		}
		for ctx.Err() == nil {
			metrics.Read(sample)
			if used := sample[0].Value.Uint64() + sample[1].Value.Uint64(); used > uint64(limit) {
				os.Exit(exitMemory)
			}
			time.Sleep(memoryInterval)
		}
	}()
}
