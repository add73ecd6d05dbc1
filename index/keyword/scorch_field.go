package keyword

import bleveindex "github.com/blevesearch/bleve_index_api"

// field is a document field with precomputed terms.
type field struct {
	name  string
	freqs bleveindex.TokenFrequencies
}

// newTerms returns the field of a chunk's terms. Scorch stores a frequency of 0 in one byte and any
// other in two. But only with frequency 1 does it store a term of a single posting without a list.
func newTerms(keys []storedKey) *field {
	common, rare := new(bleveindex.TokenFreq), new(bleveindex.TokenFreq)
	rare.SetFrequency(1)
	f := &field{name: termField, freqs: make(bleveindex.TokenFrequencies, len(keys))}
	for _, k := range keys {
		if k.rare {
			f.freqs[k.text] = rare
		} else {
			f.freqs[k.text] = common
		}
	}
	return f
}

// newNumber returns a field that holds a number.
func newNumber(name string, v uint64) *field {
	freq := new(bleveindex.TokenFreq)
	freq.SetFrequency(int(v + 1)) //nolint:gosec // lengths and items are below 2⁶²
	return &field{name: name, freqs: bleveindex.TokenFrequencies{name: freq}}
}

func (f *field) Name() string                                          { return f.name }
func (f *field) Value() []byte                                         { return nil }
func (f *field) ArrayPositions() []uint64                              { return nil }
func (f *field) EncodedFieldType() byte                                { return 't' }
func (f *field) Analyze()                                              {}
func (f *field) Options() bleveindex.FieldIndexingOptions              { return bleveindex.IndexField }
func (f *field) AnalyzedTokenFrequencies() bleveindex.TokenFrequencies { return f.freqs }
func (f *field) NumPlainTextBytes() uint64                             { return 0 }
func (f *field) Size() int                                             { return 0 }

// AnalyzedLength is stored with each posting and not used. Scorch would take 0 for an empty list.
func (f *field) AnalyzedLength() int { return 1 }
