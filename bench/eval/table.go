package eval

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// WriteTable writes a report as text.
func WriteTable(w io.Writer, r Report) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	const head = "set\tmode\tn\tnDCG@10\tR@5\tR@10\tR@100\tMRR@10"
	fmt.Fprintln(tw, head+"\tp50 ms\tp95\tp99\tcpu ms")
	for _, s := range r.Sets {
		for _, m := range s.Modes {
			l := m.Latency
			fmt.Fprintf(tw, "%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\n", s.Set, m.Mode, cells(m.All), l.P50, l.P95, l.P99, l.CPU)
			if m.Headline != nil {
				fmt.Fprintf(tw, "%s headline\t%s\t%s\n", s.Set, m.Mode, cells(*m.Headline))
			}
		}
	}
	for _, m := range r.Macro {
		c := Category{N: m.Sets, Measures: m.Measures}
		fmt.Fprintf(tw, "macro (%d of %d sets)\t%s\t%s\n", m.Sets, m.Of, m.Mode, cells(c))
	}
	fmt.Fprintln(tw)
	writeRefused(tw, r.Sets)
	writeCategories(tw, r.Sets)
	writeSpanTable(tw, r.Sets)
	writeTimeSets(tw, r.Sets)
	fmt.Fprintln(tw, "set\tvia\tentries\trefused\tchunks\tchunks/s\tindex MB\tdata MB")
	for _, s := range r.Sets {
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%d\t%.0f\t%.1f\t%.1f\n", s.Set, s.Via, s.Ingest.Entries, s.Ingest.Refused,
			s.Ingest.Chunks,
			s.Ingest.perSecond(), float64(s.IndexBytes)/1e6, float64(s.DataBytes)/1e6)
	}
	fmt.Fprintf(tw, "\nembedder %s, %d cores, %.0f s\n", r.Embedder, r.Cores, r.Seconds)
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func cells(c Category) string {
	return fmt.Sprintf("%d\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f", c.N, c.NDCG10, c.R5, c.R10, c.R100, c.MRR10)
}

func writeRefused(w io.Writer, sets []setReport) {
	for _, s := range sets {
		if s.Ingest.Refused > 0 {
			fmt.Fprintf(w, "%s, entries refused, which no search can find: %d of %d\n", s.Set, s.Ingest.Refused, s.Docs)
			s.Ingest.Refusals.write(w)
			fmt.Fprintln(w)
		}
		if len(s.Undated) > 0 {
			fmt.Fprintf(w, "%s, entries without a known time, which get the previous entry's or else %s:\n",
				s.Set, dataTime().Format(time.DateOnly))
			s.Undated.write(w)
			fmt.Fprintln(w)
		}
		for _, m := range s.Modes {
			if m.Refused > 0 {
				fmt.Fprintf(w, "%s, %s: questions refused, which count 0: %d; the last: %s\n\n", s.Set, m.Mode, m.Refused, m.Reason)
			}
		}
	}
}

func writeCategories(w io.Writer, sets []setReport) {
	started := false
	for _, s := range sets {
		for _, m := range s.Modes {
			for _, c := range m.Categories {
				if !started {
					fmt.Fprintln(w, "set\tmode\tcategory\tn\tnDCG@10\tR@5\tR@10\tR@100\tMRR@10")
					started = true
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Set, m.Mode, c.Name, cells(c))
			}
		}
	}
	if started {
		fmt.Fprintln(w)
	}
}

func writeSpanTable(w io.Writer, sets []setReport) {
	started := false
	for _, s := range sets {
		for _, m := range s.Modes {
			if m.Spans == nil {
				continue
			}
			if !started {
				fmt.Fprintln(w, "set\tmode\trecall@5\tprecision@5\tIoU@5\tin 2,000 chars\tin 4,000\tin 8,000")
				started = true
			}
			x := m.Spans
			fmt.Fprintf(w, "%s\t%s\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", s.Set, m.Mode,
				x.Recall5, x.Precision5, x.IoU5, x.RecallIn2000, x.RecallIn4000, x.RecallIn8000)
		}
	}
	if started {
		fmt.Fprintln(w)
	}
}

func writeTimeSets(w io.Writer, sets []setReport) {
	for _, s := range sets {
		if s.TimeQuestions == 0 {
			continue
		}
		fmt.Fprintf(w, "%s, questions about nothing but a time: %d; ", s.Set, s.TimeQuestions)
		if t := s.TimeSets; t != nil {
			fmt.Fprintf(w, "time read in %d, set precision %.4f, recall %.4f, exact %.4f\n\n", t.Read, t.Precision,
				t.Recall, t.Exact)
		} else {
			fmt.Fprint(w, "set precision, recall and exact n/a: the engine does not read times\n\n")
		}
	}
}
