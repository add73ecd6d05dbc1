package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCertificateIsReadAgain replaces the files of a certificate, with good ones and
// with bad ones.
func TestCertificateIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	told := ""
	c := &certificate{
		certFile: filepath.Join(dir, "cert.pem"), keyFile: filepath.Join(dir, "key.pem"),
		log: slog.New(slog.NewTextHandler(&log, nil)), changed: func(pin string) { told = pin },
	}
	if err := c.load(); err == nil {
		t.Error("files that are not there are loaded")
	}
	writePair(t, c, 1)
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	first := c.pin()
	look := func() { c.looked = time.Time{}; c.now() }
	if look(); c.pin() != first || told != "" {
		t.Error("it was read again though nothing has changed")
	}
	if err := os.WriteFile(c.certFile, []byte("half a certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if look(); c.pin() != first || !bytes.Contains(log.Bytes(), []byte("the old one goes on")) {
		t.Errorf("with a bad file: log %s", log.String())
	}
	writePair(t, c, 123456789)
	if look(); c.pin() == first || told != c.pin() {
		t.Errorf("with another certificate: %s, told %s", c.pin(), told)
	}
}

func writePair(t *testing.T, c *certificate, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{c.certFile: {Type: "CERTIFICATE", Bytes: der}, c.keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
