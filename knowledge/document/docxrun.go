package document

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// docxParagraph is a paragraph being read.
type docxParagraph struct {
	paragraphProperties
	text  strings.Builder
	boxes []string
	// notes are those that the text refers to.
	notes []string
	// typed and set count the characters in fonts of fixed width, and in others.
	typed, set int
}

func (p *docxParagraph) allTypewriter() bool { return p.typed > 0 && p.set == 0 }

// docxField is a field begun: its instruction, then its result.
type docxField struct {
	instruction string
	inResult    bool
	// silent results are repetitions: a table of contents.
	silent bool
}

// readParagraph reads the paragraph whose start was just given.
func (d *docxReader) readParagraph(x *xmlReader) (docxParagraph, error) {
	var p docxParagraph
	err := x.children(func(start xml.StartElement) error {
		if start.Name.Local == "pPr" {
			return x.decode(&p.paragraphProperties)
		}
		return d.inline(x, start, &p)
	})
	// An instruction does not go on in the next paragraph; one cut off would silence the rest.
	for len(d.fields) > 0 && !d.fields[len(d.fields)-1].inResult {
		d.fields = d.fields[:len(d.fields)-1]
	}
	return p, err
}

// inline adds what stands in a paragraph.
func (d *docxReader) inline(x *xmlReader, start xml.StartElement, p *docxParagraph) error {
	content := func(x *xmlReader) error {
		return x.children(func(child xml.StartElement) error { return d.inline(x, child, p) })
	}
	switch start.Name.Local {
	case "r":
		return d.run(x, p)
	case "hyperlink":
		before := p.text.Len()
		if err := content(x); err != nil {
			return err
		}
		p.address(before, d.links[attribute(start, "id")])
		return nil
	case "oMath", "oMathPara":
		formula, err := x.text()
		d.write(p, squeezed(formula), false)
		return err
	}
	return d.transparent(x, start, content)
}

// address adds where the text since before leads.
func (p *docxParagraph) address(before int, address string) {
	text := strings.TrimSpace(p.text.String()[before:])
	if text != "" && len(address) <= 500 && !strings.Contains(address, text) {
		writeAddress(&p.text, address)
	}
}

// run reads a run, or what has the same content.
func (d *docxReader) run(x *xmlReader, p *docxParagraph) error {
	hidden, typewriter := false, false
	return x.children(func(start xml.StartElement) error {
		if start.Name.Local == "rPr" {
			var own runProperties
			err := x.decode(&own)
			style := d.style(string(own.Style))
			hidden = bool(own.Vanish || own.WebHidden)
			typewriter = own.isTypewriter() || style.code || style.Run.isTypewriter()
			return err
		}
		if hidden {
			return x.skip()
		}
		return d.runContent(x, start, p, typewriter)
	})
}

// runContent adds one thing in a run.
func (d *docxReader) runContent(x *xmlReader, start xml.StartElement, p *docxParagraph, typewriter bool) error {
	plain := ""
	switch start.Name.Local {
	case "t":
		text, err := x.text()
		d.write(p, text, typewriter)
		return err
	case "tab", "ptab":
		plain = "\t"
	case "br", "cr":
		plain = "\n"
	case "noBreakHyphen":
		plain = "-"
	case "footnoteReference":
		plain = d.note(p, "footnote"+attribute(start, "id"))
	case "endnoteReference":
		plain = d.note(p, "endnote"+attribute(start, "id"))
	case "fldChar":
		d.field(attribute(start, "fldCharType"), p)
	case "instrText":
		text, err := x.text()
		if n := len(d.fields); n > 0 && len(d.fields[n-1].instruction) < 4096 {
			d.fields[n-1].instruction += text
		}
		return err
	case "drawing", "pict", "object":
		return d.drawing(x, p)
	case "AlternateContent":
		return choice(x, func(x *xmlReader) error {
			return x.children(func(child xml.StartElement) error { return d.runContent(x, child, p, typewriter) })
		})
	case "ruby":
		return x.children(func(child xml.StartElement) error {
			if child.Name.Local != "rubyBase" {
				return x.skip()
			}
			return x.children(func(base xml.StartElement) error { return d.inline(x, base, p) })
		})
	}
	d.write(p, plain, typewriter)
	return x.skip()
}

// write adds text, unless it is a field's instruction or a silent result.
func (d *docxReader) write(p *docxParagraph, text string, typewriter bool) {
	for i := range d.fields {
		if !d.fields[i].inResult || d.fields[i].silent {
			return
		}
	}
	p.text.WriteString(text)
	if length := len(strings.TrimSpace(text)); typewriter {
		p.typed += length
	} else {
		p.set += length
	}
}

// maxFields is how many fields may stand in each other.
const maxFields = 50

// field follows the three marks of a field.
func (d *docxReader) field(mark string, p *docxParagraph) {
	last := len(d.fields) - 1
	switch {
	case mark == "begin" && last < maxFields:
		d.fields = append(d.fields, docxField{})
	case last < 0:
	case mark == "separate":
		field := &d.fields[last]
		field.inResult = true
		name, _, _ := strings.Cut(strings.TrimSpace(field.instruction), " ")
		field.silent = strings.EqualFold(name, "TOC") || strings.EqualFold(name, "TOF")
	case mark == "end":
		instruction := d.fields[last].instruction
		d.fields = d.fields[:last]
		if address := hyperlinkOf(instruction); address != "" {
			d.write(p, " ("+address+")", false)
		}
	}
}

// hyperlinkOf is the address of a HYPERLINK field.
func hyperlinkOf(instruction string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(instruction), "HYPERLINK")
	if !ok {
		return ""
	}
	parts := strings.SplitN(rest, `"`, 3)
	if len(parts) < 3 || strings.Contains(parts[0], `\`) || !strings.HasPrefix(parts[1], "http") || len(parts[1]) > 500 {
		return "" // a place in the document
	}
	return parts[1]
}

// note numbers a reference and keeps the note for the end of the block.
func (d *docxReader) note(p *docxParagraph, id string) string {
	text, ok := d.notes[id]
	if !ok {
		return ""
	}
	delete(d.notes, id) // a note is shown once
	d.noted++
	mark := fmt.Sprintf("[%d]", d.noted)
	p.notes = append(p.notes, mark+" "+text)
	return mark
}

// drawing takes the text boxes and the alternative text out of a picture or shape.
func (d *docxReader) drawing(x *xmlReader, p *docxParagraph) error {
	content := func(x *xmlReader) error { return d.drawing(x, p) }
	return x.children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "txbxContent":
			box, err := d.flow(x, new(cellProperties))
			if box != "" {
				p.boxes = append(p.boxes, box)
			}
			return err
		case "docPr":
			if alt := squeezed(attribute(start, "descr")); alt != "" {
				d.write(p, " "+alt+" ", false)
			}
			return x.skip()
		case "AlternateContent":
			return choice(x, content)
		}
		return content(x)
	})
}
