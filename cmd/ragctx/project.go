package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"
)

// projectDir is the folder of a project's data. The data directory is inside it, next to a
// .gitignore file.
const projectDir = ".ragctx"

// roots are the entries that mark the root of a project without data.
var roots = []string{".git", ".hg", ".jj"}

// projectData returns the data directory of the project at a folder, or "" outside of projects. A
// project is the nearest folder upwards that has data, or else the nearest root of a repository. A
// command that reads files of its own makes the working directory a project. The home directory
// and the root of the file system are projects only if they have data.
func projectData(at, home string, readsFiles bool) string {
	in := func(root string) string { return filepath.Join(root, projectDir, "data") }
	maybe := func(dir string) bool { return dir != home && dir != filepath.Dir(dir) }
	repository := ""
	for dir := at; ; dir = filepath.Dir(dir) {
		switch {
		case isDir(filepath.Join(dir, projectDir)):
			return in(dir)
		case repository == "" && maybe(dir) && hasAny(dir, roots):
			repository = dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	switch {
	case repository != "":
		return in(repository)
	case readsFiles && maybe(at):
		return in(at)
	}
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func hasAny(dir string, names []string) bool {
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// project returns the settings that the working directory implies: the data directory of its
// project.
func project(cmd *cobra.Command, env lookupEnv) map[string]any {
	given := func(flag string) bool { f := cmd.Flags().Lookup(flag); return f != nil && f.Changed }
	at, err := os.Getwd()
	if err != nil || given("global") {
		return nil
	}
	home, _ := env("HOME")
	if h, ok := env("USERPROFILE"); ok && runtime.GOOS == "windows" {
		home = h
	}
	dir := projectData(at, home, cmd.Name() == "ingest" || given("docs") || given("allow-path"))
	if dir == "" {
		return nil
	}
	return map[string]any{"data": dir}
}

// checkProject rejects the data of a project that other users can change, as if it had come with the
// files of a repository: it could have been written by anybody.
func (s *settings) checkProject() error {
	if s.origin["data"] != fromProject || runtime.GOOS == "windows" {
		return nil
	}
	info, err := os.Stat(s.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return s.unusable(err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("the data directory %s is open to other users, as if it had come with the files of the project; "+
			"if it is yours, run 'chmod 700' on it, or name it with --data", printable(s.Data))
	}
	return nil
}

// userWide returns a text with the data directory of the user, or "" if the environment names none.
func (s *settings) userWide(format string) string {
	if dir := defaultDataDir(s.env); dir != "" {
		return fmt.Sprintf(format, printable(dir))
	}
	return ""
}

// unusable adds the remedy to an error about a data directory that this process cannot write, or that is
// no directory.
func (s *settings) unusable(err error) error {
	cause, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	global := ""
	if s.origin["data"] == fromProject {
		global = s.userWide(", --global uses %s")
	}
	return fmt.Errorf("the data directory %s cannot be used: %w; it must be a folder in which you can write; --data names another%s",
		printable(s.Data), cause, global)
}

// makeProject makes the folder for the data of a project, if there is none, and reports it. Version
// control ignores the folder.
func (s *settings) makeProject(stderr io.Writer) error {
	if s.origin["data"] != fromProject {
		return nil
	}
	dir := filepath.Dir(s.Data)
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Stat(ignore); err == nil {
		return nil
	}
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(ignore, []byte("*\n"), 0o600)
	}
	if err != nil {
		return s.unusable(err)
	}
	fmt.Fprintf(stderr, "the data of this project is in %s%s\n", printable(dir), s.userWide(" (with --global it is in %s)"))
	return nil
}
