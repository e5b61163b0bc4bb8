package document

import (
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"
)

// docxStyle is what a style says of structure; numeric fields hold one more than the value in
// the file, so that zero is unset.
type docxStyle struct {
	name, basedOn string
	outline       int
	number, level int
	// typewriter says that its own font is one of fixed width; inherited, it may be that of a
	// whole screenplay.
	typewriter bool
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
	d.styles = make(map[string]docxStyle)
	return x.children(func(start xml.StartElement) error {
		if start.Name.Local != "style" {
			return x.skip()
		}
		var style docxStyle
		err := x.children(func(child xml.StartElement) error {
			switch child.Name.Local {
			case "name":
				style.name = attribute(child, "val")
			case "basedOn":
				style.basedOn = attribute(child, "val")
			case "pPr":
				p, err := readParagraphProperties(x)
				style.outline, style.number, style.level = p.outline, p.number, p.level
				return err
			case "rPr":
				r, err := readRunProperties(x)
				style.typewriter = r.typewriter
				return err
			}
			return x.skip()
		})
		d.styles[attribute(start, "styleId")] = style
		return err
	})
}

// style is a style with what it inherits, worked out once.
func (d *docxReader) style(id string) docxStyle {
	if style, ok := d.resolved[id]; ok {
		return style
	}
	style := d.inherited(id)
	if style.outline == 0 {
		style.outline = headingOf(style.name)
	}
	style.contents, style.code = contentsName.MatchString(style.name), isCodeStyle(style.name)
	if len(d.resolved) < maxStyles {
		d.resolved[id] = style
	}
	return style
}

func (d *docxReader) inherited(id string) docxStyle {
	style, ok := d.styles[id]
	if !ok {
		return docxStyle{name: id} // without styles.xml the id is all there is
	}
	parent := style.basedOn
	for range maxStyleChain {
		above, ok := d.styles[parent]
		if !ok {
			break
		}
		if style.outline == 0 {
			style.outline = above.outline
			if style.outline == 0 {
				style.outline = headingOf(above.name) // a style of one's own, made from "heading 2"
			}
		}
		if style.number == 0 {
			style.number = above.number
		}
		if style.level == 0 {
			style.level = above.level
		}
		parent = above.basedOn
	}
	return style
}

// headingName matches the names and ids of heading styles. Word keeps the English name in every
// language; other writers, and ids where names are missing, do not.
var headingName = regexp.MustCompile(`(?i)^(?:heading|überschrift|berschrift|titre|título|ttulo|titolo|kop|rubrik` +
	`|overskrift|otsikko|nagłówek|nagwek|nadpis|заголовок|başlık|balk|címsor|cmsor|標題|标题|見出し|제목)\s?([1-9])$`)

// headingOf is the outline level of a heading style, plus one; zero for any other.
func headingOf(name string) int {
	found := headingName.FindStringSubmatch(name)
	if found == nil {
		return 0
	}
	level, _ := strconv.Atoi(found[1]) // one digit
	return level
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

// paragraphProperties are those of a pPr that matter; numeric fields as in docxStyle.
type paragraphProperties struct {
	style         string
	outline       int
	number, level int
	// markDeleted says that the paragraph's end is a tracked deletion: it runs into the next.
	markDeleted bool
}

// readParagraphProperties reads a pPr.
func readParagraphProperties(x *xmlReader) (paragraphProperties, error) {
	var p paragraphProperties
	err := x.children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "pStyle":
			p.style = attribute(start, "val")
		case "outlineLvl":
			p.outline = plusOne(attribute(start, "val"))
		case "numPr":
			return x.children(func(child xml.StartElement) error {
				switch child.Name.Local {
				case "numId":
					p.number = plusOne(attribute(child, "val"))
				case "ilvl":
					p.level = plusOne(attribute(child, "val"))
				}
				return x.skip()
			})
		case "rPr":
			return x.children(func(child xml.StartElement) error {
				p.markDeleted = p.markDeleted || child.Name.Local == "del" || child.Name.Local == "moveFrom"
				return x.skip()
			})
		}
		return x.skip()
	})
	return p, err
}

// plusOne reads a number of the file; 0 for none, or none that makes sense.
func plusOne(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1<<30 {
		return 0
	}
	return n + 1
}

// runProperties are those of an rPr that matter.
type runProperties struct {
	style      string
	hidden     bool
	typewriter bool
}

// typewriters are the fonts of fixed width that code is set in.
var typewriters = regexp.MustCompile(`(?i)^(?:courier|consolas|menlo|monaco|lucida console|source code|fira code|fira mono|jetbrains mono` +
	`|cascadia|liberation mono|dejavu sans mono|andale mono|roboto mono|ubuntu mono)`)

// readRunProperties reads an rPr.
func readRunProperties(x *xmlReader) (runProperties, error) {
	var r runProperties
	err := x.children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "rStyle":
			r.style = attribute(start, "val")
		case "vanish", "webHidden":
			r.hidden = isOn(start)
		case "rFonts":
			r.typewriter = typewriters.MatchString(attribute(start, "ascii"))
		}
		return x.skip()
	})
	return r, err
}

// isOn reads a switch: its presence means on. Source: ECMA-376, ST_OnOff.
func isOn(start xml.StartElement) bool {
	switch attribute(start, "val") {
	case "0", "false", "off":
		return false
	}
	return true
}
