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
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
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
	if err := writePair(c, 1); err != nil {
		t.Fatal(err)
	}
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
	if look(); c.pin() != first || !bytes.Contains(log.Bytes(), []byte("the server uses the old one")) {
		t.Errorf("with a bad file: log %s", log.String())
	}
	if err := writePair(c, 123456789); err != nil {
		t.Fatal(err)
	}
	if look(); c.pin() == first || told != c.pin() {
		t.Errorf("with another certificate: %s, told %s", c.pin(), told)
	}
}

// makeCertificate makes a certificate for 127.0.0.1 that nobody vouches for:
// certificate CERT KEY.
func makeCertificate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: certificate CERT KEY")
	}
	ts.Check(writePair(&certificate{certFile: ts.MkAbs(args[0]), keyFile: ts.MkAbs(args[1])}, 1))
}

func writePair(c *certificate, serial int64) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{c.certFile: {Type: "CERTIFICATE", Bytes: der}, c.keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
