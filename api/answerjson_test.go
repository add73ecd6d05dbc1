package api

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
)

// plainly encodes a value as encoding/json does.
func plainly(t rapid.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func drawText(rt *rapid.T) string {
	if rapid.Bool().Draw(rt, "any text") {
		return rapid.String().Draw(rt, "text")
	}
	return rapid.SampledFrom([]string{
		"", "a", "two\nlines\t\"quoted\" \\ <b>&</b>\r\b\f\x00\x1f\x7f", "é\u2028\u2029\u202e\ufffd", "\xff cut \xe2\x80", "日本語",
	}).Draw(rt, "text")
}

// drawInto sets a value and all in it, so that no field of an answer is forgotten.
func drawInto(rt *rapid.T, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(rapid.SampledFrom([]time.Time{{}, time.Unix(1, 5).UTC(), time.Now()}).Draw(rt, "time")))
		return
	case v.Kind() == reflect.Interface:
		v.Set(reflect.ValueOf(rapid.SampledFrom([]any{drawText(rt), 3, -2.5, true, []string{"x"}, []any{"y", 1.5}, map[string]any{"z": "<"}, int64(7), float32(.1)}).Draw(rt, "value")))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(drawText(rt))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(rt, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.SampledFrom([]int64{0, 1, -7, math.MaxInt64}).Draw(rt, "int"))
	case reflect.Float64:
		v.SetFloat(rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1, 1e-7, 5e-324, 1e21, 1e20, -3.25})).Draw(rt, "float"))
	case reflect.Pointer:
		if rapid.Bool().Draw(rt, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			drawInto(rt, v.Elem())
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 2).Draw(rt, "length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				drawInto(rt, v.Index(i))
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rapid.IntRange(0, 3).Draw(rt, "entries") {
			value := reflect.New(v.Type().Elem()).Elem()
			drawInto(rt, value)
			v.SetMapIndex(reflect.ValueOf(drawText(rt)), value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				drawInto(rt, v.Field(i))
			}
		}
	default:
		rt.Fatalf("an answer has a %s", v.Type())
	}
}

// TestAnswersAreEncodedAlike compares answers as they are sent with what encoding/json
// makes of them, to the byte.
func TestAnswersAreEncodedAlike(t *testing.T) {
	same := func(rt *rapid.T, v any) {
		var w bytes.Buffer
		if err := writeJSON(&w, v); err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(plainly(rt, v), w.String()); d != "" {
			rt.Fatalf("%T (-encoding/json +ours):\n%s", v, d)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		var a resolve.Answer
		drawInto(rt, reflect.ValueOf(&a).Elem())
		same(rt, a)
		var r engine.SearchResult
		drawInto(rt, reflect.ValueOf(&r).Elem())
		same(rt, r)
		same(rt, map[string]any{"text": drawText(rt)})
	})
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		var w bytes.Buffer
		a := resolve.Answer{Providers: []resolve.ProviderReport{{Name: "docs", TookMS: bad}}}
		if err := writeJSON(&w, a); err == nil || w.Len() > 0 {
			t.Errorf("%v is sent as %q", bad, w.String())
		}
	}
}

func BenchmarkEncodeAnswer(b *testing.B) {
	a := exampleAnswer()
	for len(a.Items) < 10 {
		it := a.Items[0]
		for len(it.Content) < 1500 {
			it.Content += "Run `deploy rollback` to return to the release before, \"quoted\" and\nin lines. "
		}
		a.Items = append(a.Items, it)
		a.XML += it.Content
	}
	for name, encode := range map[string]func(*jsonBuffer) error{
		"ours":  func(j *jsonBuffer) error { return j.encode(a) },
		"plain": func(j *jsonBuffer) error { return j.other(a) },
	} {
		b.Run(name, func(b *testing.B) {
			var j jsonBuffer
			for b.Loop() {
				j.b = j.b[:0]
				if err := encode(&j); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(j.b)))
		})
	}
}
