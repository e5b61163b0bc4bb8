package document

import (
	"cmp"
	"encoding/xml"
	"strings"
)

// body adds the blocks within the element whose start was just given.
func (d *docxReader) body(x *xmlReader) error {
	return x.children(func(start xml.StartElement) error {
		if d.b.full {
			_, err := d.b.finish()
			return err
		}
		switch start.Name.Local {
		case "p":
			p, err := d.readParagraph(x)
			if err != nil {
				return err
			}
			d.paragraph(p)
			return nil
		case "tbl":
			d.flush()
			if err := d.table(x); err != nil {
				return err
			}
			d.notesHere()
			return nil
		}
		return d.transparent(x, start, d.body)
	})
}

// transparent reads the elements that only wrap content; others are skipped.
func (d *docxReader) transparent(x *xmlReader, start xml.StartElement, content func(x *xmlReader) error) error {
	switch start.Name.Local {
	case "ins", "moveTo", "customXml", "smartTag", "fldSimple", "dir", "bdo":
		return content(x)
	case "sdt":
		return x.children(func(child xml.StartElement) error {
			if child.Name.Local == "sdtContent" {
				return content(x)
			}
			return x.skip()
		})
	case "AlternateContent":
		return choice(x, content)
	}
	return x.skip()
}

// choice reads the first of the alternatives, which say the same twice.
func choice(x *xmlReader, content func(x *xmlReader) error) error {
	taken := false
	return x.children(func(child xml.StartElement) error {
		if taken || child.Name.Local != "Choice" && child.Name.Local != "Fallback" {
			return x.skip()
		}
		taken = true
		return content(x)
	})
}

// paragraph adds a paragraph as what its style, outline level and numbering make it.
func (d *docxReader) paragraph(p docxParagraph) {
	style := d.style(string(p.Style))
	if style.contents {
		return
	}
	text := withoutSoftHyphens(d.carried + p.text.String())
	d.carried = ""
	if p.Deleted != nil || p.Moved != nil {
		d.carried = text
		return
	}
	level := cmp.Or(p.Outline, style.Paragraph.Outline)
	mark, indent, listed := d.mark(p.paragraphProperties, style)
	blank := strings.TrimFunc(text, IsSpace) == ""
	switch {
	case strings.EqualFold(string(style.Name), "title") && !blank:
		d.flush()
		d.b.heading(0, text)
	case level > 0 && level <= bodyOutline && !blank:
		d.fields = nil // no field goes on over a heading
		d.flush()
		if mark == "-" {
			mark = ""
		}
		d.b.heading(int(level), mark+" "+text)
	case style.code || style.Run.isTypewriter() || p.allTypewriter():
		d.collect(Code, text)
	case listed && !blank:
		d.collect(List, strings.Repeat("  ", indent)+strings.TrimLeft(mark+" ", " ")+strings.TrimFunc(text, IsSpace))
	case !blank:
		d.flush()
		d.b.add(Paragraph, text)
	}
	for _, box := range p.boxes {
		d.flush()
		d.b.add(Paragraph, box)
	}
	d.pending = append(d.pending, p.notes...)
	if d.lines.Len() == 0 {
		d.notesHere()
	}
}

// mark counts a paragraph that is in a list, itself or by its style.
func (d *docxReader) mark(p paragraphProperties, style docxStyle) (mark string, indent int, listed bool) {
	return d.numbers.mark(cmp.Or(p.Number, style.Paragraph.Number), cmp.Or(p.Level, style.Paragraph.Level))
}

// collect adds a line to the list or code in work; a blank one only within code.
func (d *docxReader) collect(kind BlockKind, line string) {
	if kind != d.kind || d.lines.Len() > flushBytes {
		d.flush()
	}
	d.kind = kind
	if d.lines.Len() > 0 {
		d.lines.WriteByte('\n')
	}
	d.lines.WriteString(line)
}

// flush ends the list or code in work.
func (d *docxReader) flush() {
	text := d.lines.String()
	d.lines.Reset()
	d.b.add(d.kind, text)
	d.notesHere()
}

// notesHere adds the notes that the text before refers to.
func (d *docxReader) notesHere() {
	for _, note := range d.pending {
		d.b.add(Paragraph, note)
	}
	d.pending = nil
}

// flow is the text of a cell, a note or a text box: a line a paragraph. The properties of a cell
// are read into cell.
func (d *docxReader) flow(x *xmlReader, cell *cellProperties) (string, error) {
	var s strings.Builder
	var content func(x *xmlReader) error
	content = func(x *xmlReader) error {
		return x.children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "tcPr":
				return x.decode(cell)
			case "p":
				p, err := d.readParagraph(x)
				if err != nil {
					return err
				}
				d.pending = append(d.pending, p.notes...)
				mark, _, _ := d.mark(p.paragraphProperties, d.style(string(p.Style)))
				text := strings.TrimFunc(p.text.String(), IsSpace)
				if text != "" {
					writeLine(&s, withoutSoftHyphens(strings.TrimLeft(mark+" ", " ")+text))
				}
				for _, box := range p.boxes {
					writeLine(&s, box)
				}
				return nil
			case "tbl":
				t, err := d.readTable(x)
				writeLine(&s, strings.ReplaceAll(t.grid.String(), "\n", "; "))
				return err
			}
			return d.transparent(x, start, content)
		})
	}
	err := content(x)
	return s.String(), err
}
