package bench

// Format identifies report files; Version is the version of their contents. Reports of other
// versions are rejected.
const (
	Format  = "ragctx-bench"
	Version = 3
)

// Report is the result of [Run]. Latencies are in milliseconds and cover the requests that
// succeeded; percentiles are exact.
type Report struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Setup   Setup  `json:"setup"`
	// Repeat, Requests, Seconds and Warmup are the options of the run.
	Repeat   int     `json:"repeat"`
	Requests int     `json:"requests_per_run,omitempty"`
	Seconds  float64 `json:"seconds_per_run,omitempty"`
	Warmup   int     `json:"warmup"`

	Loads []Measurement `json:"loads"`
	// Control is the duration of a fixed computation before each run, in milliseconds. It shows
	// whether the machine itself became faster or slower.
	Control []float64 `json:"control_ms"`
	// Ingest is the result of writing alone, as fast as the server accepts documents; nil if that
	// was not measured.
	Ingest *Written `json:"ingest,omitempty"`
	// Sizes are the sizes of the data directory; nil if unknown.
	Sizes *Sizes `json:"disk_bytes,omitempty"`
	// Recall is the share of the ten nearest vectors that searches find; nil if that was not
	// measured.
	Recall *Recall `json:"recall_at_10,omitempty"`
}

// Recall compares vector searches with exact ones.
type Recall struct {
	Value float64 `json:"value"`
	// Low and High are the ends of the 95 % confidence interval; Samples is the number of compared
	// searches.
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Samples int     `json:"samples"`
	// P50MS and ExactP50MS are the median durations of a search and of an exact search.
	P50MS      float64 `json:"p50_ms"`
	ExactP50MS float64 `json:"exact_p50_ms"`
}

// Setup describes what was measured. The caller of [Run] fills it in.
type Setup struct {
	Server string `json:"server"`
	// InProcess is set if the server ran in the same process as the clients.
	InProcess bool   `json:"in_process"`
	Namespace string `json:"namespace"`
	// Corpus names the source of the documents.
	Corpus    string `json:"corpus"`
	Documents int    `json:"documents"`
	Chunks    int    `json:"chunks"`
	// Queries names the source of the queries, Distinct is their number, and QueriesHash identifies
	// their texts.
	Queries     string `json:"queries"`
	Distinct    int    `json:"distinct_queries"`
	QueriesHash string `json:"queries_hash"`
	MaxTokens   int    `json:"max_tokens"`
	MaxResults  int    `json:"max_results"`
	Tokenizer   string `json:"tokenizer"`
	Machine     string `json:"machine"`
	Cores       int    `json:"cores"`
	Seed        uint64 `json:"seed"`
	// Program is the version of the measuring program; Time is in RFC 3339.
	Program string `json:"program"`
	Time    string `json:"time"`
}

// Measurement is the result of one load over all its runs.
type Measurement struct {
	Load
	Requests  int            `json:"requests"`
	Succeeded int            `json:"succeeded"`
	Failed    int            `json:"failed"`
	Errors    map[string]int `json:"errors,omitempty"` // by kind
	// Empty counts answers without items.
	Empty int `json:"empty"`
	// Degraded counts answers that lack a provider or an index. They are faster for the wrong
	// reason.
	Degraded int `json:"degraded"`

	Seconds float64 `json:"seconds"`
	// PerSecond counts the requests that succeeded.
	PerSecond float64 `json:"per_second"`
	// Latency counts from the time when a request was due. Sent counts from the time when it was
	// sent; it is nil in a closed loop, where both are the same.
	Latency Latency  `json:"latency_ms"`
	Sent    *Latency `json:"latency_since_sent_ms,omitempty"`
	// Late is the delay with which an open loop's generator sent requests although no limit held
	// them back. Waited counts requests that waited because the largest number of requests was
	// under way.
	Late   *Latency `json:"generator_late_ms,omitempty"`
	Waited int      `json:"waited,omitempty"`

	// FromCache covers the answers from the server's answer cache, Searched the others; nil if the
	// server does not report its stages.
	FromCache *Latency `json:"from_cache_latency_ms,omitempty"`
	Searched  *Latency `json:"searched_latency_ms,omitempty"`

	Stages []stageLatency `json:"stages,omitempty"`
	Bytes  Size           `json:"answer_bytes"`
	Tokens Size           `json:"answer_tokens"`
	Items  Size           `json:"answer_items"`
	// CPU and Memory are nil if the server's process is unknown.
	CPU    *CPU    `json:"cpu,omitempty"`
	Memory *Memory `json:"memory_bytes,omitempty"`
	// Own and Same are the documents written during the runs.
	Own  *Written `json:"ingest_own,omitempty"`
	Same *Written `json:"ingest_same,omitempty"`

	Curve    []Point   `json:"curve,omitempty"`
	Timeline []Moment  `json:"timeline,omitempty"`
	Runs     []Figures `json:"runs"`
}

// Figures are the results of one run, on which comparisons are based.
type Figures struct {
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
	P99       float64 `json:"p99_ms"`
	PerSecond float64 `json:"per_second"`
	CPU       float64 `json:"cpu_ms_per_request,omitempty"`
}

// stageLatency is the duration of a stage, by the server's clock.
type stageLatency struct {
	Name    string  `json:"name"`
	Latency Latency `json:"ms"`
}

// Size summarises one quantity of the answers.
type Size struct {
	Mean float64 `json:"mean"`
	Max  int     `json:"max"`
}

// CPU is the CPU time of the server's process. With Setup.InProcess it includes the clients.
type CPU struct {
	Seconds      float64 `json:"seconds"`
	PerRequestMS float64 `json:"ms_per_request"`
}

// Memory is the largest memory of the server's process, see [Usage].
type Memory struct {
	Anon float64 `json:"anon"`
	File float64 `json:"file"`
}

// Written counts the ingested documents.
type Written struct {
	// Wanted is the number of documents due per second; 0 is as fast as possible.
	Wanted    float64        `json:"wanted_per_second,omitempty"`
	Documents int            `json:"documents"`
	Chunks    int            `json:"chunks"`
	Bytes     int            `json:"bytes"`
	Failed    int            `json:"failed,omitempty"`
	Errors    map[string]int `json:"errors,omitempty"`
	Seconds   float64        `json:"seconds"`
	// DocumentsPerSecond, ChunksPerSecond and BytesPerSecond are the rates achieved.
	DocumentsPerSecond float64 `json:"documents_per_second"`
	ChunksPerSecond    float64 `json:"chunks_per_second"`
	BytesPerSecond     float64 `json:"bytes_per_second"`
	// CPU is the CPU time of the server's process per chunk, if it did nothing else.
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
