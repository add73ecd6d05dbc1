package index

// dated returns the day of a session item, written out, as questions name days. It is a single
// form: adding others, or the weekday, found nothing better, and other forms of times are parsed
// from the question.
//
// A keyword index stores it, so another form needs a new version of that index.
func dated(p *Item) string {
	if p.Session == "" || p.Occurred.IsZero() {
		return ""
	}
	return p.Occurred.UTC().Format("2 January 2006")
}
