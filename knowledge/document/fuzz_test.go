package document_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"parlance.dev/parlance/knowledge/chunking"
	"parlance.dev/parlance/knowledge/document"
)

// check parses and cuts a file of outsiders: whatever it is, the answer is a sound document or a
// fault with a sentence, and never a crash that was caught.
func check(t *testing.T, mediaType, file string) {
	t.Helper()
	limits := document.Limits{MaxBytes: 1 << 20, MaxUnpackedBytes: 4 << 20, MaxTextBytes: 1 << 20}
	doc, err := document.Parse(t.Context(), mediaType, strings.NewReader(file), document.Options{Limits: limits})
	if err != nil {
		fault, ok := errors.AsType[*document.Error](err)
		if !ok || !strings.HasSuffix(fault.Message, ".") || strings.Contains(fault.Error(), "panic: ") {
			t.Fatalf("%s: %v", mediaType, err)
		}
		return
	}
	if !utf8.ValidString(doc.Text) || strings.ContainsAny(doc.Text, "\x00\r") {
		t.Fatalf("%s: the text is not clean: %.200q", mediaType, doc.Text)
	}
	chars, at := []rune(doc.Text), 0
	for _, block := range doc.Blocks {
		if block.CharStart < at || block.CharEnd <= block.CharStart || string(chars[block.CharStart:block.CharEnd]) != block.Text {
			t.Fatalf("%s: block %d–%d after %d is not its range of the text", mediaType, block.CharStart, block.CharEnd, at)
		}
		if block.Page != 0 || strings.TrimSpace(strings.Join(block.HeadingPath, "")) == "" && len(block.HeadingPath) > 0 {
			t.Fatalf("%s: page %d, path %q", mediaType, block.Page, block.HeadingPath)
		}
		at = block.CharEnd
	}
	if _, err := chunking.Cut(doc, chunking.Options{}); err != nil {
		if _, ok := errors.AsType[*document.Error](err); !ok {
			t.Fatalf("%s: cut: %v", mediaType, err)
		}
	}
}

func FuzzParseHTML(f *testing.F) {
	for _, seed := range []string{
		webPage, "<title>x</title><h1>", "<table><tr><td rowspan=99999 colspan=99999>x<tr><th>y", "<ul><li>a<ol start=-9><li>b</ul>",
		"<frameset><noframes><p>x", "<dl><dt>a<dd>b<dt>c", "<p id=x><a href='http://[::1'>y</a><base href='%%'>",
		chapterTwo, "<pre>\n\n x</pre><br><img alt=y>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, page string) { check(t, document.TextHTML, page) })
}

func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"b":[1,2,{"c":null}]},"a":"é"}`, "{\"a\":1}\n{\"a\":2}", `[[[[{"x":[]}]]]]`, `"\ud800"`, `1e999`, `{"":""}`,
		`[{"k":"` + strings.Repeat("v", 700) + `"},1]`, "\xff\xfe{\x00}\x00", `{"a":"` + strings.Repeat(`\n`, 300) + `"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) { check(t, document.ApplicationJSON, file) })
}

func FuzzParseMarkdown(f *testing.F) {
	for _, seed := range []string{
		sample, "a <script>b</script> <div hidden>\n\n*c*\n\n</div>\n\n- <b>d\n- </b>e", "<style>\n\n</style>\n<!--\n\n--></p>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) { check(t, document.TextMarkdown, file) })
}

func FuzzParseText(f *testing.F) {
	for _, seed := range []string{
		german, "\xFF\xFEx\x00", "Gr\xFC\xDFe", "\x1b$B\x3f\x5e\x1b(B",
		"\x00\x00\x00x\x00\x00\x00y", "\x92\x6d\x8e\xaf", "\x00\n\x00x",
	} {
		f.Add(seed, "")
		f.Add(seed, "shift_jis")
	}
	f.Fuzz(func(t *testing.T, text, charset string) { check(t, "text/plain; charset="+charset, text) })
}

// The package around it is sound: a random archive would hardly get as far.
func FuzzParseDOCX(f *testing.F) {
	for _, body := range []string{
		styled("berschrift1", "x") + item("1", "8", "y") + item("77", "3", "z"), `<w:tbl><w:tr>` +
			tc(`<w:vMerge/><w:gridSpan w:val="999999"/>`, "x") + `</w:tr></w:tbl>`,
		p("", `<w:r><w:fldChar w:fldCharType="end"/><w:fldChar w:fldCharType="begin"/><w:instrText>TOC</w:instrText>`+
			`<w:fldChar w:fldCharType="separate"/><w:t>x</w:t></w:r>`),
		p(`<w:rPr><w:del/></w:rPr>`, run("a")) + `<mc:AlternateContent><mc:Fallback>` + p("", run("b")) +
			`</mc:Fallback></mc:AlternateContent>`, "<w:sdt/><w:p/>", "]]>", "<!DOCTYPE x>",
	} {
		f.Add(body, wordStyles, wordNumbers)
	}
	f.Fuzz(func(t *testing.T, body, styles, numbers string) {
		check(t, document.ApplicationDOCX, zipOf(t, part{"[Content_Types].xml", wordTypes}, part{"_rels/.rels", wordRels},
			part{"word/document.xml", `<w:document ` + wordSpace + `><w:body>` + body + `</w:body></w:document>`},
			part{"word/_rels/document.xml.rels", documentRels},
			part{"word/styles.xml", styles}, part{"word/numbering.xml", numbers}, part{"word/footnotes.xml", wordNotes}))
	})
}

func FuzzParseEPUB(f *testing.F) {
	f.Add(bookContainer, bookPackage, bookNav, chapterTwo)
	f.Add(bookContainer, strings.ReplaceAll(bookPackage, "nav", "x"), bookNCX, chapterOne)
	f.Fuzz(func(t *testing.T, container, opf, contents, chapter string) {
		check(t, document.ApplicationEPUB, zipOf(t, part{"META-INF/container.xml", container}, part{"OEBPS/content.opf", opf},
			part{"OEBPS/nav.xhtml", contents}, part{"OEBPS/toc.ncx", contents}, part{"OEBPS/text/two.xhtml", chapter},
			part{"OEBPS/text/one .xhtml", chapter}))
	})
}

// The archive itself, whose lies are found before anything in it is read.
func FuzzParseArchive(f *testing.F) {
	f.Add([]byte(docxOf(f, p("", run("x")))))
	f.Add([]byte(bookOf(f)))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, file []byte) {
		check(t, document.ApplicationDOCX, string(file))
		check(t, document.ApplicationEPUB, string(file))
		_ = document.Sniff(document.ApplicationDOCX, file) // either answer, no crash
	})
}
