package rpc

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"parlance.dev/parlance/fault"
)

// FuzzUploadForm reads any bytes as a form, and a form of any file: the file is known again under
// another boundary, and half a form is never a whole one.
func FuzzUploadForm(f *testing.F) {
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: "+
		"text/plain\r\n\r\nabc\r\n--b--\r\n"), "a.txt", "n", []byte("abc"))
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nn\r\n--b\r\nContent-Disposition: "+
		"form-data; name=\"file\"\r\n\r\n"), "", "", []byte{})
	f.Add([]byte("--b--"), "a\r\nb", "\x00", []byte("--b--\r\n--b\r\n"))
	f.Add([]byte("--b\nContent-Disposition: form-data; name=file\n\n\n--b--"), "../../etc/passwd", "é", bytes.Repeat([]byte("x"), 5000))
	f.Fuzz(func(t *testing.T, raw []byte, filename, name string, content []byte) {
		if _, err := newUploadForm(multipart.NewReader(bytes.NewReader(raw), "b")).Upload(100); err != nil {
			if got := fault.From(err).Reason; got != fault.InvalidRequest {
				t.Fatalf("%q: %v", raw, err)
			}
		}
		// No client chooses a boundary that its file holds, and a header has no control characters.
		if !utf8.ValidString(filename) || strings.ContainsFunc(filename, unicode.IsControl) ||
			len(name) > maxFormName || bytes.Contains(content, []byte("--one")) || bytes.Contains(content, []byte("--another")) ||
			strings.Contains(name, "--one") || strings.Contains(name, "--another") {
			return
		}
		one, other := formOf(t, "one", filename, name, content), formOf(t, "another", filename, name, content)
		limit := int64(len(content))
		first, err := newUploadForm(multipart.NewReader(bytes.NewReader(one), "one")).Upload(limit)
		if err != nil || first == nil {
			t.Fatalf("%q %q: %v", filename, name, err)
		}
		again, err := newUploadForm(multipart.NewReader(bytes.NewReader(other), "another")).Upload(limit)
		if err != nil || again == nil || !bytes.Equal(first.Digest, again.Digest) || again.Bytes != limit {
			t.Fatalf("the same file is not known again: %v, %v", again, err)
		}
		if limit > 0 {
			if longer, err := newUploadForm(multipart.NewReader(bytes.NewReader(one), "one")).Upload(limit - 1); err != nil || longer != nil {
				t.Fatalf("a longer file: %v, %v", longer, err)
			}
		}
		// The last line break is not the form's.
		for _, cut := range []int{len(one) - 3, len(one) / 2, len(one) - len(content)/2 - 10} {
			if cut < 0 || cut > len(one)-3 {
				continue
			}
			if half, err := newUploadForm(multipart.NewReader(bytes.NewReader(one[:cut]), "one")).Upload(limit); err == nil && half != nil {
				t.Fatalf("half a form was taken: %q of %q", one[:cut], one)
			}
		}
	})
}

func formOf(t *testing.T, boundary, filename, name string, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	if err := form.SetBoundary(boundary); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(content, []byte("--"+boundary)) {
		t.Skip("the content holds the boundary: no client would choose it")
	}
	if err := form.WriteField("name", name); err != nil {
		t.Fatal(err)
	}
	file, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition("file", filename)}, "Content-Type": {"text/plain"},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(file, bytes.NewReader(content)) // into memory
	_ = form.Close()
	return out.Bytes()
}
