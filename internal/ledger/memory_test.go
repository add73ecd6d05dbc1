package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/internal/ledger/ledgertest"
)

func TestMemory(t *testing.T) {
	ledgertest.Test(t, func(_ testing.TB, _ string, o ledger.Options) ledgertest.Log { return ledger.NewMemoryLog(o) },
		ledgertest.Options{Volatile: true})
}

// What waits for a slow subscriber is bounded in bytes as well; one that keeps up gets
// any number of long messages.
func TestSubscriptionBytes(t *testing.T) {
	log := ledger.NewMemoryLog(ledger.Options{})
	defer log.Close()
	f := ledger.Filter{Namespace: "space", Cluster: "team"}
	slow, err := log.Subscribe(f)
	if err != nil {
		t.Fatal(err)
	}
	quick, err := log.Subscribe(f)
	if err != nil {
		t.Fatal(err)
	}
	const size = 1 << 20
	for range 3 * ledger.SubscriptionBytes / size {
		m := ledger.Message{Namespace: "space", Cluster: "team", Topic: "T", Sender: "s", Text: strings.Repeat("x", size)}
		if _, err := log.Append(context.Background(), []ledger.Message{m}); err != nil {
			t.Fatal(err)
		}
		<-quick.C()
	}
	n := 0
	var last ledger.Sequence
	for m := range slow.C() {
		n++
		last = m.Sequence
	}
	cut, ok := errors.AsType[*ledger.CutOffError](slow.Err())
	if !ok || n != ledger.SubscriptionBytes/size || cut.After != last {
		t.Errorf("cut off after %d messages, the last of which is %d: %v", n, last, slow.Err())
	}
	if quick.Err() != nil {
		t.Error(quick.Err())
	}
}
