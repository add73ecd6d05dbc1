package main

import (
	"crypto/rand"
	"log/slog"

	"github.com/ragctx/ragctx/internal/otlp"
)

// otlpKey is the environment variable with the key for the collector, without its prefix.
const otlpKey = "otlp_key"

// sendTraces has the engine's queries traced, if the settings name a collector. The caller closes it after the
// engine.
func (s *settings) sendTraces(log *slog.Logger) (closeTraces func(), err error) {
	collector := s.k.String("otlp_url")
	if collector == "" {
		return func() {}, nil
	}
	e, err := otlp.New(otlp.Options{
		URL: collector, Key: secret(s.env, otlpKey), Version: buildVersion(), Log: log,
		NewTraceID: func() (id [16]byte) { _, _ = rand.Read(id[:]); return id }, // it never fails
		NewSpanID:  func() (id [8]byte) { _, _ = rand.Read(id[:]); return id },
	})
	if err != nil {
		return nil, s.refused(err, envName(otlpKey), "otlp_")
	}
	s.traced = e.Add
	return e.Close, nil
}
