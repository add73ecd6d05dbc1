// Package pgtest starts a PostgreSQL server for tests.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running server.
type Server struct {
	bin, dir string
	port     int
	user     *syscall.Credential // nil for the own user
	cmd      *exec.Cmd
	ended    chan struct{}
}

// account is the name of the database's superuser.
const account = "ragctx"

// Start starts a server that ends with the test. It listens on the loopback address alone. Unless durable, it
// does not wait for the disk. Without the server's programs the test is skipped.
func Start(t testing.TB, durable bool) *Server {
	t.Helper()
	if testing.Short() || os.Getenv("RAGCTX_NO_POSTGRES") != "" {
		t.Skip("no PostgreSQL server is started with -short, nor with RAGCTX_NO_POSTGRES")
	}
	bin, err := programs()
	if err != nil {
		t.Skip(err)
	}
	s := &Server{bin: bin}
	if os.Geteuid() == 0 {
		if s.user, err = unprivileged(); err != nil {
			t.Skip(err)
		}
	}
	if s.dir, err = os.MkdirTemp("", "ragctx-pg-"); err != nil { //nolint:usetesting // a short name: it has a socket
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.dir) })
	if s.user != nil {
		if err := os.Chown(s.dir, int(s.user.Uid), int(s.user.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.start(durable); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func (s *Server) start(durable bool) error {
	data := filepath.Join(s.dir, "data")
	out, err := s.command("initdb", "-D", data, "-U", account, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	if s.port, err = freePort(); err != nil {
		return err
	}
	args := []string{
		"-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-k", s.dir, "-c", "max_connections=300",
		"-c", "shared_buffers=64MB", "-c", "log_min_messages=fatal",
	}
	if !durable {
		args = append(args, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	}
	s.cmd = s.command("postgres", args...)
	s.cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	if err := s.launch(); err != nil {
		return err
	}
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := s.run("SELECT 1")
		if err == nil {
			return nil
		}
		if time.Now().After(until) {
			s.Stop()
			return fmt.Errorf("the server does not answer: %w", err)
		}
	}
}

// launch starts the server's process, which ends with this one. The system ends it with the thread that
// started it, so that thread waits.
func (s *Server) launch() error {
	started := make(chan error)
	s.ended = make(chan struct{})
	go func() {
		runtime.LockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait()
			close(s.ended)
		}
	}()
	return <-started
}

// Stop ends the server at once. It may be called more than once.
func (s *Server) Stop() {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT) // it may have ended
	<-s.ended
}

// Database creates a database, unless it exists, and returns its URL.
func (s *Server) Database(t testing.TB, name string) string {
	t.Helper()
	if err := s.run(`CREATE DATABASE "` + name + `"`); err != nil && !strings.Contains(err.Error(), "already exists") {
		t.Fatal(err)
	}
	return s.url(name)
}

// lacking has the reasons why servers do not have extensions, by the extension's name, so that only one test asks.
var lacking sync.Map

// Extended starts a server, as [Start] does, and creates a database with an extension. If the server does not have it, the test is
// skipped. It returns the URL of the database.
func Extended(t testing.TB, extension string) (s *Server, url string) {
	t.Helper()
	if why, ok := lacking.Load(extension); ok {
		t.Skip(why)
	}
	s = Start(t, false)
	url = s.Database(t, "extended")
	if err := runAt(url, "CREATE EXTENSION "+extension); err != nil {
		why := fmt.Sprintf("the server in %s has no extension %s: %v", s.bin, extension, err)
		lacking.Store(extension, why)
		t.Skip(why)
	}
	return s, url
}

// run runs a statement.
func (s *Server) run(statement string) error { return runAt(s.url("postgres"), statement) }

func runAt(url, statement string) error {
	ctx, end := context.WithTimeout(context.Background(), 2*time.Minute)
	defer end()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, statement)
	return errors.Join(err, c.Close(ctx))
}

func (s *Server) url(database string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", account, s.port, database)
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...) //nolint:gosec,noctx // of a test
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.user}
	return cmd
}

// programs returns the folder of the server's programs.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", err
		}
		return filepath.Dir(path), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	if len(found) == 0 {
		return "", errors.New("no PostgreSQL server is installed (apt-get install postgresql)")
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}

// unprivileged returns the user that runs the server for root, which it refuses.
func unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("the PostgreSQL server does not run as root, and there is no other user for it")
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // of a test
	if err != nil {
		return 0, err
	}
	defer l.Close()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("the address is %v", l.Addr())
	}
	return addr.Port, nil
}
