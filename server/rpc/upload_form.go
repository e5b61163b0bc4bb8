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
)

// uploadForm reads the form of an upload, and knows afterwards what it was. It is
// interceptor.File.
type uploadForm struct {
	form  *multipart.Reader
	name  string
	named bool
	ended bool

	// said is what the file's part says of it; content is hashed as it is read.
	said    [2]string
	content hash.Hash
	bytes   int64
}

func newUploadForm(form *multipart.Reader) *uploadForm {
	return &uploadForm{form: form, content: sha256.New()}
}

// next reads parts up to the next file, or to the end of the form: nil.
func (f *uploadForm) next() (*multipart.Part, error) {
	for {
		part, err := f.form.NextPart()
		if err == io.EOF { //nolint:errorlint // io.EOF itself is the last boundary; wrapped, the form was cut off before
			f.ended = true
			return nil, nil //nolint:nilnil // the end of the form is no part and no error
		}
		if err != nil {
			return nil, errForm(err)
		}
		switch part.FormName() {
		case "file":
			if coding := strings.ToLower(part.Header.Get("Content-Transfer-Encoding")); coding == "base64" {
				return nil, fault.InvalidField("file", "transfer_encoding", "Send the file's bytes as they are: base64 is not decoded (RFC 7578 does away with Content-Transfer-Encoding).")
			}
			f.said = [2]string{part.FileName(), part.Header.Get("Content-Type")}
			return part, nil
		case "name":
			if err := f.readName(part); err != nil {
				return nil, err
			}
		default:
			return nil, fault.InvalidField(part.FormName(), "unknown", "The form has the parts file and name only.")
		}
	}
}

func (f *uploadForm) readName(part io.Reader) error {
	if f.named {
		return fault.InvalidField("name", "repeated", "Send one name.")
	}
	text, err := io.ReadAll(io.LimitReader(part, maxFormName+1))
	if err != nil {
		return errForm(err)
	}
	if len(text) > maxFormName {
		return fault.InvalidField("name", "max_len", "name may have 200 characters.")
	}
	f.name, f.named = string(text), true
	return nil
}

// rest reads what follows the file; it returns the name.
func (f *uploadForm) rest() (name string, err error) {
	again, err := f.next()
	if err == nil && again != nil {
		err = fault.InvalidField("file", "repeated", "Send one file at a time.")
	}
	return f.name, err
}

// Upload implements interceptor.File.
func (f *uploadForm) Upload(limit int64) (*idempotency.Upload, error) {
	if !f.ended {
		file, err := f.next()
		if err != nil {
			return nil, err
		}
		if file == nil {
			return nil, fault.InvalidField("file", "required", "The form has no part named file.")
		}
		if _, err := io.CopyN(io.Discard, f.reader(file), limit+1); err == nil {
			return nil, nil //nolint:nilnil // a file that is longer, by contract
		} else if !errors.Is(err, io.EOF) {
			return nil, err
		}
		if _, err := f.rest(); err != nil {
			return nil, err
		}
	}
	digest := sha256.New()
	for _, part := range [][]byte{[]byte(f.said[0]), []byte(f.said[1]), []byte(f.name), f.content.Sum(nil)} {
		// A hash takes all bytes and has no errors.
		_, _ = digest.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = digest.Write(part)
	}
	return &idempotency.Upload{Digest: digest.Sum(nil), Bytes: f.bytes}, nil
}

// reader is the content of the file's part: whatever ends it but its boundary is an error, so that
// half a file never looks like a whole one.
func (f *uploadForm) reader(part io.Reader) io.Reader { return &formReader{part: part, form: f} }

type formReader struct {
	part io.Reader
	form *uploadForm
}

// Read implements io.Reader.
func (r *formReader) Read(p []byte) (int, error) {
	n, err := r.part.Read(p)
	r.form.bytes += int64(n)
	_, _ = r.form.content.Write(p[:n]) // a hash takes all bytes
	if err != nil && !errors.Is(err, io.EOF) {
		err = errForm(err)
	}
	return n, err
}

// errForm is what a form that cannot be read is answered with.
func errForm(err error) error {
	return fault.Wrap(err, fault.InvalidRequest, "The form ended too early or is malformed; nothing was stored.")
}
