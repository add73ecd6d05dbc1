package resolve

// Prompt appends rendered context to a system prompt after one blank line. If one of them is empty,
// it returns the other.
func Prompt(base, rendered string) string {
	switch {
	case base == "":
		return rendered
	case rendered == "":
		return base
	default:
		return base + "\n\n" + rendered
	}
}
