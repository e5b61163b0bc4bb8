package document_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge/document"
)

func stringsReader(s string) io.Reader { return strings.NewReader(s) }

// encryptedOLE is the beginning of what Word makes of a document with a password.
func encryptedOLE(stream string) string {
	var name strings.Builder
	for _, c := range []byte(stream) {
		name.WriteString(string([]byte{c, 0}))
	}
	return "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + strings.Repeat("\x00", 600_000) + name.String() + strings.Repeat("\xFF", 512)
}

// overlapping makes many entries of one body.
func overlapping(t *testing.T) string {
	t.Helper()
	file := []byte(docxOf(t, p("", run("x"))))
	// The last entry's offset in the directory becomes that of the first.
	end := bytes.LastIndex(file, []byte("PK\x05\x06"))
	last := bytes.LastIndex(file[:end], []byte("PK\x01\x02"))
	first := bytes.Index(file, []byte("PK\x01\x02"))
	copy(file[last+42:last+46], file[first+42:first+46])
	return string(file)
}

// lying makes an entry say that it is small.
func lying(t *testing.T, file string) string {
	t.Helper()
	data := []byte(file)
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte("PK\x01\x02"))
		if i < 0 {
			return string(data)
		}
		at += i + 4
		binary.LittleEndian.PutUint32(data[at+20:], 100)
	}
}

func TestArchivesThatAreRefused(t *testing.T) {
	t.Parallel()
	sound := docxOf(t, p("", run("Hello")))
	entities := zipOf(t, part{"[Content_Types].xml", wordTypes}, part{"_rels/.rels", wordRels},
		part{
			"word/document.xml",
			`<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><w:document ` + wordSpace +
				`><w:body>` + p("", run("&b;")) + `</w:body></w:document>`,
		})
	var many []part
	for i := range 25_000 {
		many = append(many, part{fmt.Sprintf("%d", i), ""})
	}
	typed := func(kind string) string {
		return zipOf(t, part{"[Content_Types].xml", strings.Replace(wordTypes,
			"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml", kind, 1)},
			part{"_rels/.rels", wordRels}, part{"word/document.xml", "<x/>"})
	}
	const docx, epub = document.ApplicationDOCX, document.ApplicationEPUB
	rows := []struct {
		name, mediaType, file string
		kind                  document.ErrorKind
		says                  string
	}{
		{"nothing", docx, "", document.Empty, ""},
		{"no words", docx, docxOf(t, p("", "")), document.Empty, ""},
		{"not an archive", docx, "PK\x03\x04 and nothing", document.Corrupt, "cut off"},
		{"cut off", docx, sound[:len(sound)/2], document.Corrupt, "cut off"},
		{"damaged", docx, strings.Replace(sound, sound[1200:1220], strings.Repeat("\xAA", 20), 1), document.Corrupt, ""},
		{"password", docx, encryptedOLE("EncryptedPackage"), document.Encrypted, "password"},
		{"old Word", docx, encryptedOLE("WordDocument"), document.WrongType, ".doc"},
		{"any zip", docx, zipOf(t, part{"a.txt", "x"}), document.WrongType, "ZIP archive"},
		{"any zip as a book", epub, zipOf(t, part{"a.txt", "x"}), document.WrongType, "ZIP archive"},
		{"a Word file as a book", epub, sound, document.WrongType, ""},
		{"macros", docx, typed("application/vnd.ms-word.document.macroEnabled.main+xml"), document.WrongType, ".docm"},
		{
			"template", docx, typed("application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml"),
			document.WrongType, ".dotx",
		},
		{
			"workbook", docx, typed("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"),
			document.WrongType, "Excel",
		},
		{"overlapping entries", docx, overlapping(t), document.Corrupt, "over each other"},
		{"too many entries", docx, zipOf(t, many...), document.TooComplex, "20000"},
		{"entities", docx, entities, document.Corrupt, "document type"},
		{"unknown entities", docx, docxOf(t, p("", run("&lol;"))), document.Corrupt, "well-formed"},
		{"nesting", docx, docxOf(t, strings.Repeat("<w:sdt><w:sdtContent>", 5000)), document.TooComplex, "512"},
		{"a huge attribute", docx, docxOf(t, `<w:p w:x="`+strings.Repeat("x", 2<<20)+`"/>`), document.TooComplex, "bytes"},
		{"bomb", docx, docxOf(t, strings.Repeat(p("", run("x")), 200_000)), document.TooLarge, "unpacks"},
		{"lying bomb", docx, lying(t, docxOf(t, strings.Repeat(p("", run("x")), 200_000))), document.Corrupt, ""},
		{"bomb as a chapter", epub, bombBook(t), document.TooLarge, "unpacks"},
		{"missing chapter", epub, zipOf(t, part{"META-INF/container.xml", bookContainer}, part{
			"OEBPS/content.opf",
			bookPackage,
		}), document.Corrupt, "missing"},
	}
	for _, row := range rows {
		_, err := document.Parse(t.Context(), row.mediaType, stringsReader(row.file),
			document.Options{Limits: document.Limits{MaxUnpackedBytes: 8 << 20}})
		got, ok := errors.AsType[*document.Error](err)
		if !ok || got.Kind != row.kind || !strings.Contains(got.Message, row.says) || !strings.HasSuffix(got.Message, ".") {
			t.Errorf("%s: got %v, want %s saying %q", row.name, err, row.kind, row.says)
		}
	}
}

