package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/internal/store"
)

// smallDisk mounts a file system of its own that holds so many bytes, or skips the test.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes up what is left of a disk. It leaves a server what it had reserved, which may have
// been given free at the same moment.
func fill(t *testing.T, dir, data string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "filler"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for n := 1 << 20; n > 0 && isReserved(t, data); {
		if _, err := f.Write(make([]byte, n)); errors.Is(err, syscall.ENOSPC) {
			n /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if isReserved(t, data) {
		return
	}
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(max(0, st.Size()-store.DefaultReserve)); err != nil {
		t.Fatal(err)
	}
}

// isReserved reports whether a server holds what it reserves of the disk.
func isReserved(t *testing.T, data string) bool {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(data, "*-reserve"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found) > 0
}

// TestFullDisk fills the disk below a server. Writes are refused and say why, questions,
// deletes and erasures go on, and what was erased is in no file. SIGTERM ends it in order,
// and it starts again. Once there is space, everything goes on.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, 64<<20)
	data := filepath.Join(dir, "data")
	s := startServer(t, data)
	url, err := s.url()
	if err != nil {
		t.Fatal(err, s.stderr.String())
	}
	c := api.NewClient(url)
	defer func() { c.Close() }()
	ctx := context.Background()
	put := func(id, text string) error {
		_, err := c.PutDocument(ctx, "", ragctx.Document{ExternalID: id, Text: text}, "")
		return err
	}
	for i := range 40 {
		if err := put(fmt.Sprint("d", i), fmt.Sprintf("Zqtoken%dxw. ", i)+strings.Repeat(fmt.Sprintf("Text %d about harbours.\n\n", i), 2000)); err != nil {
			t.Fatal(err)
		}
	}
	// The indexes have their files from here on: what they would still have to write is what
	// the reserve may be too small for.
	if code := s.end(t, syscall.SIGTERM); code != exitOK {
		t.Fatalf("ended with status %d\n%s", code, s.stderr.String())
	}
	s = startServer(t, data)
	if url, err = s.url(); err != nil {
		t.Fatal(err, s.stderr.String())
	}
	c.Close()
	c = api.NewClient(url)
	refused := 0
	for i := 0; refused < 10; i++ {
		if i == 500 {
			t.Fatal("the disk does not get full")
		}
		if isReserved(t, data) {
			fill(t, dir, data) // again: a merge of an index, or what is left of the log, gives some free
		}
		if err := put(fmt.Sprint("new", i), strings.Repeat(fmt.Sprintf("New %d.\n\n", i), 5000)); errors.Is(err, ragctx.ErrNoSpace) {
			refused++
		} else if err != nil {
			t.Errorf("a write on the full disk: %v", err)
		}
	}
	finds := func(token string) bool {
		t.Helper()
		a, err := c.Search(ctx, ragctx.NewQuery(token))
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range a.Items {
			if strings.Contains(it.Content, token) {
				return true
			}
		}
		return false
	}
	if !finds("Zqtoken39xw") {
		t.Error("questions do not go on")
	}
	for i := range 10 {
		if err := c.DeleteDocument(ctx, "", fmt.Sprint("d", i)); err != nil {
			t.Errorf("a delete on the full disk: %v", err)
		}
	}
	for i := 10; i < 30; i++ {
		if err := erase(url, fmt.Sprint("d", i)); err != nil {
			t.Errorf("an erasure on the full disk: %v\n%s", err, s.stderr.String())
		}
	}
	for i := range 30 {
		if finds(fmt.Sprintf("Zqtoken%dxw", i)) {
			t.Errorf("d%d is still found", i)
		}
	}
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if err := put("instead", "Zqinsteadxw has the room of what was erased."); err == nil {
			break
		} else if !errors.Is(err, ragctx.ErrNoSpace) || time.Now().After(end) {
			t.Errorf("a write in the room that erasures made: %v", err)
			break
		}
	}
	if in := holds(t, data, "zqtoken20xw"); in != "" {
		t.Errorf("what was erased is in %s", in)
	}
	if code := s.end(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("ended with status %d\n%s", code, s.stderr.String())
	}
	s = startServer(t, data)
	if url, err = s.url(); err != nil {
		t.Fatal("on the full disk: ", err, s.stderr.String())
	}
	c.Close()
	c = api.NewClient(url)
	if !finds("Zqtoken39xw") || finds("Zqtoken0xw") {
		t.Error("after another start: not as it was")
	}
	if err := erase(url, "d31"); err != nil {
		t.Errorf("an erasure after another start: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if err := put("last", "Zqlastxw is written."); err == nil {
			break
		} else if !errors.Is(err, ragctx.ErrNoSpace) || time.Now().After(end) {
			t.Fatalf("once there is space: %v", err)
		}
	}
	if !finds("Zqlastxw") {
		t.Error("what is written once there is space is not found")
	}
	if code := s.end(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("ended with status %d\n%s", code, s.stderr.String())
	}
}

// erase erases a document.
func erase(url, id string) error {
	req, err := http.NewRequest(http.MethodDelete, url+"/v1/documents/"+id+"?erase=true", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if b, _ := io.ReadAll(res.Body); res.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s: %s", res.Status, b)
	}
	return nil
}

// holds returns a file below a directory that has a text, in any case; "" if none has.
func holds(t *testing.T, dir, text string) (in string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if strings.Contains(strings.ToLower(string(b)), text) {
			in = name
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	return in
}

// TestSignals: a client that never sends the rest of its body does not make an orderly end a
// failure, and a hang-up is nothing to a server.
func TestSignals(t *testing.T) {
	s := startServer(t, t.TempDir())
	url, err := s.url()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "PUT /v1/documents/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"text\":"); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // for the signal to arrive
	c := api.NewClient(url)
	defer c.Close()
	if err := c.Readyz(t.Context()); err != nil {
		t.Errorf("after SIGHUP: %v", err)
	}
	if code := s.end(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("ended with status %d\n%s", code, s.stderr.String())
	}
}
