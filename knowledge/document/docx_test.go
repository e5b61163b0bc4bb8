package document_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/knowledge/document"
)

// part is an entry of a package.
type part struct{ name, content string }

// zipOf writes a package as Word does, deflated.
func zipOf(t testing.TB, parts ...part) string {
	t.Helper()
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	for _, p := range parts {
		method := zip.Deflate
		if p.name == "mimetype" {
			method = zip.Store
		}
		entry, err := w.CreateHeader(&zip.FileHeader{Name: p.name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(p.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

const (
	xmlHead   = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\r\n"
	wordTypes = xmlHead +
		`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ` +
		`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
	wordRels = xmlHead +
		`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
		`Target="word/document.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metad` +
		`ata/core-properties" Target="docProps/core.xml"/></Relationships>`
	wordSpace = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
		`xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" ` +
		`xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" ` +
		`xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml" ` +
		`xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"`

	documentRels = xmlHead +
		`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" ` +
		`Target="styles.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbe` +
		`ring" Target="numbering.xml"/><Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationsh` +
		`ips/footnotes" Target="/word/footnotes.xml"/><Relationship Id="rId4" ` +
		`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/header" Target="header1.xml"/>` +
		`<Relationship Id="rId9" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" ` +
		`Target="https://forms.example/leave" TargetMode="External"/></Relationships>`

	// A German Word keeps English names and translates ids.
	wordStyles = xmlHead + `<w:styles ` + wordSpace + `><w:style w:type="paragraph" w:default="1" w:styleId="Standard">
<w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/><w:basedOn w:val="Standard"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:basedOn w:val="Standard"/><w:pPr><w:numPr>
<w:numId w:val="3"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:customStyle="1" w:styleId="Frage"><w:name w:val="Frage"/><w:basedOn w:val="berschrift2"/></w:style>
<w:style w:type="paragraph" w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Listenabsatz"><w:name w:val="List Paragraph"/></w:style>
<w:style w:type="paragraph" w:customStyle="1" w:styleId="Quelltext"><w:name w:val="Source Code"/></w:style></w:styles>`
	wordNumbers = xmlHead + `<w:numbering ` + wordSpace + `>
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val=""/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/>
<w:pStyle w:val="berschrift1"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3">
<w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>`
	wordNotes = xmlHead + `<w:footnotes ` + wordSpace +
		`><w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote><w:footnote w:id="1"><w:p><w:r>` +
		`<w:footnoteRef/></w:r><w:r><w:t xml:space="preserve"> Except in May.</w:t></w:r></w:p></w:footnote></w:footnotes>`
)

// docxOf is a document as Word writes it, with a body.
func docxOf(t testing.TB, body string) string {
	t.Helper()
	return zipOf(t,
		part{"[Content_Types].xml", wordTypes}, part{"_rels/.rels", wordRels},
		part{"word/document.xml", xmlHead + `<w:document ` + wordSpace + ` mc:Ignorable="w14"><w:body>` + body +
			`<w:sectPr w:rsidR="00A1"><w:headerReference w:type="default" r:id="rId4"/><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>` +
			`</w:body></w:document>`},
		part{"word/_rels/document.xml.rels", documentRels}, part{"word/styles.xml", wordStyles},
		part{"word/numbering.xml", wordNumbers}, part{"word/footnotes.xml", wordNotes},
		part{"word/header1.xml", xmlHead + `<w:hdr ` + wordSpace + `><w:p><w:r><w:t>Page header</w:t></w:r></w:p></w:hdr>`},
	)
}

// p is a paragraph with properties and runs; run is a run of text.
func p(properties, content string) string {
	return `<w:p w:rsidR="00B2"><w:pPr>` + properties + `</w:pPr>` + content + `</w:p>`
}

func run(text string) string {
	return `<w:r w:rsidRPr="00C3"><w:rPr><w:lang w:val="en-US"/></w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
}

func styled(style, text string) string { return p(`<w:pStyle w:val="`+style+`"/>`, run(text)) }

func item(number, level, text string) string {
	return p(`<w:pStyle w:val="Listenabsatz"/><w:numPr><w:ilvl w:val="`+level+`"/><w:numId w:val="`+number+`"/></w:numPr>`, run(text))
}

func tc(properties, text string) string {
	return `<w:tc><w:tcPr><w:tcW w:w="2000" w:type="dxa"/>` + properties + `</w:tcPr>` + p("", run(text)) + `</w:tc>`
}

func TestParseDOCX(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, body string
		want       []string
	}{
		{"headings", styled("Titel", "Handbook") + styled("berschrift1", "Leave") + styled("Frage", "How much?") + p("", run("30 days.")) +
			styled("berschrift1", "Pay") + p(`<w:outlineLvl w:val="1"/>`, run("Bonus")), []string{
			"heading Handbook: Handbook", "heading Handbook > I. Leave: I. Leave",
			"heading Handbook > I. Leave > How much?: How much?", "paragraph Handbook > I. Leave > How much?: 30 days.",
			"heading Handbook > II. Pay: II. Pay", "heading Handbook > II. Pay > Bonus: Bonus",
		}},
		{"lists", item("1", "0", "Ask") + item("1", "1", "in writing") + item("1", "1", "early") + item("1", "0",
			"Wait") + p("", run("Or:")) +
			item("4", "0", "Again") + item("2", "0", "bullet") + item("0", "0", "no list"), []string{
			"list : 1. Ask\n  1.a) in writing\n  1.b) early\n2. Wait", "paragraph : Or:", "list : 1. Again\n- bullet",
			"paragraph : no list",
		}},
		{"tracked changes", p("",
			run("Kept ")+`<w:del w:id="1" w:author="A"><w:r><w:delText>old </w:delText></w:r></w:del>`+
				`<w:ins w:id="2" w:author="A">`+run("new ")+`</w:ins`+
				`>`+
				`<w:moveFrom w:id="3">`+run("moved ")+`</w:moveFrom><w:moveTo w:id="4">`+run("here")+`</w:moveTo>`) +
			p(`<w:rPr><w:del w:id="5" w:author="A"/></w:rPr>`, run("One ")) + p("", run("paragraph.")), []string{
			"paragraph : Kept new here", "paragraph : One paragraph.",
		}},
		{"links and fields", p("", `<w:hyperlink r:id="rId9" w:history="1">`+run("the form")+`</w:hyperlink>`+run(", page ")+
			`<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> REF _a \h </w:instrText></w:r><w:r>`+
			`<w:fldChar w:fldCharType="separate"/></w:r>`+run("7")+`<w:r><w:fldChar w:fldCharType="end"/></w:r>`+
			`<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://a.example/b" </w:instrText></w:r><w:r>`+
			`<w:fldChar w:fldCharType="separate"/></w:r>`+run(" there")+`<w:r><w:fldChar w:fldCharType="end"/></w:r>`+
			`<w:fldSimple w:instr=" DATE ">`+run(" today")+`</w:fldSimple>`), []string{
			"paragraph : the form (https://forms.example/leave), page 7 there (https://a.example/b) today",
		}},
		{"breaks and hidden text", p("",
			`<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c-</w:t><w:noBreakHyphen/><w:softHyphen/><w:t>d</w:t></w:r><w:r><w:rPr>`+
				`<w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>!</w:t></w:r>`), []string{"paragraph : " +
			"a\tb\nc--d!"}},
		{"notes", p("", run("Open daily")+`<w:r><w:footnoteReference w:id="1"/></w:r>`+run(".")) + p("", run("Next.")), []string{
			"paragraph : Open daily[1].", "paragraph : [1] Except in May.", "paragraph : Next.",
		}},
		{
			"contents are left out",
			`<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>` +
				`<w:sdtContent>` + styled("Verzeichnis"+
				"1", "Leave 3") + `</w:sdtContent></w:sdt>` + p("", run("Text")),
			[]string{"paragraph : Text"},
		},
		{"code", styled("Quelltext", "if x {") + styled("Quelltext", "") + styled("Quelltext", "  y()") + p("",
			`<w:r><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr><w:t>ls -l</w:t></w:r>`), []string{"code : if x {\n\n  y()\nls -l"}},
		{"text boxes once", p("",
			run("Before")+`<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor>`+
				`<wp:docPr id="1" name="Box" descr="A note"/><wps:wsp><wps:txbx><w:txbxContent>`+p("", run("In the box"))+
				`</w:txbxContent></wps:txbx></wps:wsp></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>`+
				`<w:txbxContent>`+p("", run("In the box"))+`</w:txbxContent></v:textbox></v:shape></w:pict></mc:Fallback>`+
				`</mc:AlternateContent></w:r>`), []string{
			"paragraph : Before A note", "paragraph : In the box",
		}},
		{"tables", `<w:tbl><w:tblPr><w:tblLook w:val="04A0" w:firstRow="1"/></w:tblPr><w:tblGrid><w:gridCol w:w="1"/></w:tblGrid>` +
			`<w:tr><w:trPr><w:tblHeader/></w:trPr>` + tc("", "Site") + tc(`<w:gridSpan w:val="2"/>`, "Hours") + `</w:tr><w:tr>` +
			tc(`<w:vMerge w:val="restart"/>`, "North") + tc("", "9–12") + tc("", "main") + `</w:tr><w:tr>` +
			tc(`<w:vMerge/>`, "") + tc("", "14–18") + tc("", "annex") +
			`</w:tr><w:tr><w:trPr><w:del w:id="9"/></w:trPr>` + tc("", "gone") + tc("", "gone") + `</w:tr></w:tbl>` +
			`<w:tbl><w:tr>` + tc("", "Framed text") + `</w:tr></w:tbl>`, []string{
			"table : Site | Hours\nNorth | 9–12 | main\nNorth | 14–18 | annex", "paragraph : Framed text",
		}},
		{
			"formulas", p("", run("Area ")+`<m:oMath><m:r><m:t>a</m:t></m:r><m:r><m:t>=πr²</m:t></m:r></m:oMath>`),
			[]string{"paragraph : Area a=πr²"},
		},
	}
	for _, row := range rows {
		if diff := cmp.Diff(row.want, outline(parse(t, document.ApplicationDOCX, docxOf(t, row.body)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}

// A package may lack everything but its body, keep it elsewhere, and be in the strict dialect.
func TestParseDOCXWithoutStyles(t *testing.T) {
	t.Parallel()
	file := zipOf(t,
		part{"_rels/.rels", strings.NewReplacer("word/document.xml", "/doc/main.xml",
			"schemas.openxmlformats.org/officeDocument/2006", "purl.oclc.org/ooxml/officeDocument").Replace(wordRels)},
		part{"[Content_Types].xml", strings.ReplaceAll(wordTypes, "word/document.xml", "doc/main.xml")},
		part{"doc/main.xml", `<w:document xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"><w:body>` +
			styled("Heading2", "Top") + p("", run("Text")) + `</w:body></w:document>`},
	)
	want := []string{"heading Top: Top", "paragraph Top: Text"}
	if diff := cmp.Diff(want, outline(parse(t, document.ApplicationDOCX, file))); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}
