package document_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/knowledge/document"
)

const (
	bookContainer = `<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">` +
		`<rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`
	bookManifest = `<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>` +
		`<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>` +
		`<item id="c1" href="text/one%20.xhtml" media-type="application/xhtml+xml"/>` +
		`<item id="c2" href="text/two.xhtml" media-type="application/xhtml+xml"/>` +
		`<item id="pic" href="p.png" media-type="image/png"/></manifest>`
	bookPackage = `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">` +
		`<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Whale</dc:title></metadata>` +
		bookManifest +
		`<spine toc="ncx"><itemref idref="nav"/><itemref idref="c2"/><itemref idref="c1"/><itemref idref="c2"/></spine></package>`
	bookNav = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>` +
		`<nav epub:type="landmarks"><ol><li><a href="text/two.xhtml">Start</a></li></ol></nav>` +
		`<nav epub:type="toc"><h1>Contents</h1><ol><li><a href="text/two.xhtml">Loomings</a><ol><li>` +
		`<a href="text/two.xhtml#inn">The Inn</a></li></ol></li><li><a href="text/one%20.xhtml">After</a></li></ol></nav></body></html>`
	bookNCX = `<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" ` +
		`"http://www.daisy.org/z3986/2005/ncx-2005-1.dtd"><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><navMap>` +
		`<navPoint id="a"><navLabel><text>Loomings</text></navLabel><content src="text/two.xhtml"/><navPoint id="b"><navLabel>` +
		`<text>The Inn</text></navLabel><content src="text/two.xhtml#inn"/></navPoint></navPoint>` +
		`<navPoint id="c"><navLabel><text>After</text></navLabel><content src="text/one%20.xhtml"/></navPoint></navMap></ncx>`
	chapterTwo = `<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>` +
		`<script src="x.js"/></head><body><section><h1>1. Loomings</h1><p>Call me&#160;Ishmael.<a id="fn"/></p>` +
		`<div id="inn"><p class="title">x</p><p>Two lines.</p></div><aside epub:type="footnote"><p>A note.</p></aside></section></body></html>`
	chapterOne = `<?xml version="1.0" encoding="iso-8859-1"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>Fin` +
		"\xe9" + `.</p><h2>Coda</h2><p>End.</p></body></html>`
)

func bookOf(t testing.TB, more ...part) string {
	t.Helper()
	return zipOf(t, append([]part{
		{"mimetype", "application/epub+zip"},
		{"META-INF/container.xml", bookContainer},
		{"OEBPS/content.opf", bookPackage},
		{"OEBPS/nav.xhtml", bookNav},
		{"OEBPS/toc.ncx", bookNCX},
		{"OEBPS/text/two.xhtml", chapterTwo},
		{"OEBPS/text/one .xhtml", chapterOne},
	}, more...)...)
}

func TestParseEPUB(t *testing.T) {
	t.Parallel()
	want := []string{
		"heading The Whale: The Whale",
		"heading The Whale > Loomings: Loomings",
		"paragraph The Whale > Loomings: Call me Ishmael.",
		"heading The Whale > Loomings > The Inn: The Inn",
		"paragraph The Whale > Loomings > The Inn: x",
		"paragraph The Whale > Loomings > The Inn: Two lines.",
		"paragraph The Whale > Loomings > The Inn: A note.",
		"heading The Whale > After: After",
		"paragraph The Whale > After: Finé.",
		"heading The Whale > After > Coda: Coda",
		"paragraph The Whale > After > Coda: End.",
	}
	if diff := cmp.Diff(want, outline(parse(t, document.ApplicationEPUB, bookOf(t)))); diff != "" {
		t.Errorf("EPUB 3 (-want +got):\n%s", diff)
	}
	// EPUB 2 has no nav, and its metadata one level down.
	second := zipOf(t,
		part{"mimetype", "application/epub+zip"}, part{"META-INF/container.xml", bookContainer},
		part{
			"OEBPS/content.opf",
			`<package version="2.0"><metadata><dc-metadata xmlns:dc="x"><dc:Title>no</dc:Title><dc:title>The Whale</dc:title>` +
				`</dc-metadata></metadata><manifest><item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>` +
				`<item id="c1" href="text/one .xhtml" media-type="application/xhtml+xml"/>` +
				`<item id="c2" href="Text/two.xhtml" media-type="application/xhtml+xml"/></manifest><spine toc="ncx"><itemref idref="c2"/>` +
				`<itemref idref="c1"/></spine></package>`,
		},
		part{"OEBPS/toc.ncx", bookNCX}, part{"OEBPS/Text/two.xhtml", chapterTwo}, part{"OEBPS/text/one .xhtml", chapterOne},
	)
	got := outline(parse(t, document.ApplicationEPUB, second))
	if len(got) == 0 || got[len(got)-1] != want[len(want)-1] {
		t.Errorf("EPUB 2: got %q", got)
	}
}

func encryptionOf(algorithm, target string) part {
	return part{
		"META-INF/encryption.xml",
		`<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#">` +
			`<enc:EncryptedData><enc:EncryptionMethod Algorithm="` + algorithm +
			`"/><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><enc:EncryptedKey>` +
			`<enc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#rsa-1_5"/></enc:EncryptedKey></KeyInfo><enc:CipherData>` +
			`<enc:CipherReference URI="` + target + `"/></enc:CipherData></enc:EncryptedData></encryption>`,
	}
}

// TestParseEPUBIncomplete reads what is there, and says what is not.
func TestParseEPUBIncomplete(t *testing.T) {
	t.Parallel()
	parts := []part{{"mimetype", "application/epub+zip"}, {"META-INF/container.xml", bookContainer}, {"OEBPS/content.opf", bookPackage}}
	doc, err := document.Parse(t.Context(), document.ApplicationEPUB, stringsReader(zipOf(t, append(parts,
		part{"OEBPS/text/two.xhtml", chapterTwo})...)), document.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`The chapter "OEBPS/text/one .xhtml" is missing from the book.`}, doc.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got := strings.Join(outline(doc), "\n"); !strings.Contains(got, "Ishmael") {
		t.Errorf("got %s", got)
	}
	_, err = document.Parse(t.Context(), document.ApplicationEPUB, stringsReader(zipOf(t, parts...)), document.Options{})
	if got, ok := errors.AsType[*document.Error](err); !ok || got.Kind != document.Corrupt ||
		!strings.Contains(got.Message, "its chapters are missing") {
		t.Errorf("a book without any: got %v", err)
	}
}

func TestParseEPUBEncryption(t *testing.T) {
	t.Parallel()
	const aes = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
	for _, row := range []struct {
		name string
		part part
		ok   bool
	}{
		{"fonts may be obfuscated", encryptionOf("http://www.idpf.org/2008/embedding", "OEBPS/font.otf"), true},
		{"so may they be by Adobe", encryptionOf("http://ns.adobe.com/pdf/enc#RC", "OEBPS/font.otf"), true},
		{"a video is not read", encryptionOf(aes, "OEBPS/film.mp4"), true},
		{"a chapter is", encryptionOf(aes, "OEBPS/text/one%20.xhtml"), false},
	} {
		_, err := document.Parse(t.Context(), document.ApplicationEPUB, stringsReader(bookOf(t, row.part)), document.Options{})
		got, _ := errors.AsType[*document.Error](err)
		if row.ok != (err == nil) || !row.ok && (got == nil || got.Kind != document.Encrypted) {
			t.Errorf("%s: got %v", row.name, err)
		}
	}
}
