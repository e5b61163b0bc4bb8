package rpc

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"mime/multipart"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/idempotency"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/provider/ocr"
)

// uploadForm reads the form of an upload and can describe it afterwards. It implements
// interceptor.File.
type uploadForm struct {
	form *multipart.Reader
	// said holds the values of the parts beside the file, seen the names of those parts.
	said  knowledge.LateParams
	seen  map[string]bool
	ended bool

	// head holds the name and the media type of the file's part; content is hashed as it is read.
	head    [2]string
	content hash.Hash
	bytes   int64
}

func newUploadForm(form *multipart.Reader) *uploadForm {
	return &uploadForm{form: form, seen: map[string]bool{}, content: sha256.New()}
}

// next reads parts up to the next file. It returns nil at the end of the form.
func (f *uploadForm) next() (*multipart.Part, error) {
	for {
		part, err := f.form.NextPart()
		if err == io.EOF {
			f.ended = true
			return nil, nil //nolint:nilnil // the end of the form is neither a part nor an error
		}
		if err != nil {
			return nil, errForm(err)
		}
		switch name := part.FormName(); name {
		case "file":
			if coding := strings.ToLower(part.Header.Get("Content-Transfer-Encoding")); coding == "base64" {
				return nil, fault.InvalidField("file", "transfer_encoding",
					"Send the file's bytes as they are: base64 is not decoded (RFC 7578 does away with Content-Transfer-Encoding).")
			}
			f.head = [2]string{part.FileName(), part.Header.Get("Content-Type")}
			return part, nil
		case "name", "force_ocr", "ocr_languages", "tags":
			text, err := f.readField(name, part)
			if err == nil {
				err = f.take(name, text)
			}
			if err != nil {
				return nil, err
			}
		default:
			return nil, fault.InvalidField(name, "unknown", "The form has the parts file, name, force_ocr, ocr_languages and tags only.")
		}
	}
}

// file reads parts up to the file, which the form must have.
func (f *uploadForm) file() (*multipart.Part, error) {
	file, err := f.next()
	if err == nil && file == nil {
		err = fault.InvalidField("file", "required", "The form has no part named file.")
	}
	return file, err
}

// readField reads a part that may occur once, unless it is a list.
func (f *uploadForm) readField(name string, part io.Reader) (string, error) {
	if f.seen[name] && name != "ocr_languages" {
		return "", fault.InvalidField(name, "repeated", "Send one %s.", name)
	}
	f.seen[name] = true
	text, err := io.ReadAll(io.LimitReader(part, maxFormName+1))
	if err != nil {
		return "", errForm(err)
	}
	if len(text) > maxFormName {
		return "", fault.InvalidField(name, "max_len", "%s is too long.", name)
	}
	return string(text), nil
}

func (f *uploadForm) take(name, text string) error {
	switch {
	case name == "name":
		f.said.Name = text
	case name == "tags":
		f.said.Tags = []string{}
		for tag := range strings.SplitSeq(text, ",") {
			if tag = strings.TrimSpace(tag); tag != "" {
				f.said.Tags = append(f.said.Tags, tag)
			}
		}
	case name == "ocr_languages":
		f.said.OCRLanguages = append(f.said.OCRLanguages, ocr.SplitLanguages(text)...)
		return knowledge.CheckOCRLanguageCount(f.said.OCRLanguages)
	case text == "true" || text == "false":
		f.said.ForceOCR = text == "true"
	default:
		return fault.InvalidField(name, "bool", "%s is true or false.", name)
	}
	return nil
}

// rest reads the parts after the file; it returns the values of all parts.
func (f *uploadForm) rest() (said knowledge.LateParams, err error) {
	again, err := f.next()
	if err == nil && again != nil {
		err = fault.InvalidField("file", "repeated", "Send one file at a time.")
	}
	return f.said, err
}

// Upload implements interceptor.File.
func (f *uploadForm) Upload(limit int64) (*idempotency.Upload, error) {
	if !f.ended {
		file, err := f.file()
		if err != nil {
			return nil, err
		}
		if _, err := io.CopyN(io.Discard, f.reader(file), limit+1); err == nil {
			return nil, nil //nolint:nilnil // by contract: the file is longer than limit
		} else if !errors.Is(err, io.EOF) {
			return nil, err
		}
		if _, err := f.rest(); err != nil {
			return nil, err
		}
	}
	digest := sha256.New()
	parts := [][]byte{[]byte(f.head[0]), []byte(f.head[1]), []byte(f.said.Name), f.content.Sum(nil)}
	if f.said.ForceOCR { // without it the digest is the same as in earlier versions
		parts = append(parts, []byte("force_ocr"))
	}
	if len(f.said.Tags) > 0 {
		parts = append(parts, []byte("tags "+strings.Join(f.said.Tags, ",")))
	}
	if len(f.said.OCRLanguages) > 0 {
		parts = append(parts, []byte("ocr_languages "+strings.Join(f.said.OCRLanguages, ",")))
	}
	for _, part := range parts {
		// A hash never returns an error.
		_, _ = digest.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = digest.Write(part)
	}
	return &idempotency.Upload{Digest: digest.Sum(nil), Bytes: f.bytes}, nil
}

// reader reads the content of the file's part. It fails if anything but the part's boundary ends
// it, so that half a file never looks complete.
func (f *uploadForm) reader(part io.Reader) io.Reader { return &formReader{part: part, form: f} }

type formReader struct {
	part io.Reader
	form *uploadForm
}

// Read implements io.Reader.
func (r *formReader) Read(p []byte) (int, error) {
	n, err := r.part.Read(p)
	r.form.bytes += int64(n)
	_, _ = r.form.content.Write(p[:n]) // a hash never fails
	if err != nil && !errors.Is(err, io.EOF) {
		err = errForm(err)
	}
	return n, err
}

// errForm returns the error for a form that cannot be read.
func errForm(err error) error {
	return fault.Wrap(err, fault.InvalidRequest, "The form ended too early or is malformed; nothing was stored.")
}
