package engine_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/access"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
)

func TestStatus(t *testing.T) {
	var log bytes.Buffer
	f := open(t, func(o *engine.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	})
	for _, ns := range []string{"a", "b"} {
		if _, err := f.PutDocument(t.Context(), ns, docs.Document{ExternalID: "d", Text: "Rollbacks need a ticket."}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := f.Remember(t.Context(), memory.Memory{Namespace: "b", UserID: "ada", Content: "Something."}); err != nil {
		t.Fatal(err)
	}
	f.Logger().With("part", "x").Warn("it failed", "error", "disk")
	f.Logger().Info("fine")
	st, err := f.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.Total.Documents != 2 || st.Total.Memories != 1 || len(st.Namespaces) != 2 || st.Namespaces[0] != (engine.NamespaceStatus{Name: "b", Documents: 1, Memories: 1}) {
		t.Errorf("%+v", st)
	}
	if st.Directory.Database == 0 || st.Directory.Other == 0 || len(st.Degraded) != 0 || st.Opened.IsZero() {
		t.Errorf("%+v", st)
	}
	if len(st.Troubles) != 1 || st.Troubles[0].Message != "it failed" || st.Troubles[0].Details != "part=x error=disk" || log.Len() > 0 {
		t.Errorf("%+v, logged %s", st.Troubles, &log)
	}
	for range 30 {
		f.Logger().Error("again")
	}
	own, err := f.Status(access.With(t.Context(), access.Grant{Role: access.Admin, Namespaces: []string{"a"}}))
	if err != nil || len(own.Namespaces) != 1 || own.Total.Documents != 1 || own.Total.Memories != 0 || len(own.Troubles) != 0 {
		t.Errorf("one namespace: %+v, %v", own, err)
	}
	if st, _ := f.Status(t.Context()); len(st.Troubles) != 20 || strings.Count(log.String(), "again") != 30 {
		t.Errorf("%d are remembered, logged %s", len(st.Troubles), &log)
	}
	if _, err := f.Status(access.With(t.Context(), access.Grant{Role: access.Write})); !errors.Is(err, ragctx.ErrDenied) {
		t.Errorf("a writer: %v", err)
	}
}
