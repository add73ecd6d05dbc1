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

// certificateGrain is how often the files of a certificate are looked at, at most.
const certificateGrain = time.Second

// certificate is what a server shows. Its files are looked at when somebody connects,
// and read again when they have changed; while they cannot be read, the old one stays.
type certificate struct {
	certFile, keyFile string

	log     *slog.Logger
	changed func(pin string) // told of another certificate

	mu      sync.Mutex
	current *tls.Certificate
	seen    [2]fileStamp
	looked  time.Time
}

type fileStamp struct {
	size int64
	at   time.Time
}

// config returns how TLS is spoken.
func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now(), nil }}
}

// pin returns the SHA-256 of the certificate, in hex.
func (c *certificate) pin() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := sha256.Sum256(c.current.Certificate[0])
	return hex.EncodeToString(sum[:])
}

// now returns the certificate as its files have it now.
func (c *certificate) now() *tls.Certificate {
	c.mu.Lock()
	old := c.current
	if time.Since(c.looked) >= certificateGrain && c.stamps() != c.seen {
		if err := c.read(); err != nil {
			c.log.Error("the certificate has changed and cannot be read; the old one goes on to be used", "error", err)
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

// stamps tells the files as they are from those that were read.
func (c *certificate) stamps() (s [2]fileStamp) {
	for i, name := range [...]string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			s[i] = fileStamp{info.Size(), info.ModTime()}
		}
	}
	return s
}
