package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// TestStoreSetting gives URLs of databases, of which those with passwords are refused and never repeated.
func TestStoreSetting(t *testing.T) {
	for url, ok := range map[string]bool{
		"postgres://ragctx@db.example.com/ragctx?sslmode=verify-full": true,
		"postgresql://db.example.com:5433/ragctx":                     true,
		"postgres://ragctx:hush@db.example.com/ragctx":                false,
		"postgres://db.example.com/ragctx?password=hush":              false,
		"postgres://ragctx:hush@db.example.com:x/ragctx":              false,
		"mysql://hush@db.example.com/ragctx":                          false,
		"postgres://db.example.com":                                   false,
		"hush":                                                        false,
	} {
		err := checkStore(url)
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestIndexSetting gives places of indexes.
func TestIndexSetting(t *testing.T) {
	for v, ok := range map[string]bool{
		"local": true, "weaviate://a": true, "weaviate://a:1,b.example.com/team1": true, "weaviates://[::1]:8080": true,
		"": false, "http://a": false, "weaviate://": false, "weaviate://a/b/c": false, "weaviate://a/b-c": false,
		"weaviate://key@a": false, "weaviate://a,": false,
		"postgres://me@a/x": true, "postgresql://a/x?schema=team_1&sslmode=disable": true,
		"postgres://a": false, "postgres://me:hush@a/x": false, "postgres://a/x?schema=Team": false, "postgres://a/x?sslmode=odd": false,
	} {
		if err := checkIndex(v); (err == nil) != ok {
			t.Errorf("%q: %v", v, err)
		}
	}
}

// TestIndexSettingIsNamed checks that an error of --index names the flag, which is also the name of a package.
func TestIndexSettingIsNamed(t *testing.T) {
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"serve", "--index", "foo"}, strings.NewReader(""), io.Discard, &stderr)
	if code != exitUsage || !strings.Contains(stderr.String(), `--index: "foo" is no URL`) {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	if got := withoutPackages("open: index: keyword: it is damaged"); got != "open: it is damaged" {
		t.Error(got)
	}
}
