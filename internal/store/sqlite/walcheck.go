package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ragctx/ragctx"
)

// Sizes in SQLite's write-ahead log; see "WAL File Format" in its file format description.
const (
	walHeader = 32
	walFrame  = 24
)

// checkLog rejects a log damaged after it was written. SQLite treats a frame with a wrong checksum
// as the end of the log, as after a crash, and would silently drop the rest. But each transaction
// is synced before the next begins: a wrong frame followed by a complete transaction and the start
// of another must have been valid once.
func checkLog(path string) error {
	f, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	at, err := damagedAt(bufio.NewReaderSize(f, 1<<20))
	if err != nil || at == 0 {
		return err
	}
	return fmt.Errorf("%w: the log of the database (%s-wal) is damaged at byte %d, and acknowledged writes with it; "+
		"restore a snapshot, or truncate the log there to continue without them", ragctx.ErrUnavailable, path, at)
}

// damagedAt returns the position of damage in a log, 0 if none is detectable.
func damagedAt(r io.Reader) (int64, error) {
	head := make([]byte, walHeader)
	if ok, err := fill(r, head); !ok {
		return 0, err
	}
	order, ok := walOrder(head)
	if !ok {
		return 0, nil
	}
	sum := walSum{order: order}
	sum.add(head[:24])
	size := binary.BigEndian.Uint32(head[8:])
	if !sum.is(head[24:]) || size < 512 || size > 1<<16 {
		return 0, nil // an incomplete header has nothing after it
	}
	frame := make([]byte, walFrame+size)
	wrong, commits := int64(0), 0
	for at := int64(walHeader); ; at += int64(len(frame)) {
		ok, err := fill(r, frame)
		if !ok {
			return 0, err
		}
		if string(frame[8:16]) != string(head[16:24]) {
			if wrong == 0 {
				wrong = at // possibly the remains of an earlier round
			}
			continue
		}
		switch {
		case wrong == 0:
			sum.add(frame[:8])
			sum.add(frame[walFrame:])
			if !sum.is(frame[16:24]) {
				wrong = at
			}
		case commits > 0:
			return wrong, nil
		}
		if wrong != 0 && binary.BigEndian.Uint32(frame[4:]) != 0 {
			commits++
		}
	}
}

// fill reads all of b, and returns false at the end.
func fill(r io.Reader, b []byte) (bool, error) {
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return err == nil, err
}

// walOrder returns the byte order of a log's checksums.
func walOrder(head []byte) (binary.ByteOrder, bool) {
	switch binary.BigEndian.Uint32(head) {
	case 0x377f0682:
		return binary.LittleEndian, true
	case 0x377f0683:
		return binary.BigEndian, true
	}
	return nil, false
}

// walSum is the running checksum of a log.
type walSum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (w *walSum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		w.s0 += w.order.Uint32(b) + w.s1
		w.s1 += w.order.Uint32(b[4:]) + w.s0
	}
}

func (w *walSum) is(b []byte) bool {
	return binary.BigEndian.Uint32(b) == w.s0 && binary.BigEndian.Uint32(b[4:]) == w.s1
}
