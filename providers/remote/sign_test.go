package remote_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/remote"
)

// TestSignature is made of the digest that other programs make.
func TestSignature(t *testing.T) {
	// printf '1772366400.{"event":"query"}' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
	const want = "t=1772366400,v1=225baa189dce5bf0965f7fcb36a6f37ec15a28892987c4f2cf45fb0f20919aeb"
	if got := remote.Sign(secret, []byte(`{"event":"query"}`), noon); got != want {
		t.Errorf("got %s", got)
	}
}

// TestVerify: only a signed body verifies, and only within the tolerance.
func TestVerify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		at := time.Unix(rapid.Int64Range(0, 1<<40).Draw(t, "at"), 0)
		skew := time.Duration(rapid.Int64Range(-600, 600).Draw(t, "skew")) * time.Second
		header := remote.Sign(secret, body, at)
		err := remote.Verify(secret, header, body, at.Add(skew))
		if (err == nil) != (skew.Abs() <= remote.Tolerance) {
			t.Fatalf("skew %v: %v", skew, err)
		}
		if err := remote.Verify(secret+"x", header, body, at); !errors.Is(err, ragctx.ErrDenied) {
			t.Fatalf("another secret: %v", err)
		}
		if err := remote.Verify(secret, header, append(body, 'x'), at); !errors.Is(err, ragctx.ErrDenied) {
			t.Fatalf("another body: %v", err)
		}
		if err := remote.Verify(secret, header+",v1=00", body, at); err != nil {
			t.Fatalf("two signatures: %v", err)
		}
	})
	good := remote.Sign(secret, []byte("b"), noon)
	for _, header := range []string{
		"", "t", "t=1", "v1=00", "t=x,v1=00", "t=1772366400", "t=1772366400,v1=", "t=1772366400,v1=zz", strings.Repeat(good+",", 20),
		"t=9223372036854775807,v1=00", "t=-1,v1=00",
	} {
		if err := remote.Verify(secret, header, []byte("b"), noon); !errors.Is(err, ragctx.ErrDenied) {
			t.Errorf("%.40q: %v", header, err)
		}
	}
	if err := remote.Verify("", good, []byte("b"), noon); !errors.Is(err, ragctx.ErrDenied) {
		t.Errorf("no secret: %v", err)
	}
}
