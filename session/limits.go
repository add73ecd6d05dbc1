package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ragctx/ragctx"
)

// Limits of a session, so that it fits in memory and no write blocks others for long.
const (
	MaxAppend       = 1000     // messages appended in one call
	MaxMessageBytes = 16 << 20 // of a message, as measured by Bytes
	MaxBlocks       = 4096     // of a message, including those within results
	MaxMessages     = 50_000   // of a session
	MaxBytes        = 64 << 20 // of a session's messages
	MaxSections     = 256      // of a session, including empty ones
	MaxRecords      = 1000     // compactions of a session
	MaxRecordBytes  = 16 << 20 // of a session's compactions
	MaxParameters   = 64 << 10 // bytes of JSON of a session's parameters
)

// Minimum sizes of a message, a block and a metadata value, approximately their size in memory and
// on disk. They bound the number of empty messages.
const (
	messageSize = 48 // without its metadata
	blockSize   = 64
	valueSize   = 16
)

// Bytes returns the approximate size of a message: its content, its metadata and the overhead of
// storing them.
func Bytes(m ragctx.Message) int64 {
	return int64(messageSize + len(m.Name) + len(m.Reasoning) + valueBytes(map[string]any(m.Metadata)) + contentBytes(m.Content))
}

func contentBytes(c ragctx.Content) int {
	n := 0
	for _, b := range c {
		n += blockSize + len(b.Text) + len(b.MediaType) + len(b.Data) + len(b.ID) + len(b.Name) + len(b.Input)
		n += len(b.ToolUseID) + len(b.Form) + len(b.Part) + contentBytes(b.Content)
	}
	return n
}

// blocks counts the blocks of a content, including nested ones.
func blocks(c ragctx.Content) int {
	n := len(c)
	for _, b := range c {
		n += blocks(b.Content)
	}
	return n
}

// valueBytes returns the approximate size of a JSON value.
func valueBytes(v any) int {
	n := valueSize
	switch v := v.(type) {
	case string:
		n += len(v)
	case json.Number:
		n += len(v)
	case map[string]any:
		for key, one := range v {
			n += len(key) + valueBytes(one)
		}
	case []any:
		for _, one := range v {
			n += valueBytes(one)
		}
	}
	return n
}

// Size is the size of a session.
type Size struct {
	Messages int
	Bytes    int64
}

// Add returns the size with more entries. It returns [ragctx.ErrTooLarge] if one of them or the
// session is too large.
func (s Size) Add(entries []Entry) (Size, error) {
	for i, e := range entries {
		if err := CheckBlocks(e.Message.Content, func() string { return fmt.Sprintf("messages[%d].content", i) }); err != nil {
			return s, err
		}
		n := Bytes(e.Message)
		if n > MaxMessageBytes {
			return s, tooLarge(fmt.Sprintf("messages[%d]", i),
				"has %d bytes, the limit is %d; shorten it, or keep large contents elsewhere", n, MaxMessageBytes)
		}
		s.Messages++
		s.Bytes += n
	}
	switch {
	case s.Messages > MaxMessages:
		return s, tooLarge("messages", "would be %d, the limit of a session is %d; begin another session", s.Messages, MaxMessages)
	case s.Bytes > MaxBytes:
		return s, tooLarge("messages", "would have %d bytes, the limit of a session is %d; begin another session", s.Bytes, MaxBytes)
	}
	return s, nil
}

// CheckBlocks returns an error if a content has too many blocks. field names the content.
func CheckBlocks(c ragctx.Content, field func() string) error {
	if n := blocks(c); n > MaxBlocks {
		return tooLarge(field(), "has %d blocks, the limit is %d; split it into several messages", n, MaxBlocks)
	}
	return nil
}

// CheckSize returns the size of an archive's messages, or [ragctx.ErrTooLarge] if the archive
// exceeds the limits of a session.
func (a Archive) CheckSize() (Size, error) {
	records, _ := compactionSize(a.Compactions)
	if err := records.check(); err != nil {
		return Size{}, err
	}
	if _, err := MergeParameters(nil, a.Parameters); err != nil {
		return Size{}, err
	}
	names := make(map[string]bool, len(a.Sections))
	for _, name := range a.Sections {
		names[name] = true
	}
	for _, e := range a.Entries {
		names[e.Section] = true
	}
	if err := CheckSections(len(names)); err != nil {
		return Size{}, err
	}
	return Size{}.Add(a.Entries)
}

// CheckSections returns an error if n exceeds the number of sections of a session.
func CheckSections(n int) error {
	if n > MaxSections {
		return tooLarge("sections", "would be %d, the limit of a session is %d; use fewer names, or begin another session", n, MaxSections)
	}
	return nil
}

// CompactionSize is the number and total size of a session's compactions.
type CompactionSize struct {
	Number int
	Bytes  int64
}

func (r CompactionSize) check() error {
	if r.Number > MaxRecords || r.Bytes > MaxRecordBytes {
		return tooLarge("compactions", "would be %d with %d bytes, the limits of a session are %d and %d; undo some",
			r.Number, r.Bytes, MaxRecords, MaxRecordBytes)
	}
	return nil
}

// compactionSize returns the size of compactions, and a function that reports whether one of them
// has an id.
func compactionSize(all []Compaction) (size CompactionSize, taken func(id string) bool) {
	for _, c := range all {
		size.Number++
		size.Bytes += int64(len(c.Record))
	}
	return size, func(id string) bool { return slices.ContainsFunc(all, func(c Compaction) bool { return c.ID == id }) }
}

// checkAppend returns an error if there are too many messages for one call.
func checkAppend(messages []ragctx.Message) error {
	if n := len(messages); n > MaxAppend {
		return tooLarge("messages", "are %d, the limit is %d; append them in parts, or import them", n, MaxAppend)
	}
	return nil
}

func tooLarge(field, format string, args ...any) error {
	return &ragctx.FieldError{Field: field, Problem: fmt.Sprintf(format, args...), Kind: ragctx.ErrTooLarge}
}

// MergeParameters returns have updated with more; a nil value removes a parameter.
func MergeParameters(have, more map[string]any) (map[string]any, error) {
	out := maps.Clone(overlay(have, more))
	maps.DeleteFunc(out, func(key string, v any) bool { return v == nil })
	b, err := json.Marshal(out)
	switch {
	case err != nil:
		return nil, ragctx.Invalid("parameters", "cannot be encoded: %v; send JSON values", err)
	case len(b) > MaxParameters:
		return nil, tooLarge("parameters", "have %d bytes, the limit is %d; keep them elsewhere", len(b), MaxParameters)
	}
	return out, nil
}
