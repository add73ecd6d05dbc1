package bench

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/ragctx/ragctx"
)

// Format names the files of reports, and Version is that of their contents. Reports
// of other versions are refused.
const (
	Format  = "ragctx-bench"
	Version = 3
)

// Report is the outcome of [Run]. Latencies are in milliseconds and over the
// requests that succeeded; percentiles are exact, from all of them.
type Report struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Setup   Setup  `json:"setup"`
	// Repeat, Requests, Seconds and Warmup are as asked for, for each run.
	Repeat   int     `json:"repeat"`
	Requests int     `json:"requests_per_run,omitempty"`
	Seconds  float64 `json:"seconds_per_run,omitempty"`
	Warmup   int     `json:"warmup"`

	Loads []Measurement `json:"loads"`
	// Control is how long a fixed computation took before each run, in milliseconds: it
	// tells whether the machine itself was faster or slower.
	Control []float64 `json:"control_ms"`
	// Ingest is nothing but writing, as fast as the server takes it; nil if that was
	// not measured.
	Ingest *Written `json:"ingest,omitempty"`
	// Sizes are those of the data directory; nil if it is not known.
	Sizes *Sizes `json:"disk_bytes,omitempty"`
	// Recall is how many of the ten nearest vectors searches find; nil if that was not
	// measured.
	Recall *Recall `json:"recall_at_10,omitempty"`
}

// Recall compares searches of vectors with exact ones.
type Recall struct {
	Value float64 `json:"value"`
	// Low and High are the ends of the 95 % confidence interval; Samples is how many
	// searches were compared.
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Samples int     `json:"samples"`
	// P50MS and ExactP50MS are what a search and an exact one take in the median.
	P50MS      float64 `json:"p50_ms"`
	ExactP50MS float64 `json:"exact_p50_ms"`
}

// Setup says what was measured. The caller of [Run] knows it.
type Setup struct {
	Server string `json:"server"`
	// InProcess says that the server ran in the process that asked.
	InProcess bool   `json:"in_process"`
	Namespace string `json:"namespace"`
	// Corpus says where the documents come from.
	Corpus    string `json:"corpus"`
	Documents int    `json:"documents"`
	Chunks    int    `json:"chunks"`
	// Queries says where the queries come from; Distinct is how many there are, and
	// QueriesHash tells other ones apart.
	Queries     string `json:"queries"`
	Distinct    int    `json:"distinct_queries"`
	QueriesHash string `json:"queries_hash"`
	MaxTokens   int    `json:"max_tokens"`
	MaxResults  int    `json:"max_results"`
	Tokenizer   string `json:"tokenizer"`
	Machine     string `json:"machine"`
	Cores       int    `json:"cores"`
	Seed        uint64 `json:"seed"`
	// Program is the version of the program that asked, and Time when, in RFC 3339.
	Program string `json:"program"`
	Time    string `json:"time"`
}

// Measurement is what came of one load, all its runs together.
type Measurement struct {
	Load
	Requests  int            `json:"requests"`
	Succeeded int            `json:"succeeded"`
	Failed    int            `json:"failed"`
	Errors    map[string]int `json:"errors,omitempty"` // by kind
	// Empty counts answers without items.
	Empty int `json:"empty"`
	// Degraded counts answers to which something did not contribute in time: they are
	// quick for the wrong reason.
	Degraded int `json:"degraded"`

	Seconds float64 `json:"seconds"`
	// PerSecond counts the requests that succeeded.
	PerSecond float64 `json:"per_second"`
	// Latency counts from when a request was due. Sent counts from when it was sent,
	// which is the same in a closed loop, and nil then.
	Latency Latency  `json:"latency_ms"`
	Sent    *Latency `json:"latency_since_sent_ms,omitempty"`
	// Late is by how much the generator of an open loop sent requests too late although
	// nothing kept it; Waited counts requests that waited because as many as may be were
	// under way.
	Late   *Latency `json:"generator_late_ms,omitempty"`
	Waited int      `json:"waited,omitempty"`

	// FromCache is of the answers that came from the server's answer cache, Searched of the
	// others; nil where the server does not tell.
	FromCache *Latency `json:"from_cache_latency_ms,omitempty"`
	Searched  *Latency `json:"searched_latency_ms,omitempty"`

	Stages []StageLatency `json:"stages,omitempty"`
	Bytes  Size           `json:"answer_bytes"`
	Tokens Size           `json:"answer_tokens"`
	Items  Size           `json:"answer_items"`
	// CPU and Memory are nil when nothing is known of the server's process.
	CPU    *CPU    `json:"cpu,omitempty"`
	Memory *Memory `json:"memory_bytes,omitempty"`
	// Own and Same are what was written meanwhile.
	Own  *Written `json:"ingest_own,omitempty"`
	Same *Written `json:"ingest_same,omitempty"`

	Curve    []Point   `json:"curve,omitempty"`
	Timeline []Moment  `json:"timeline,omitempty"`
	Runs     []Figures `json:"runs"`
}

