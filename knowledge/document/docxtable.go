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
				var properties struct {
					Look tableLook `xml:"tblLook"`
				}
				err := x.decode(&properties)
				t.headed = properties.Look.marksFirstRow()
				return err
			case "tr":
				return d.row(x, t)
			}
			return d.transparent(x, start, content)
		})
	}
	return t, content(x)
}

// tableLook says which parts of a table look different. Older files have bits.
type tableLook struct {
	FirstRow string `xml:"firstRow,attr"`
	Bits     string `xml:"val,attr"`
}

func (l tableLook) marksFirstRow() bool {
	if l.FirstRow != "" {
		return l.FirstRow == "1" || l.FirstRow == "true" || l.FirstRow == "on"
	}
	bits, err := strconv.ParseUint(l.Bits, 16, 32)
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
				var properties struct {
					Header  docxSwitch `xml:"tblHeader"`
					Deleted *struct{}  `xml:"del"`
					Before  docxValue  `xml:"gridBefore"`
				}
				err := x.decode(&properties)
				r.header, r.deleted = bool(properties.Header), properties.Deleted != nil
				if before := properties.Before; before != "" && before != "0" {
					n := min(number(string(before)), maxTableColumns)
					r.cells = append(r.cells, cell{columns: n})
					r.column += n
				}
				return err
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

// cellProperties are those of a tcPr that matter.
type cellProperties struct {
	Span docxValue `xml:"gridSpan"`
	// Merge is nil for a cell that is not merged with those above or below it.
	Merge *docxValue `xml:"vMerge"`
}

// cell reads a cell; one that continues the cell above says what that says.
func (d *docxReader) cell(x *xmlReader, t *docxTable, r *docxRow) error {
	var properties cellProperties
	text, err := d.flow(x, &properties)
	if err != nil {
		return err
	}
	one := cell{text: text, columns: min(number(string(properties.Span)), maxTableColumns), rows: 1}
	switch merge := properties.Merge; {
	case merge != nil && *merge != "restart" && text == "":
		if above := t.above[r.column]; t.grid.repeated+len(above) <= maxRepeatedBytes {
			t.grid.repeated += len(above)
			one.text = above
		}
	case merge != nil:
		t.above[r.column] = shortened(text, maxPathChars)
	}
	r.column += one.columns
	if len(r.cells) < maxTableColumns {
		r.cells = append(r.cells, one)
	}
	return nil
}
