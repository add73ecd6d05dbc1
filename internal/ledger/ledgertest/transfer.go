package ledgertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/ledger"
)

// An import keeps ids and times as far as the order allows, and skips messages that are stored.
func testImport(t *testing.T, w *world) {
	now := start.UnixMilli()
	old := func(id byte, at int64) ledger.Message {
		m := msg("X", string(id))
		m.ID, m.Timestamp = "msg_"+strings.Repeat(string(id), 32), at
		return m
	}
	in := []ledger.Message{old('a', now-9000), old('b', now-8000), old('c', now-8500)}
	sub, err := w.Subscribe(filter)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	got, err := w.Import(context.Background(), in)
	if err != nil || len(got) != 3 || len(sub.C()) != 3 {
		t.Fatalf("imported %d and told of %d, %v", len(got), len(sub.C()), err)
	}
	for i, want := range []int64{now - 9000, now - 8000, now - 7999} {
		if got[i].ID != in[i].ID || got[i].Timestamp != want {
			t.Errorf("message %d: %s of %d, want %s of %d", i, got[i].ID, got[i].Timestamp, in[i].ID, want)
		}
	}
	again, err := w.Import(context.Background(), []ledger.Message{in[1], old('d', 0), in[0]})
	if err != nil || len(again) != 1 || again[0].Timestamp != now {
		t.Errorf("imported again: %+v, %v", again, err)
	}
	if d := cmp.Diff([]string{"a", "b", "c", "d"}, texts(w.all(t))); d != "" {
		t.Error(d)
	}
	if again, err := w.Import(context.Background(), in); err != nil || len(again) != 0 {
		t.Errorf("imported once more: %+v, %v", again, err)
	}
	_, err = w.Import(context.Background(), []ledger.Message{old('e', now+2*ledger.MaxAhead.Milliseconds())})
	wantError(t, err, ragctx.ErrInvalid, "a time far ahead")
}

// An import restores an export except for the sequences; Zeroshot's lines are read; a bad line
// fails alone.
func testTransfer(t *testing.T, w *world) {
	w.ten(t)
	rich := msg("PLAN_READY", "<b>&\u2028\U0001f600")
	rich.Data, rich.Metadata = json.RawMessage(`{"n":12345678901234567890,"s":"<&>"}`), json.RawMessage(`["m"]`)
	w.append(t, rich)
	var file bytes.Buffer
	if err := ledger.Export(context.Background(), w, ledger.Query{Filter: filter}, &file); err != nil {
		t.Fatal(err)
	}
	exported := file.String()
	other := newWorld(t, w.open)
	done, err := ledger.Import(context.Background(), other, "space", "team", &file)
	if err != nil || done.Imported != 11 || done.Failed+done.Unchanged != 0 {
		t.Fatalf("imported %+v, %v", done, err)
	}
	want := w.all(t)
	got := other.all(t)
	for i := range got {
		got[i].Sequence = want[i].Sequence
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("imported otherwise:\n%s", d)
	}
	lines := exported + `{"cluster":"others","topic":"X","sender":"s"}` + "\n" + `nonsense` + "\n\n" + `{"topic":"X"}` + "\n" +
		`{"id":"msg_` + strings.Repeat("f", 32) + `","cluster_id":"team","timestamp":"2020-01-01T00:00:00Z","topic":"T","sender":"s",` +
		`"target_agent_id":"judge","content_text":"seed","content_data":"{\"a\":1}","metadata":"{\"source\":\"x\"}"}` + "\n" +
		`{"clusterId":"team","topic":"T","sender":"s","targetAgentId":"judge","content":{"text":"camel","data":[1]},"metadata":"{broken"}`
	done, err = ledger.Import(context.Background(), other, "space", "team", strings.NewReader(lines))
	if err != nil || done.Imported != 2 || done.Unchanged != 11 || done.Failed != 3 {
		t.Errorf("imported %+v, %v", done, err)
	}
	for i, n := range []int{12, 13, 15} {
		if i < len(done.Errors) && done.Errors[i].Line != n {
			t.Errorf("error %d is of line %d, want %d", i, done.Errors[i].Line, n)
		}
	}
	got = other.all(t)[11:]
	for i, want := range []ledger.Message{
		{Receiver: "judge", Text: "seed", Data: json.RawMessage(`{"a":1}`), Metadata: json.RawMessage(`{"source":"x"}`)},
		{Receiver: "judge", Text: "camel", Data: json.RawMessage(`[1]`)}, // damaged JSON reads as null
	} {
		g := got[i]
		if d := cmp.Diff(want, ledger.Message{Receiver: g.Receiver, Text: g.Text, Data: g.Data, Metadata: g.Metadata}); d != "" {
			t.Errorf("line %d (-want +got):\n%s", i, d)
		}
	}
}

