package main

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificateGrain is the least time between two checks of the files.
const certificateGrain = time.Second

// certificate is the server's certificate. Its files are checked when a client connects and read
// again after a change. While they cannot be read, the old certificate stays.
type certificate struct {
	certFile, keyFile string

	log     *slog.Logger
	changed func(pin string) // called with each new certificate

	mu      sync.Mutex
	current *tls.Certificate
	seen    [2]fileStamp
	looked  time.Time
}

type fileStamp struct {
	size int64
	at   time.Time
}

// config returns the server's TLS configuration.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now(), nil },
	}
}

// pin returns the SHA-256 of the certificate, in hex.
func (c *certificate) pin() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := sha256.Sum256(c.current.Certificate[0])
	return hex.EncodeToString(sum[:])
}

// now returns the certificate as it is in the files.
func (c *certificate) now() *tls.Certificate {
	c.mu.Lock()
	old := c.current
	if time.Since(c.looked) >= certificateGrain && c.stamps() != c.seen {
		if err := c.read(); err != nil {
			c.log.Error("the changed certificate cannot be read; the server uses the old one", "error", err)
		} else {
			c.log.Info("the certificate was read again")
		}
	}
	current := c.current
	c.mu.Unlock()
	if current != old {
		c.changed(c.pin())
	}
	return current
}

// load reads the files for the first time.
func (c *certificate) load() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

// read reads the files. The caller holds mu.
func (c *certificate) read() error {
	c.looked, c.seen = time.Now(), c.stamps()
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("read certificate: %w", err)
	}
	c.current = &pair
	return nil
}

// stamps identify the state of the files, to notice changes.
func (c *certificate) stamps() (s [2]fileStamp) {
	for i, name := range [...]string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			s[i] = fileStamp{info.Size(), info.ModTime()}
		}
	}
	return s
}
