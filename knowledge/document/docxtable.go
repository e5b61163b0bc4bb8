package document

import (
	"encoding/xml"
	"strconv"
)

// docxTable is a table being read.
type docxTable struct {
	grid grid
	// above is the text of the cell that each column's merged cells continue.
	above map[int]string
	// boxes are the cells of a table of one column, which is a frame around text.
	boxes []string
	wide  bool
	// headed says that the table's look marks the first row.
	headed bool
	rows   int
}

// docxRow is a row being read.
type docxRow struct {
	cells           []cell
	column          int
	header, deleted bool
}

// table adds a table: a line a row, or the text of a frame.
func (d *docxReader) table(x *xmlReader) error {
	t, err := d.readTable(x)
	if err != nil {
		return err
	}
	if t.wide {
		d.b.add(Table, t.grid.String())
		return nil
	}
	for _, box := range t.boxes {
		d.b.add(Paragraph, box)
	}
	return nil
}

// readTable reads the rows of the table whose start was just given.
func (d *docxReader) readTable(x *xmlReader) (*docxTable, error) {
	t := &docxTable{above: make(map[int]string)}
	var content func(x *xmlReader) error
	content = func(x *xmlReader) error {
		return x.children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "tblPr":
				return x.children(func(child xml.StartElement) error {
					if child.Name.Local == "tblLook" {
						t.headed = looksHeaded(child)
					}
					return x.skip()
				})
			case "tr":
				return d.row(x, t)
			}
			return d.transparent(x, start, content)
		})
	}
	return t, content(x)
}

// looksHeaded reads tblLook's first row, which older files have as a bit.
func looksHeaded(look xml.StartElement) bool {
	if first := attribute(look, "firstRow"); first != "" {
		return first == "1" || first == "true" || first == "on"
	}
	bits, err := strconv.ParseUint(attribute(look, "val"), 16, 32)
	return err == nil && bits&0x20 != 0
}

// row reads a row; one that is tracked as deleted is left out.
func (d *docxReader) row(x *xmlReader, t *docxTable) error {
	var r docxRow
	var content func(x *xmlReader) error
	content = func(x *xmlReader) error {
		return x.children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "trPr":
				return x.children(func(child xml.StartElement) error {
					switch child.Name.Local {
					case "tblHeader":
						r.header = isOn(child)
					case "del":
						r.deleted = true
					case "gridBefore":
						if n := min(number(attribute(child, "val")), maxTableColumns); attribute(child, "val") != "0" {
							r.cells = append(r.cells, cell{columns: n})
							r.column += n
						}
					}
					return x.skip()
				})
			case "tc":
				return d.cell(x, t, &r)
			}
			return d.transparent(x, start, content)
		})
	}
	if err := content(x); err != nil || r.deleted {
		return err
	}
	t.grid.row(r.cells, r.header || t.rows == 0 && t.headed)
	t.rows++
	if len(r.cells) == 1 && !t.wide {
		t.boxes = append(t.boxes, r.cells[0].text)
	}
	t.wide = t.wide || len(r.cells) > 1
	return nil
}

// cell reads a cell; one that continues the cell above says what that says.
func (d *docxReader) cell(x *xmlReader, t *docxTable, r *docxRow) error {
	one := cell{columns: 1, rows: 1}
	merge, merged := "", false
	text, err := d.flowAfter(x, "tcPr", func(x *xmlReader) error {
		return x.children(func(child xml.StartElement) error {
			switch child.Name.Local {
			case "gridSpan":
				one.columns = min(number(attribute(child, "val")), maxTableColumns)
			case "vMerge":
				merge, merged = attribute(child, "val"), true
			}
			return x.skip()
		})
	})
	if err != nil {
		return err
	}
	one.text = text
	switch {
	case merged && merge != "restart" && text == "":
		if above := t.above[r.column]; t.grid.repeated+len(above) <= maxRepeatedBytes {
			t.grid.repeated += len(above)
			one.text = above
		}
	case merged:
		t.above[r.column] = shortened(text, maxPathChars)
	}
	r.column += one.columns
	if len(r.cells) < maxTableColumns {
		r.cells = append(r.cells, one)
	}
	return nil
}
