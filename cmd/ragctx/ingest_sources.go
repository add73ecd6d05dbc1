package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs"
)

// sizeFlag is a flag's value: a number of bytes.
type sizeFlag struct{ bytes int64 }

// String implements pflag.Value.
func (s *sizeFlag) String() string {
	if s.bytes == 0 {
		return ""
	}
	return size(s.bytes)
}

// Type implements pflag.Value.
func (*sizeFlag) Type() string { return "size" }

// Set implements pflag.Value.
func (s *sizeFlag) Set(v string) error {
	n, err := docs.ParseSize(v)
	if err != nil {
		return fmt.Errorf("use a size such as 512KiB or 8MiB")
	}
	s.bytes = n
	return nil
}

// ingests returns the ingests that the arguments describe: one of all paths, then one of each
// source.
func (f ingestFlags) ingests(s settings, paths []string, stderr io.Writer) ([]engine.IngestOptions, error) {
	var out []engine.IngestOptions
	if len(paths) > 0 {
		out = append(out, engine.IngestOptions{
			Namespace: s.Namespace, Paths: paths, Prefix: f.prefix, Tags: f.tags,
			Walk: docs.WalkOptions{Include: f.include, Exclude: excludes(f.exclude), MaxFileBytes: f.maxSize.bytes},
		})
	} else if len(f.include) > 0 || len(f.exclude) > 0 || f.maxSize.bytes > 0 {
		return nil, badUsage("--include, --exclude and --max-file-size are about paths; write the same into the source")
	}
	for _, name := range f.sources {
		list, err := docs.ReadSources(name)
		if err != nil {
			return nil, asUsage(fmt.Errorf("--source %s: %w", name, err))
		}
		for _, c := range list {
			for _, note := range slices.Concat(c.Notes, c.Warnings()) {
				fmt.Fprintf(stderr, "%s: %s\n", printable(name), printable(note))
			}
			o := ofSource(s, c)
			o.Tags = slices.Concat(o.Tags, f.tags)
			if f.prefix != "" {
				o.Prefix = f.prefix
			}
			out = append(out, o)
		}
	}
	for _, o := range out {
		if err := exist(o.Paths); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ofSource returns the ingest that a source describes.
func ofSource(s settings, c docs.SourceConfig) engine.IngestOptions {
	o := engine.IngestOptions{
		Namespace: s.Namespace, Paths: []string{c.Path}, Prefix: c.Prefix, Tags: c.Tags,
		Walk: c.WalkOptions(), Chunk: c.Chunk(),
	}
	if c.Namespace != "" {
		o.Namespace = c.Namespace
	}
	return o
}

// plus adds two reports.
func plus(a, b engine.IngestReport) engine.IngestReport {
	a.Created, a.Replaced, a.Unchanged, a.Deleted = a.Created+b.Created, a.Replaced+b.Replaced, a.Unchanged+b.Unchanged, a.Deleted+b.Deleted
	a.Chunks, a.Bytes = a.Chunks+b.Chunks, a.Bytes+b.Bytes
	a.Skipped = append(a.Skipped, b.Skipped...)
	a.LeftOut.Add(b.LeftOut)
	return a
}
