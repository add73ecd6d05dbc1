package ragctx

// Highlights say where the content of an item has the words of a query.
type Highlights struct {
	// Matches are the places of words, in order and apart from each other; of many,
	// the first [MaxMatches].
	Matches []TextSpan `json:"matches"`
	// Fragment is the line or two of the content, at most [FragmentChars] code points
	// if words allow, that has the most of the query's words; its beginning if it has
	// none.
	Fragment TextSpan `json:"fragment"`
}

// Limits of [Highlights].
const (
	MaxMatches    = 500
	FragmentChars = 240
)

// TextSpan is a part of a text, its end excluded, in bytes and in code points.
type TextSpan struct {
	Start     int `json:"start"`
	End       int `json:"end"`
	StartRune int `json:"start_rune"`
	EndRune   int `json:"end_rune"`
}
