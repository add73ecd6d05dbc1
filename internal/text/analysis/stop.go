package analysis

// isStop reports whether a lower-cased word is a stop word: one of the 33 words of Lucene's English
// list, or a word of a question or a request.
func isStop(word []byte) bool {
	switch string(word) {
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
		"not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to",
		"was", "will", "with":
		return true
	case "what", "when", "where", "which", "who", "whom", "whose", "why", "how", "do", "does", "did", "can",
		"could", "would", "should", "were", "has", "have", "had", "you", "your", "my", "me", "i", "we", "our",
		"us", "about", "tell", "give", "please":
		return true
	}
	return false
}
