package resolve

// Prompt appends rendered context to a system prompt, after one blank line.
// Without a prompt it is the context alone; without context, the prompt as it was.
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