// Figures are what one run showed; comparisons are made of them.
type Figures struct {
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
	P99       float64 `json:"p99_ms"`
	PerSecond float64 `json:"per_second"`
	CPU       float64 `json:"cpu_ms_per_request,omitempty"`
}

// StageLatency is what a stage took, by the server's own clock.
type StageLatency struct {
	Name    string  `json:"name"`
	Latency Latency `json:"ms"`
}

// Size summarises one quantity of the answers.
type Size struct {
	Mean float64 `json:"mean"`
	Max  int     `json:"max"`
}

// CPU is the CPU time of the server's process. In process it includes the
// clients, which encode, send, receive and decode beside it.
type CPU struct {
	Seconds      float64 `json:"seconds"`
	PerRequestMS float64 `json:"ms_per_request"`
}

// Memory is the most that the server's process took up, see [Usage].
type Memory struct {
	Anon float64 `json:"anon"`
	File float64 `json:"file"`
}

// Written is what was ingested.
type Written struct {
	// Wanted is how many documents were due in a second; 0 is as fast as they go.
	Wanted    float64        `json:"wanted_per_second,omitempty"`
	Documents int            `json:"documents"`
	Chunks    int            `json:"chunks"`
	Bytes     int            `json:"bytes"`
	Failed    int            `json:"failed,omitempty"`
	Errors    map[string]int `json:"errors,omitempty"`
	Seconds   float64        `json:"seconds"`
	// DocumentsPerSecond, ChunksPerSecond and BytesPerSecond are what was reached.
	DocumentsPerSecond float64 `json:"documents_per_second"`
	ChunksPerSecond    float64 `json:"chunks_per_second"`
	BytesPerSecond     float64 `json:"bytes_per_second"`
	// CPU is what the server's process used for each chunk, where nothing else went on.
	CPU     float64 `json:"cpu_ms_per_chunk,omitempty"`
	Latency Latency `json:"latency_ms"`
}

func newReport(o Options) Report {
	r := Report{
		Format: Format, Version: Version, Setup: o.Setup,
		Repeat: o.Repeat, Requests: o.Requests, Seconds: o.Duration.Seconds(), Warmup: o.Warmup,
	}
	r.Setup.Distinct, r.Setup.QueriesHash, r.Setup.Seed = len(o.Queries), hashOf(o.Queries), o.Seed
	return r
}

func (r Report) succeeded() (n int) {
	for _, m := range r.Loads {
		n += m.Succeeded
	}
	return n
}

// maxReport bounds a report that is read.
const maxReport = 64 << 20

// ReadReport reads a report that was written as JSON. One of another version is
// [ragctx.ErrInvalid].
func ReadReport(in io.Reader) (Report, error) {
	b, err := io.ReadAll(io.LimitReader(in, maxReport+1))
	if err != nil {
		return Report{}, err
	}
	if len(b) > maxReport {
		return Report{}, ragctx.TooLarge("report", "is longer than %d bytes", maxReport)
	}
	var head struct {
		Format  string
		Version int
		Loop    string
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return Report{}, ragctx.Invalid("report", "is not JSON as 'ragctx bench --json' writes it: %v", err)
	}
	switch {
	case head.Format == "" && head.Loop != "":
		return Report{}, ragctx.Invalid("report", "is of version 1, which has one run, and one run can show no difference; measure again with that program and this one's bench")
	case head.Format != Format:
		return Report{}, ragctx.Invalid("report", "is not one of 'ragctx bench --json'")
	case head.Version != Version:
		return Report{}, ragctx.Invalid("report", "is of version %d, and this program reads version %d; measure again", head.Version, Version)
	}
	var r Report
	if err := json.Unmarshal(b, &r); err != nil {
		return r, ragctx.Invalid("report", "is damaged: %v", err)
	}
	for i, m := range r.Loads {
		if len(m.Runs) == 0 || len(m.Runs) > MaxRepeat {
			return r, ragctx.Invalid(fmt.Sprintf("report: loads[%d]", i), "has %d runs; use 1 to %d", len(m.Runs), MaxRepeat)
		}
	}
	return r, nil
}
