package tokens

import (
	"strings"

	"github.com/ragctx/ragctx"
)

// Decode returns the text of tokens of cl100k_base, the encoding of OpenAI's embedding models, whose
// clients send tokens instead of texts.
func Decode(ids []int) (string, error) {
	b, err := cl100k()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for i, id := range ids {
		if id < 0 || id >= len(b.vocab.starts)-1 {
			return "", ragctx.Invalid("input", "has the token %d at place %d, which cl100k_base has not; send texts, or tokens below %d",
				id, i, len(b.vocab.starts)-1)
		}
		text.WriteString(b.vocab.token(uint32(id)))
	}
	return strings.ToValidUTF8(text.String(), "\uFFFD"), nil
}
