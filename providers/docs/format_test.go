package docs

import (
	"testing"

	"github.com/ragctx/ragctx/providers/docs/extract"
)

// TestLanguageOfMarkup checks that the language of every text format with inline markup is detected: package extract lists
// the extensions of prose itself.
func TestLanguageOfMarkup(t *testing.T) {
	const prose = "The window of the house is open, and you can see that the garden is not empty: there are flowers in it.\n"
	for _, f := range formats {
		if f.lang != nil || f.parse(input{text: prose, target: 1000, max: 2000}).plain == nil {
			continue
		}
		for _, ext := range f.extensions {
			for text, err := range extract.Read(t.Context(), extract.File{Name: "a." + ext, Data: []byte(prose)}, extract.Options{}) {
				if got := text.Metadata[extract.MetaLanguage]; got != "en" || err != nil {
					t.Errorf("%s: language %v, error %v; add it to proseExtensions", ext, got, err)
				}
			}
		}
	}
}