// Importing the same file again does not bring removed output back.
func testImportOutputs(t *testing.T, w *world) {
	var file strings.Builder
	for i := range 200 {
		fmt.Fprintf(&file, `{"id":"msg_%032x","timestamp":%d,"topic":%q,"sender":"s","text":"o"}`+"\n", i,
			start.UnixMilli()+int64(i)-1000, ledger.TopicAgentOutput)
	}
	var want []ledger.Message
	for i := range 3 {
		done, err := ledger.Import(context.Background(), w, "space", "team", strings.NewReader(file.String()))
		if err != nil || done.Imported+done.Unchanged != 200 || i > 0 && done.Imported != 0 {
			t.Errorf("import %d: %+v, %v", i, done, err)
		}
		got := w.all(t)
		if i > 0 {
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("import %d has changed something:\n%s", i, d)
			}
		}
		want = got
	}
	w.clock.Add(1000)
	m := msg(ledger.TopicAgentOutput, "later")
	m.Timestamp = w.clock.Load()
	if got, err := w.Import(context.Background(), []ledger.Message{m}); len(got) != 1 || err != nil {
		t.Errorf("a later output: %+v, %v", got, err)
	}
}

// The newest output is kept, and one receipt with a hash chain accounts for the rest.
func testRetention(t *testing.T, w *world) {
	var lines [][]byte // of all outputs
	put := func(n, size int) {
		for i := range n {
			m := msg(ledger.TopicAgentOutput, strings.Repeat("o", size))
			stored := w.append(t, m)[0]
			line, err := ledger.Line(stored)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
			w.append(t, msg("X", fmt.Sprint(i))) // other topics are kept
		}
	}
	outputs, receipts := filter, filter
	outputs.Topics, receipts.Topics = []string{ledger.TopicAgentOutput}, []string{ledger.TopicOmitted}
	check := func(kept, others int) {
		t.Helper()
		left := w.query(t, ledger.Query{Filter: outputs})
		if len(left) != kept {
			t.Fatalf("%d outputs are kept, want %d", len(left), kept)
		}
		found := w.query(t, ledger.Query{Filter: receipts})
		if gone := len(lines) - kept; len(found) != min(gone, 1) {
			t.Fatalf("%d receipts for %d messages", len(found), gone)
		} else if gone > 0 {
			r := ledger.ReceiptOf(found[0])
			var head [sha256.Size]byte
			for _, line := range lines[:gone] {
				head = sha256.Sum256(append(head[:], line...))
			}
			if r.Messages != int64(gone) || r.SHA256 != hex.EncodeToString(head[:]) || kept > 0 && r.LastSequence >= left[0].Sequence {
				t.Errorf("the receipt is %+v, want one of %d messages", r, gone)
			}
		}
		if n := len(w.all(t)) - kept - len(found); n != others {
			t.Errorf("%d other messages, want %d", n, others)
		}
	}
	put(64, 1)
	check(64, 64)
	put(1, 1)
	check(56, 65)
	put(8, 1)
	check(64, 73)
	put(1, 4090) // exceeds the bytes
	check(0, 74)
	put(2, 1)
	check(2, 76)
}
