package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/internal/ledger"
)

// FuzzReadLine checks that a line that is read and found good comes back from its own
// export as it was, and that no line breaks an import.
func FuzzReadLine(f *testing.F) {
	for _, line := range []string{
		`{"id":"msg_00112233445566778899aabbccddeeff","sequence":"7","timestamp":1700000000000,"cluster":"team","topic":"T","sender":"s","text":"<&\u2028","data":{"a":[1,null]},"metadata":"m"}`,
		`{"cluster_id":"team","topic":"T","sender":"s","target_agent_id":"x","content_text":"t","content_data":"{\"a\":1}","metadata":"{broken"}`,
		`{"clusterId":"team","topic":"T","sender":"s","content":{"text":"t","data":[]},"timestamp":"2026-01-31T12:00:00.5Z"}`,
		`{"topic":1}`, `[]`, `null`, `{"topic":"T","sender":"s","timestamp":"never"}`, "{\"topic\":\"T\",\"sender\":\"\xff\"}",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		log := ledger.NewMemoryLog(ledger.Options{})
		defer log.Close()
		done, err := ledger.Import(context.Background(), log, "space", "team", bytes.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		all := ledger.Query{Filter: ledger.Filter{Namespace: "space", Cluster: "team"}}
		stored, err := log.Query(context.Background(), all)
		if err != nil || len(stored) != done.Imported {
			t.Fatalf("%d messages of %d that were imported, %v", len(stored), done.Imported, err)
		}
		var file bytes.Buffer
		if err := ledger.Export(context.Background(), log, all, &file); err != nil {
			t.Fatal(err)
		}
		other := ledger.NewMemoryLog(ledger.Options{})
		defer other.Close()
		if again, err := ledger.Import(context.Background(), other, "space", "team", &file); err != nil || again.Imported != len(stored) {
			t.Fatalf("of an export of %d messages %+v, %v", len(stored), again, err)
		}
		back, err := other.Query(context.Background(), all)
		if d := cmp.Diff(stored, back); d != "" || err != nil {
			t.Errorf("%v\n%s", err, d)
		}
	})
}

// A line that is too long is its own mistake.
func TestImportLongLine(t *testing.T) {
	log := ledger.NewMemoryLog(ledger.Options{})
	defer log.Close()
	good := `{"topic":"T","sender":"s"}`
	file := good + "\n{\"topic\":\"T\",\"sender\":\"s\",\"text\":\"" + strings.Repeat("x", 9<<20) + "\"}\n" + good
	done, err := ledger.Import(context.Background(), log, "space", "team", strings.NewReader(file))
	if err != nil || done.Imported != 2 || done.Failed != 1 || done.Errors[0].Line != 2 {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestNewID(t *testing.T) {
	for unique, want := range map[string]string{
		"01A200BD-7bbd-7ec3-81c0-200cfd78d1e1": "msg_01a200bd7bbd7ec381c0200cfd78d1e1",
		"00112233445566778899aabbccddeeff":     "msg_00112233445566778899aabbccddeeff",
	} {
		if got := ledger.NewID(unique); got != want {
			t.Errorf("%s: %s", unique, got)
		}
	}
	if a, b := ledger.NewID("1"), ledger.NewID("2"); a == b || !ledger.ValidID(a) || !ledger.ValidID(b) {
		t.Errorf("%s, %s", a, b)
	}
}

// A receipt with damaged JSON starts over instead of failing the append.
func TestDamagedReceipt(t *testing.T) {
	for _, data := range []string{
		"", "null", `{`, `{"messages":2,"sha256":"x"}`, `[]`,
		`{"messages":2,"sha256":"` + strings.Repeat("zz", 32) + `"}`, `{"messages":-1,"sha256":"` + strings.Repeat("00", 32) + `"}`,
	} {
		r := ledger.ReceiptOf(ledger.Message{Data: json.RawMessage(data)})
		if r != (ledger.Receipt{}) {
			t.Errorf("%s: %+v", data, r)
		}
		if err := r.Add(ledger.Message{Topic: "T"}); err != nil || r.Messages != 1 {
			t.Errorf("%s: %+v, %v", data, r, err)
		}
	}
}

func TestLineTimes(t *testing.T) {
	line := func(stamp string) (ledger.Message, error) {
		return ledger.ReadLine([]byte(`{"topic":"T","sender":"s","timestamp":` + stamp + `}`))
	}
	for stamp, want := range map[string]int64{
		`"29.12.2023, 22:42:04"`: 1703889724000, `"2023-12-29 22:42:04"`: 1703889724000, `1703889724000`: 1703889724000, `null`: 0,
	} {
		if m, err := line(stamp); err != nil || m.Timestamp != want {
			t.Errorf("%s is %d, %v; want %d", stamp, m.Timestamp, err, want)
		}
	}
	if _, err := line(`"3/4/2023"`); err == nil || !strings.Contains(err.Error(), `timestamp: "3/4/2023" is ambiguous`) {
		t.Errorf("%v", err)
	}
}
