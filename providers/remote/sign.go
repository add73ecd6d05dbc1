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

// SignatureHeader carries the signature of a request's body: t=SECONDS,v1=HEX, where
// HEX is the HMAC-SHA256 of "SECONDS.BODY" in small hexadecimal digits.
const SignatureHeader = "Ragctx-Signature"

// Tolerance is how far a signature's time may be from the receiver's clock. What is
// older can be somebody's who listened.
const Tolerance = 5 * time.Minute

// maxSignature bounds the header that is looked at.
const maxSignature = 1024

// Sign returns the value of [SignatureHeader] for a body that is sent now.
func Sign(secret string, body []byte, now time.Time) string {
	t := strconv.FormatInt(now.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac(secret, t, body))
}

// Verify checks the value of [SignatureHeader] that came with a body. The error, which
// is [ragctx.ErrDenied], says what is wrong without telling what would be right. Of
// several v1 one must fit, so that a secret can be changed.
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
		return fmt.Errorf("%w: the signature does not fit the body", ragctx.ErrDenied)
	case age > Tolerance || age < -Tolerance:
		return fmt.Errorf("%w: the signature is not of the last %v; compare the clocks", ragctx.ErrDenied, Tolerance)
	}
	return nil
}

// mac covers the time, or an old request could be sent again under a new one.
func mac(secret, stamp string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(stamp))
	h.Write([]byte{'.'})
	h.Write(body)
	return h.Sum(nil)
}
