package document_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge/document"
)

func parse(t *testing.T, mediaType, text string) document.Document {
	t.Helper()
	doc, err := document.Parse(t.Context(), mediaType, strings.NewReader(text), document.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

const sample = "---\ntitle: hidden\n---\n# Guide\n\nHello *big*\n[world](https://x.example/a) \\* &amp; `a\\*b`.\n\n" +
	"### Deep\n\n1. one\n2. two\n   - nested\n\n```sh\n  ls -l\n```\n\n" +
	"| a | b |\n|---|---|\n| 1 | **2** |\n\n<p>raw <b>html</b><script>no()</script></p>\n\nOther\n=====\n\n> quoted\n"

func TestParseMarkdown(t *testing.T) {
	t.Parallel()
	type row struct {
		kind document.BlockKind
		path string
		text string
	}
	var got []row
	doc := parse(t, document.TextMarkdown, sample)
	for _, block := range doc.Blocks {
		got = append(got, row{block.Kind, strings.Join(block.HeadingPath, " > "), block.Text})
	}
	want := []row{
		{document.Heading, "Guide", "Guide"},
		{document.Paragraph, "Guide", "Hello big world (https://x.example/a) * & a\\*b."},
		{document.Heading, "Guide > Deep", "Deep"},
		{document.List, "Guide > Deep", "1. one\n2. two\n  - nested"},
		{document.Code, "Guide > Deep", "  ls -l"},
		{document.Table, "Guide > Deep", "a | b\n1 | 2"},
		{document.Paragraph, "Guide > Deep", "raw html"},
		{document.Heading, "Other", "Other"},
		{document.Paragraph, "Other", "quoted"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestParseEncodings(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, mediaType, data, want string }{
		{"utf-8", "text/plain", "Grüße – 知識", "Grüße – 知識"},
		{"bom", "text/plain", "\xEF\xBB\xBFGrüße", "Grüße"},
		{"utf-16le", "text/plain", "\xFF\xFEG\x00\xFC\x00", "Gü"},
		{"utf-16be", "text/plain", "\xFE\xFF\x00G\x00\xFC", "Gü"},
		{"windows-1252", "text/plain", "Gr\xFC\xDFe \x93quoted\x94 \x80 5", "Grüße “quoted” € 5"},
		{"declared", "text/plain; charset=Shift_JIS", "\x92\x6d\x8e\xaf", "知識"},
		{"wrongly declared", "text/plain; charset=iso-8859-1", "Grüße", "Grüße"},
		{
			"cut character", "text/plain", "Grüße und Küsse aus Köln am Rhein, schöne Grüße, ä ö ü ß Ä Ö Ü\xC3",
			"Grüße und Küsse aus Köln am Rhein, schöne Grüße, ä ö ü ß Ä Ö Ü\uFFFD",
		},
		{"line ends", "text/plain", "a\r\nb\rc", "a\nb\nc"},
		{
			"controls", "text/plain", "a fairly long line of text with a bell\x07 in the middle of it",
			"a fairly long line of text with a bell in the middle of it",
		},
	}
	for _, row := range rows {
		if got := parse(t, row.mediaType, row.data).Text; got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, mediaType, data string
		kind                  document.ErrorKind
	}{
		{"nothing", "text/plain", "", document.Empty},
		{"blank", "text/plain", " \n\t\r\n", document.Empty},
		{"only a bom", "text/plain", "\xEF\xBB\xBF", document.Empty},
		{"only front matter", "text/markdown", "---\na: b\n---\n", document.Empty},
		{"only rules", "text/markdown", "---\n\n***\n", document.Empty},
		{"nul", "text/plain", "text\x00text", document.Binary},
		{"controls", "text/markdown", "\x01\x02\x03\x04text", document.Binary},
		{"large", "text/plain", strings.Repeat("x", 2000), document.TooLarge},
		{"not built", "application/pdf", "%PDF-1.7", document.Unsupported},
	}
	for _, row := range rows {
		_, err := document.Parse(t.Context(), row.mediaType, strings.NewReader(row.data),
			document.Options{Limits: document.Limits{MaxBytes: 1000}})
		got, ok := errors.AsType[*document.Error](err)
		if !ok || got.Kind != row.kind || !strings.HasSuffix(got.Message, ".") {
			t.Errorf("%s: got %v, want %s with a sentence", row.name, err, row.kind)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	rows := []struct{ declared, filename, want string }{
		{"text/plain", "x.bin", "text/plain"},
		{"Text/Plain; charset=UTF-8", "", "text/plain; charset=utf-8"},
		{"text/x-markdown", "", "text/markdown"},
		{"image/jpg", "", "image/jpeg"},
		{"application/octet-stream", "README.MD", "text/markdown"},
		{"", "a.b.docx", document.ApplicationDOCX},
		{"", "photo.JPEG", "image/jpeg"},
		{"application/pdf; x=y", "a.txt", "application/pdf"},
		{"application/octet-stream", "a.exe", ""},
		{"", "noextension", ""},
		{"application/zip", "a.docx", ""},
		{"video/mp4", "a.md", ""},
	}
	for _, row := range rows {
		got, ok := document.Resolve(row.declared, row.filename)
		if got != row.want || ok != (row.want != "") {
			t.Errorf("Resolve(%q, %q): got %q, %t, want %q", row.declared, row.filename, got, ok, row.want)
		}
	}
	if got := len(document.MediaTypes()); got != 10 {
		t.Errorf("got %d media types, the contract has ten", got)
	}
}

func TestSniff(t *testing.T) {
	t.Parallel()
	const (
		png  = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
		exe  = "MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00"
		pdf  = "%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n"
		jpeg = "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01"
	)
	rows := []struct {
		mediaType, content string
		ok                 bool
	}{
		{"text/plain", "hello", true},
		{"text/plain; charset=utf-8", "hello", true},
		{"text/plain", "", true},
		{"text/plain", "<!doctype html><p>x", true},
		{"text/plain", "\xFF\xFEh\x00i\x00", true},
		{"text/plain", "Gr\xFC\xDFe aus K\xF6ln", true},
		{"text/markdown", "MZ is a word in this note. BM too.", true},
		{"text/markdown", "BMW makes cars " + strings.Repeat("ü", 2000), true},
		{"application/json", `{"a": 1}`, true},
		{"application/pdf", pdf, true},
		{"image/png", png, true},
		{"image/jpeg", jpeg, true},
		{"text/plain", png, false},
		{"text/markdown", exe, false},
		{"text/plain", pdf, false},
		{"application/pdf", "just text", false},
		{"image/png", jpeg, false},
		{"image/webp", "text", false},
		{document.ApplicationDOCX, pdf, false},
		{"application/x-foo", "x", false},
	}
	for _, row := range rows {
		err := document.Sniff(row.mediaType, []byte(row.content))
		if (err == nil) != row.ok || (err != nil && !fault.IsReason(err, fault.KBUnsupportedMediaType)) {
			t.Errorf("Sniff(%q, %.12q): got %v, want ok=%t", row.mediaType, row.content, err, row.ok)
		}
	}
}
