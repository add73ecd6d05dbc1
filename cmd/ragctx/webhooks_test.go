package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/remote"
)

// TestWebhooks serves with a webhook in the settings file. The receiver gets a signed event of a memory, and the
// position is stored when the server ends.
func TestWebhooks(t *testing.T) {
	dir := t.TempDir()
	got := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := remote.Verify("hush", r.Header.Get(remote.SignatureHeader), body, time.Now()); err != nil {
			t.Error(err)
		}
		got <- string(body)
	}))
	defer receiver.Close()
	t.Setenv("HOOK_SECRET", "hush")
	hook := func(more string) string {
		return `[{"name": "audit", "url": "` + receiver.URL + `", "types": ["memory_stored"], "secret_env": "HOOK_SECRET"` + more + `}]`
	}
	for list, want := range map[string]string{
		hook(""): "webhook 1: url: is not on the public Internet; set allow_private",
		hook(`, "allow_private": true, "types": ["x"]`): "is not an event type",
		hook(`, "colour": "red"`):                       "unknown field",
		`[{"name": "a", "url": "ftp:"}]`:                "is not a URL",
		`{}`:                                            "is not a JSON list",
	} {
		t.Setenv("RAGCTX_WEBHOOKS", list)
		if r := ragctxIn(t.Context(), t, dir, "", "serve", "--data", "d", "--addr", "127.0.0.1:0"); r.code != exitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", list, r)
		}
	}
	t.Setenv("RAGCTX_WEBHOOKS", hook(`, "allow_private": true`))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	var out strings.Builder
	go func() {
		ended <- run(ctx, []string{"serve", "--data", "d", "--addr", "127.0.0.1:0"}, strings.NewReader(""), &out, io.Discard)
	}()
	for range 500 {
		if engine.OwnerOf("d").Address != "" {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	var stderr strings.Builder
	if code := run(t.Context(), []string{"remember", "Ann likes tea.", "--data", "d"}, strings.NewReader(""), io.Discard, &stderr); code != 0 {
		t.Fatal(stderr.String())
	}
	select {
	case body := <-got:
		if !strings.Contains(body, `"type":"memory_stored"`) || !strings.Contains(body, `"memory_id":`) {
			t.Error(body)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no event came")
	}
	cancel()
	if code := <-ended; code != exitOK || !strings.Contains(out.String(), "webhook audit: http://127.0.0.1") {
		t.Errorf("%d: %s", code, out.String())
	}
	if b, err := os.ReadFile("d/" + webhooksFile); err != nil || !strings.Contains(string(b), `"complete":true`) {
		t.Errorf("%s, %v", b, err)
	}
}
