package extract

// decodeText returns a file's content as UTF-8 and the name of its charset.
func decodeText(b []byte, mime, kind string) (s, charset string, err error) {
	s, err = decode(b)
	return s, "", err
}
