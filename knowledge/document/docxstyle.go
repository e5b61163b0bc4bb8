package document

import (
	"cmp"
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"
)

// docxStyle is what a style says of structure.
type docxStyle struct {
	ID        string              `xml:"styleId,attr"`
	Name      docxValue           `xml:"name"`
	BasedOn   docxValue           `xml:"basedOn"`
	Paragraph paragraphProperties `xml:"pPr"`
	// Run has its own font only: inherited, one of fixed width may be that of a whole screenplay.
	Run runProperties `xml:"rPr"`
	// contents and code say what its name means.
	contents, code bool
}

const (
	// maxStyleChain bounds how far a style is followed to those it is based on.
	maxStyleChain = 20
	// maxStyles bounds what is remembered.
	maxStyles = 10_000
	// bodyOutline is the outline level that means none. Source: ECMA-376, outlineLvl.
	bodyOutline = 9
)

// readStyles reads styles.xml.
func (d *docxReader) readStyles(x *xmlReader) error {
	var file struct {
		Styles []docxStyle `xml:"style"`
	}
	err := x.decode(&file)
	d.styles = make(map[string]docxStyle, len(file.Styles))
	for _, style := range file.Styles {
		d.styles[style.ID] = style
	}
	return err
}

// style is a style with what it inherits, worked out once.
func (d *docxReader) style(id string) docxStyle {
	if style, ok := d.resolved[id]; ok {
		return style
	}
	style := d.inherited(id)
	name := string(style.Name)
	style.Paragraph.Outline = cmp.Or(style.Paragraph.Outline, headingOf(name))
	style.contents, style.code = contentsName.MatchString(name), isCodeStyle(name)
	if len(d.resolved) < maxStyles {
		d.resolved[id] = style
	}
	return style
}

func (d *docxReader) inherited(id string) docxStyle {
	style, ok := d.styles[id]
	if !ok {
		return docxStyle{Name: docxValue(id)} // without styles.xml the id is all there is
	}
	own, parent := &style.Paragraph, style.BasedOn
	for range maxStyleChain {
		above, ok := d.styles[string(parent)]
		if !ok {
			break
		}
		// A style of one's own may be made from "heading 2".
		own.Outline = cmp.Or(own.Outline, above.Paragraph.Outline, headingOf(string(above.Name)))
		own.Number = cmp.Or(own.Number, above.Paragraph.Number)
		own.Level = cmp.Or(own.Level, above.Paragraph.Level)
		parent = above.BasedOn
	}
	return style
}

// headingName matches the names and ids of heading styles. Word keeps the English name in every
// language; other writers, and ids where names are missing, do not.
var headingName = regexp.MustCompile(`(?i)^(?:heading|überschrift|berschrift|titre|título|ttulo|titolo|kop|rubrik` +
	`|overskrift|otsikko|nagłówek|nagwek|nadpis|заголовок|başlık|balk|címsor|cmsor|標題|标题|見出し|제목)\s?([1-9])$`)

// headingOf is the outline level of a heading style, plus one; zero for any other.
func headingOf(name string) docxOrdinal {
	found := headingName.FindStringSubmatch(name)
	if found == nil {
		return 0
	}
	level, _ := strconv.Atoi(found[1]) // one digit
	return docxOrdinal(level)
}

// contentsName matches the styles of a table of contents, which repeats the headings.
var contentsName = regexp.MustCompile(`(?i)^(?:toc|contents|verzeichnis|tdm|tm|tdc|sommario|inhopg)\s?[1-9]$` +
	`|^(?:toc heading|table of figures)$`)

// codeNames are in the names of styles for code.
var codeNames = []string{"code", "source text", "preformatted", "html preformatted", "macro text", "listing", "verbatim"}

func isCodeStyle(name string) bool {
	name = strings.ToLower(name)
	for _, part := range codeNames {
		if strings.Contains(name, part) {
			return true
		}
	}
	return name == "macro"
}

// paragraphProperties are those of a pPr that matter.
type paragraphProperties struct {
	Style   docxValue   `xml:"pStyle"`
	Outline docxOrdinal `xml:"outlineLvl"`
	Number  docxOrdinal `xml:"numPr>numId"`
	Level   docxOrdinal `xml:"numPr>ilvl"`
	// Deleted and Moved say that the paragraph's end is a tracked deletion: it runs into the next.
	Deleted *struct{} `xml:"rPr>del"`
	Moved   *struct{} `xml:"rPr>moveFrom"`
}

// runProperties are those of an rPr that matter.
type runProperties struct {
	Style     docxValue  `xml:"rStyle"`
	Vanish    docxSwitch `xml:"vanish"`
	WebHidden docxSwitch `xml:"webHidden"`
	Fonts     struct {
		ASCII string `xml:"ascii,attr"`
	} `xml:"rFonts"`
}

// typewriters are the fonts of fixed width that code is set in.
var typewriters = regexp.MustCompile(`(?i)^(?:courier|consolas|menlo|monaco|lucida console|source code|fira code|fira mono|jetbrains mono` +
	`|cascadia|liberation mono|dejavu sans mono|andale mono|roboto mono|ubuntu mono)`)

// isTypewriter says whether the run's own font is one of fixed width.
func (r runProperties) isTypewriter() bool { return typewriters.MatchString(r.Fonts.ASCII) }

// docxValue is the attribute val of an element.
type docxValue string

// UnmarshalXML implements xml.Unmarshaler.
func (v *docxValue) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	*v = docxValue(attribute(start, "val"))
	return d.Skip()
}

// docxOrdinal is the attribute val of an element, a number, plus one: zero is unset.
type docxOrdinal int

// UnmarshalXML implements xml.Unmarshaler.
func (o *docxOrdinal) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	*o = plusOne(attribute(start, "val"))
	return d.Skip()
}

// plusOne reads a number of the file; 0 for none, or none that makes sense.
func plusOne(s string) docxOrdinal {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<30 {
		return 0
	}
	return docxOrdinal(n + 1)
}

// docxSwitch is an element whose presence means on. Source: ECMA-376, ST_OnOff.
type docxSwitch bool

// UnmarshalXML implements xml.Unmarshaler.
func (o *docxSwitch) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	switch attribute(start, "val") {
	case "0", "false", "off":
		*o = false
	default:
		*o = true
	}
	return d.Skip()
}
