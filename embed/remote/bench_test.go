package remote

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/ragctx/ragctx/internal/httpclient"
)

// BenchmarkReply reads an answer with 128 vectors of 1,536 components.
func BenchmarkReply(b *testing.B) {
	const n, dim = 128, 1536
	var floats, packed []map[string]any
	for i := range n {
		v := make([]float32, dim)
		var raw []byte
		for j := range v {
			v[j] = float32(math.Sin(float64(i*dim+j))) / 40
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v[j]))
		}
		floats = append(floats, map[string]any{"index": i, "embedding": v})
		packed = append(packed, map[string]any{"index": i, "embedding": base64.StdEncoding.EncodeToString(raw)})
	}
	for name, data := range map[string][]map[string]any{"float": floats, "base64": packed} {
		body, err := json.Marshal(map[string]any{"data": data})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := readReply(OpenAI, httpclient.Answer{Body: body}, n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
