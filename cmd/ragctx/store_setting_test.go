package main

import (
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
