package remote

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
)

// SignatureHeader is the header with the signature of a request's body: t=SECONDS,v1=HEX, where HEX
// is the HMAC-SHA256 of "SECONDS.BODY" in lower-case hexadecimal digits.
const SignatureHeader = "Ragctx-Signature"

// Tolerance is the maximum difference between a signature's time and the receiver's clock. An older
// request may be a replay.
const Tolerance = 5 * time.Minute

// maxSignature is the limit of the header.
const maxSignature = 1024

// Sign returns the value of [SignatureHeader] for a body sent at now.
func Sign(secret string, body []byte, now time.Time) string {
	t := strconv.FormatInt(now.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac(secret, t, body))
}

// Verify checks the value of a body's [SignatureHeader]. The error is [ragctx.ErrDenied] and
// describes the fault without revealing the expected value. One of several v1 values must match, so
// that a secret can be rotated.
func Verify(secret, header string, body []byte, now time.Time) error {
	if secret == "" || header == "" || len(header) > maxSignature {
		return fmt.Errorf("%w: the request is not signed", ragctx.ErrDenied)
	}
	var stamp string
	var given []string
	for part := range strings.SplitSeq(header, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "t":
			stamp = value
		case "v1":
			given = append(given, value)
		}
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: the signature has no time", ragctx.ErrDenied)
	}
	want := mac(secret, stamp, body)
	fits := false
	for _, v := range given {
		got, err := hex.DecodeString(v)
		fits = err == nil && hmac.Equal(got, want) || fits
	}
	switch age := now.Sub(time.Unix(seconds, 0)); {
	case !fits:
		return fmt.Errorf("%w: the signature does not match the body", ragctx.ErrDenied)
	case age > Tolerance || age < -Tolerance:
		return fmt.Errorf("%w: the signature is not from the last %v; check the clocks", ragctx.ErrDenied, Tolerance)
	}
	return nil
}

// mac includes the time, so that an old request cannot be replayed with a new time.
func mac(secret, stamp string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(stamp))
	h.Write([]byte{'.'})
	h.Write(body)
	return h.Sum(nil)
}
