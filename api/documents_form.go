package api

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"

	"github.com/ragctx/ragctx"
)

// maxFormValue limits a part of a form that is no file.
const maxFormValue = 64 << 10

// readForm replaces a form by its file, takes the attributes and the id from the other parts, and
// returns the name of the file. It leaves other bodies as they are.
func (d *documentPostInput) readForm() (name string, err error) {
	media, params, _ := mime.ParseMediaType(d.media)
	if media != formType {
		return "", nil
	}
	values := map[string]*string{
		"id": &d.ID, "title": &d.Title, "source": &d.Source, "metadata": &d.Metadata, "occurred": &d.Occurred, "root": &d.Root,
	}
	found := false
	form := multipart.NewReader(bytes.NewReader(d.body.take()), params["boundary"])
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) && found {
			return name, nil
		} else if errors.Is(err, io.EOF) {
			return "", badForm("has no file; send one part with a file name")
		}
		var data []byte
		if err == nil {
			data, err = io.ReadAll(part)
		}
		if err != nil {
			return "", badForm("cannot be read as a form: %v", err)
		}
		field, file, isFile := partNames(part)
		switch to := values[field]; {
		case isFile && found:
			return "", badForm("has several files; send them to /v1/documents:bulk")
		case isFile:
			found, name, d.media = true, file, partType(part)
			d.body.put(data)
		case len(data) > maxFormValue:
			return "", badForm("has a part %q of %d bytes; at most %d are possible", ragctx.Clip(field), len(data), maxFormValue)
		case field == "tags":
			d.Tags = append(d.Tags, string(data))
		case to == nil:
			return "", badForm("has the part %q; send a file, and id, title, source, tags, metadata, occurred or root", ragctx.Clip(field))
		default:
			*to = string(data)
		}
	}
}
