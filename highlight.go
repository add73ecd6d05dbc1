package ragctx

// Highlights locate the words of a query in the content of an item.
type Highlights struct {
	// Matches are the matching words, in order and without overlap. Only the first [MaxMatches] are
	// listed.
	Matches []TextSpan `json:"matches"`
	// Fragment is the part of the content with the most words of the query. It is at most
	// [FragmentChars] code points long where word boundaries allow. If no word matches, it is the
	// beginning of the content.
	Fragment TextSpan `json:"fragment"`
}

// Limits of [Highlights].
const (
	MaxMatches    = 500
	FragmentChars = 240
)

// TextSpan is a half-open range of a text, in bytes and in code points.
type TextSpan struct {
	Start     int `json:"start"`
	End       int `json:"end"`
	StartRune int `json:"start_rune"`
	EndRune   int `json:"end_rune"`
}
