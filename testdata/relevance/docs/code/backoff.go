// Package backoff computes how long a client waits before it tries again.
package backoff

import (
	"math/rand/v2"
	"time"
)

// Policy bounds the waiting times. The zero value starts at 100 ms and ends at 30 s.
type Policy struct {
	Initial, Max time.Duration
	Multiplier   float64
}

// Delay returns the pause before the given attempt, the first being 0. Half of it is
// random, so that clients which failed together do not return together.
func (p Policy) Delay(attempt int) time.Duration {
	d := p.initial()
	for range attempt {
		d = time.Duration(float64(d) * p.multiplier())
		if d >= p.max() {
			d = p.max()
			break
		}
	}
	return d/2 + rand.N(d/2+1)
}

// ShouldRetry reports whether an error code is worth another attempt: those below 2000.
func ShouldRetry(code int) bool { return code >= 1000 && code < 2000 }

func (p Policy) initial() time.Duration {
	if p.Initial > 0 {
		return p.Initial
	}
	return 100 * time.Millisecond
}

func (p Policy) max() time.Duration {
	if p.Max > 0 {
		return p.Max
	}
	return 30 * time.Second
}

func (p Policy) multiplier() float64 {
	if p.Multiplier > 1 {
		return p.Multiplier
	}
	return 2
}
