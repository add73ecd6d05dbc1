package remote

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx/internal/httpclient"
)

// TestRequests compares the requests with the references of the services.
func TestRequests(t *testing.T) {
	for want, o := range map[string]Options{
		`{"model":"m","input":["a","b"],"encoding_format":"float"}`:                   {Shape: OpenAI},
		`{"model":"m","input":["a","b"],"encoding_format":"base64","dimensions":256}`: {Shape: OpenAI, Base64: true, Dimensions: 256, Shorten: true},
		`{"model":"m","input":["a","b"],"truncate":true}`:                             {Shape: Ollama, Dimensions: 256},
		`{"model":"m","input":["a","b"],"truncate":true,"dimensions":256}`:            {Shape: Ollama, Dimensions: 256, Shorten: true},
		`{"inputs":["a","b"],"truncate":true,"normalize":true}`:                       {Shape: TEI},
		`{"inputs":["a","b"],"truncate":true,"normalize":true,"dimensions":64}`:       {Shape: TEI, Dimensions: 64, Shorten: true},
	} {
		o.Model = "m"
		got, err := o.request([]string{"a", "b"})
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

// TestReplies reads answers as the services' references show them.
func TestReplies(t *testing.T) {
	for _, tt := range []struct {
		shape Shape
		body  string
		want  []vector
		count int64
	}{
		{OpenAI, `{"object":"list","data":[{"object":"embedding","index":1,"embedding":[0.5,-1e-3]},{"object":"embedding","index":0,"embedding":[1,2]}],
			"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}`, []vector{{1, 2}, {.5, -.001}}, 8},
		{OpenAI, `{"data":[{"index":0,"embedding":"AACAPwAAAMA="},{"index":1,"embedding":[]}]}`, []vector{{1, -2}, {}}, 0},
		{Ollama, `{"model":"all-minilm","embeddings":[[1,2],[3,4]],"total_duration":14143917,"load_duration":1019500,"prompt_eval_count":8}`, []vector{{1, 2}, {3, 4}}, 8},
		{TEI, `[[1,2],[3,4]]`, []vector{{1, 2}, {3, 4}}, 5},
	} {
		got, err := readReply(tt.shape, httpclient.Answer{Body: []byte(tt.body), Header: http.Header{"X-Compute-Tokens": {"5"}}}, 2)
		if d := cmp.Diff(tt.want, got.vectors); err != nil || d != "" || got.tokens != tt.count {
			t.Errorf("%s: %v, %d tokens\n%s", tt.shape, err, got.tokens, d)
		}
	}
}

// TestHostileReplies: anything but one vector for each text is an error, which quotes little of the
// response.
func TestHostileReplies(t *testing.T) {
	for shape, bodies := range map[Shape][]string{
		OpenAI: {
			``, `null`, `[]`, `{}`, `{"data":null}`, `{"data":[]}`, `{"data":[{"index":0,"embedding":[1]}]}`,
			`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`,
			`{"data":[{"index":0,"embedding":[1]},{"index":-1,"embedding":[1]}]}`, `{"data":[{"embedding":[1]},{"embedding":[1]}]}`,
			`{"data":[{"index":0,"embedding":[1]},{"index":1}]}`, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":null}]}`,
			`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":"AACAPw"}]}`, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":"AAAA"}]}`,
			`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1e99]}]}`, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":{"a":1}}]}`,
		},
		Ollama: {``, `[]`, `{}`, `{"embeddings":[[1]]}`, `{"embeddings":[[1],[1],[1]]}`, `{"embeddings":[[1],["x"]]}`, `{"embedding":[1]}`, `{"error":"` + strings.Repeat("x", 1000) + `"}`},
		TEI:    {``, `{}`, `null`, `[[1]]`, `[[1],2]`, `[[1],[[2]]]`},
	} {
		for _, body := range bodies {
			r, err := readReply(shape, httpclient.Answer{Body: []byte(body)}, 2)
			if err == nil || len(err.Error()) > 300 {
				t.Errorf("%s: %s: %v, %v", shape, body, r, err)
			}
		}
	}
}

func TestUnit(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, tt := range []struct {
		v    vector
		dim  int
		want []float32
		ok   bool
	}{
		{vector{3, 4}, 2, []float32{.6, .8}, true},
		{vector{3, 4}, 0, []float32{.6, .8}, true},
		{vector{0, 0}, 2, nil, true},
		{vector{math.MaxFloat32, 0}, 2, []float32{1, 0}, true},
		{vector{1e-40, 0}, 2, []float32{1, 0}, true},
		{vector{}, 0, nil, false},
		{nil, 2, nil, false},
		{vector{1}, 2, nil, false},
		{vector{1, inf}, 2, nil, false},
		{vector{1, nan}, 2, nil, false},
		{make(vector, MaxDimensions+1), 0, nil, false},
	} {
		got, err := normalize(tt.v, tt.dim)
		if (err == nil) != tt.ok || !cmp.Equal(got, tt.want) {
			t.Errorf("%.4v, %d: %v, %v", tt.v, tt.dim, got, err)
		}
	}
}

// FuzzReply: whatever a service says, there is an error, or a vector of length 1
// or none for each text.
func FuzzReply(f *testing.F) {
	f.Add(byte(0), byte(2), byte(2), []byte(`{"data":[{"index":1,"embedding":[0.5,0]},{"index":0,"embedding":"AACAPwAAAMA="}],"usage":{"prompt_tokens":8}}`))
	f.Add(byte(1), byte(1), byte(2), []byte(`{"embeddings":[[1,2]],"prompt_eval_count":-8}`))
	f.Add(byte(2), byte(2), byte(0), []byte(`[[1,2],[3e38,-3e38]]`))
	f.Add(byte(2), byte(1), byte(1), []byte(`[[0]]`))
	f.Fuzz(func(t *testing.T, shape, n, dim byte, body []byte) {
		s := Shapes()[int(shape)%len(Shapes())]
		r, err := readReply(s, httpclient.Answer{Body: body}, int(n))
		if err != nil {
			if len(err.Error()) > 400 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if len(r.vectors) != int(n) || r.tokens < 0 {
			t.Fatalf("%d vectors for %d texts, %d tokens", len(r.vectors), n, r.tokens)
		}
		for _, raw := range r.vectors {
			v, err := normalize(raw, int(dim))
			if err != nil || v == nil {
				continue
			}
			sum := 0.0
			for _, x := range v {
				sum += float64(x) * float64(x)
			}
			if math.Abs(sum-1) > 1e-4 || dim > 0 && len(v) != int(dim) {
				t.Errorf("%d components of length² %v", len(v), sum)
			}
		}
	})
}

// TestMaxAnswer: the longest form of a vector fits.
func TestMaxAnswer(t *testing.T) {
	v := make([]float32, 1000)
	for i := range v {
		v[i] = -1.17549435e-38
	}
	b, err := json.MarshalIndent(v, "", "    ")
	if err != nil || int64(len(b)) > maxAnswer(1, 1000) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
