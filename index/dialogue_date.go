package index

// dated returns the day on which something said in a session occurred, written
// out: questions name days. It is one form alone: more of them, or the weekday,
// found nothing better, and times in other words are read from the question.
//
// A lexical leg keeps it, so another form needs another version of the leg.
func dated(p *Parent) string {
	if p.Session == "" || p.Occurred.IsZero() {
		return ""
	}
	return p.Occurred.UTC().Format("2 January 2006")
}
