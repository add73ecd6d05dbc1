package api

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/trace"
)

// scrape is what a parser makes of an exposition: series by name and labels.
type scrape struct {
	kind   map[string]string // of each family
	values map[string]float64
	order  []string // of the series
}

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
)

// parse reads the text format strictly: what it may not say, what must come first,
// and what histograms must agree with.
func parse(text string) (scrape, error) {
	s := scrape{kind: make(map[string]string), values: make(map[string]float64)}
	if text != "" && !strings.HasSuffix(text, "\n") {
		return s, errors.New("does not end in a line feed")
	}
	family, helped := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			helped, _, _ = strings.Cut(rest, " ")
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			switch {
			case name != helped || s.kind[name] != "" || !metricName.MatchString(name):
				return s, fmt.Errorf("type of %q after help of %q, or again", name, helped)
			case !slices.Contains([]string{"counter", "gauge", "histogram"}, kind):
				return s, fmt.Errorf("type %q", kind)
			case (kind == "counter") != strings.HasSuffix(name, "_total"):
				return s, fmt.Errorf("%s is a %s", name, kind)
			}
			family, s.kind[name] = name, kind
			continue
		}
		name, labels, value, err := parseLine(line)
		if err != nil {
			return s, fmt.Errorf("%q: %w", line, err)
		}
		base := name
		if s.kind[family] == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				base = strings.TrimSuffix(base, suffix)
			}
		}
		id := name + "{" + strings.Join(labels, ",") + "}"
		if _, again := s.values[id]; again || base != family {
			return s, fmt.Errorf("%q is there twice, or in family %q", id, family)
		}
		s.values[id], s.order = value, append(s.order, id)
	}
	return s, s.histograms()
}

// parseLine reads one series. Labels come back as name="value".
func parseLine(line string) (name string, labels []string, value float64, err error) {
	i := strings.IndexAny(line, "{ ")
	if i < 0 || !metricName.MatchString(line[:i]) {
		return "", nil, 0, errors.New("no name")
	}
	name, line = line[:i], line[i:]
	if rest, ok := strings.CutPrefix(line, "{"); ok {
		for {
			label, after, ok := strings.Cut(rest, `="`)
			if !ok || !labelName.MatchString(label) {
				return "", nil, 0, fmt.Errorf("label %q", label)
			}
			v, left, err := unquote(after)
			if err != nil {
				return "", nil, 0, err
			}
			labels = append(labels, label+"="+strconv.Quote(v))
			if rest, ok = strings.CutPrefix(left, ","); ok {
				continue
			}
			if line, ok = strings.CutPrefix(left, "}"); !ok {
				return "", nil, 0, errors.New("labels do not end")
			}
			break
		}
	}
	number, ok := strings.CutPrefix(line, " ")
	if !ok {
		return "", nil, 0, errors.New("no value")
	}
	value, err = strconv.ParseFloat(number, 64)
	return name, labels, value, err
}

// unquote reads a label's value up to its quotation mark.
func unquote(s string) (value, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], nil
		case c != '\\':
			b.WriteByte(c)
		case i+1 == len(s):
			return "", "", errors.New("ends in an escape")
		default:
			i++
			plain, ok := map[byte]byte{'\\': '\\', '"': '"', 'n': '\n'}[s[i]]
			if !ok {
				return "", "", fmt.Errorf("escape %q", s[i])
			}
			b.WriteByte(plain)
		}
	}
	return "", "", errors.New("a value does not end")
}

// histograms checks that classes ascend, end at +Inf, and agree with the count.
func (s scrape) histograms() error {
	le := regexp.MustCompile(`^(.*)_bucket\{(.*?),?le="(.*)"\}$`)
	last, bound := make(map[string]float64), make(map[string]float64)
	for _, id := range s.order {
		m := le.FindStringSubmatch(id)
		if m == nil {
			continue
		}
		at, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return err
		}
		key := m[1] + "_count{" + m[2] + "}"
		if before, ok := bound[key]; ok && before >= at || s.values[id] < last[key] {
			return fmt.Errorf("%s does not ascend", id)
		}
		bound[key], last[key] = at, s.values[id]
	}
	for key, n := range last {
		if count, ok := s.values[key]; !ok || count != n || !math.IsInf(bound[key], 1) {
			return fmt.Errorf("%s is %v, of classes %v up to %v", key, count, n, bound[key])
		}
	}
	return nil
}

// TestExpositionIsRead writes labels and values of all sorts.
func TestExpositionIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e exposition
		want := make(map[string]float64)
		for f := range rapid.IntRange(0, 4).Draw(t, "families") {
			name := fmt.Sprintf("family_%d", f)
			var all []series
			for range rapid.IntRange(0, 3).Draw(t, "series") {
				v := rapid.Float64().Draw(t, "value")
				l := labels{"a", rapid.String().Draw(t, "label"), "b", fmt.Sprint(len(all))}
				want[fmt.Sprintf("%s{a=%q,b=%q}", name, l[1], l[3])] = v
				all = append(all, series{l, v})
			}
			e.gauge(name, rapid.String().Draw(t, "help"), all...)
		}
		got, err := parse(e.buf.String())
		if err != nil || !maps.Equal(got.values, want) {
			t.Fatalf("%v\n%s\nread as %v, want %v", err, e.buf.String(), got.values, want)
		}
	})
}

func TestHistogramIsRead(t *testing.T) {
	d := trace.Durations{Count: 6, Sum: 7500 * time.Millisecond, Buckets: make([]uint64, len(trace.DurationBounds())+1)}
	d.Buckets[0], d.Buckets[4], d.Buckets[len(d.Buckets)-1] = 1, 2, 3
	var e exposition
	e.histogram("took_seconds", "Time.", durations{labels{"kind", "a"}, d}, durations{nil, trace.Durations{Buckets: make([]uint64, len(d.Buckets))}})
	got, err := parse(e.buf.String())
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]float64{
		`took_seconds_bucket{kind="a",le="5e-05"}`: 1, `took_seconds_bucket{kind="a",le="0.001"}`: 3, `took_seconds_bucket{kind="a",le="5"}`: 3,
		`took_seconds_bucket{kind="a",le="+Inf"}`: 6, `took_seconds_sum{kind="a"}`: 7.5, `took_seconds_count{kind="a"}`: 6, `took_seconds_count{}`: 0,
	} {
		if v, ok := got.values[id]; !ok || v != want {
			t.Errorf("%s is %v, want %v\n%s", id, v, want, e.buf.String())
		}
	}
}

// TestParserIsStrict gives the parser what the writer must not write.
func TestParserIsStrict(t *testing.T) {
	head := "# HELP a b\n# TYPE a gauge\n"
	for _, bad := range []string{
		"a 1\n", head + "a 1", head + "a\n", head + "b 1\n", head + "a 1\na 1\n", head + "a{b=\"c} 1\n", head + "a{b=\"\\x\"} 1\n",
		head + "a{1=\"c\"} 1\n", head + "a{b=\"c\",} 1\n", head + "a one\n", head + head, "# HELP a b\n# TYPE a counter\n",
		"# HELP h b\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_count 1\n",
		"# HELP h b\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_count 2\n",
		"# HELP h b\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_count 3\n",
	} {
		if _, err := parse(bad); err == nil {
			t.Errorf("taken: %q", bad)
		}
	}
}