func bombBook(t *testing.T) string {
	t.Helper()
	return zipOf(t, part{"META-INF/container.xml", bookContainer},
		part{
			"OEBPS/content.opf",
			`<package><metadata/><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine>` +
				`<itemref idref="a"/></spine></package>`,
		},
		part{"OEBPS/a.xhtml", strings.Repeat("<p>"+strings.Repeat("a", 1000)+"</p>\n", 20_000)})
}

// A password on the archive itself, of which Word knows nothing.
func TestArchiveWithPassword(t *testing.T) {
	t.Parallel()
	file := []byte(docxOf(t, p("", run("x"))))
	for at := 0; ; {
		i := bytes.Index(file[at:], []byte("PK\x01\x02"))
		if i < 0 {
			break
		}
		at += i + 4
		file[at+4] |= 1
	}
	_, err := document.Parse(t.Context(), document.ApplicationDOCX, bytes.NewReader(file), document.Options{})
	if got, ok := errors.AsType[*document.Error](err); !ok || got.Kind != document.Encrypted {
		t.Errorf("got %v", err)
	}
}

// A document of pictures goes through a file, which is gone afterwards.
func TestLargeArchiveLeavesNothingBehind(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	body := `<w:document ` + wordSpace + `><w:body>` + p("", run("Caption")) + `</w:body></w:document>`
	for _, one := range []part{
		{"[Content_Types].xml", wordTypes},
		{"_rels/.rels", wordRels},
		{"word/document.xml", body},
		{"word/media/image1.png", string(make([]byte, 20<<20))},
	} {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: one.name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(entry, one.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	watched := folderWatch{Reader: bytes.NewReader(buffer.Bytes()), folder: folder}
	doc, err := document.Parse(t.Context(), document.ApplicationDOCX, &watched, document.Options{Limits: document.Limits{MaxBytes: 1}})
	if err != nil || doc.Text != "Caption" {
		t.Fatalf("got %q, %v", doc.Text, err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 || watched.most != 1 {
		t.Errorf("got %d files at most and %v in the end, %v; want one, then none", watched.most, left, err)
	}
	_, err = document.Parse(t.Context(), document.ApplicationDOCX, bytes.NewReader(buffer.Bytes()),
		document.Options{Limits: document.Limits{MaxArchiveBytes: 18 << 20}})
	if got, ok := errors.AsType[*document.Error](err); !ok || got.Kind != document.TooLarge {
		t.Errorf("over the limit: got %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("after a refusal: got %v, %v", left, err)
	}
}

// folderWatch counts the files in a folder while it is read from.
type folderWatch struct {
	*bytes.Reader
	folder string
	most   int
}

// WriteTo hides that of the reader, so that it is read in pieces.
func (f *folderWatch) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{f})
}

func (f *folderWatch) Read(p []byte) (int, error) {
	if files, err := os.ReadDir(f.folder); err == nil {
		f.most = max(f.most, len(files))
	}
	return f.Reader.Read(p)
}

func TestSniffPackages(t *testing.T) {
	t.Parallel()
	const (
		docx, epub = document.ApplicationDOCX, document.ApplicationEPUB
		png        = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
		exe        = "MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00"
	)
	google := zipOf(t, part{"word/numbering.xml", wordNumbers}, part{"word/document.xml", "<x/>"})
	rows := []struct {
		name, mediaType, content string
		ok                       bool
	}{
		{"docx", docx, docxOf(t, p("", run("x"))), true},
		{"docx of another writer", docx, google, true},
		{"epub", epub, bookOf(t), true},
		{"epub without its mark", epub, zipOf(t, part{"META-INF/container.xml", bookContainer}), true},
		{"password", docx, encryptedOLE("EncryptedPackage"), true},
		{"zip of pictures", docx, zipOf(t, part{"holiday/1.jpg", "x"}), false},
		{"zip of anything", epub, zipOf(t, part{"notes.doc", "x"}), false},
		{"epub called docx", docx, bookOf(t), false},
		{"docx called epub", epub, docxOf(t, p("", run("x"))), false},
		{"xlsx called docx", docx, zipOf(t, part{"[Content_Types].xml", wordTypes}, part{"xl/workbook.xml", "<x/>"}), false},
		{"png called html", "text/html", png, false},
		{"png called json", "application/json", png, false},
		{"exe called txt", "text/plain", exe, false},
		{"zip called html", "text/html", google, false},
		{"page called json", "application/json", "<!doctype html><title>404</title>", false},
		{"rtf called txt", "text/plain", `{\rtf1\ansi\deff0 Hello}`, false},
		{"html", "text/html", webPage, true},
		{"html in utf-16", "text/html", "<\x00p\x00>\x00h\x00e\x00l\x00l\x00o\x00 \x00y\x00o\x00u\x00", true},
		{"ndjson", "application/json", "{\"a\":1}\n{\"a\":2}\n", true},
	}
	for _, row := range rows {
		err := document.Sniff(row.mediaType, []byte(row.content))
		if (err == nil) != row.ok || (err != nil && !fault.IsReason(err, fault.KBUnsupportedMediaType)) {
			t.Errorf("%s: got %v, want ok=%t", row.name, err, row.ok)
		}
	}
}
