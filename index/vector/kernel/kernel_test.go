package kernel

import "testing"

func TestSmoke(t *testing.T) {
	for _, k := range All() {
		q := Aligned[int8](64)
		q[0], q[63] = 3, -127
		run := Aligned[int8](5 * 64)
		for i := range 5 {
			run[i*64], run[i*64+63] = int8(i), -127
		}
		out := make([]int32, 5)
		k.Scan8(q, run, out)
		for i := range out {
			if got, want := out[i]-k.Bias*int32(i-127), int32(3*i+127*127); got != want {
				t.Fatalf("%s: %d want %d", k.Name, got, want)
			}
		}
	}
}
