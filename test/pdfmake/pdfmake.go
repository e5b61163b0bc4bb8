package pdfmake

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image/color"
	"image/jpeg"
	"strings"
)

// Font is one of the fonts that every reader has.
type Font string

// The fonts.
const (
	Regular Font = "F1"
	Bold    Font = "F2"
	Mono    Font = "F3"
)

// A4 in points.
const (
	A4Width  = 595.0
	A4Height = 842.0
)

// File is a PDF being made.
type File struct {
	pages []*Page
	// Plain leaves the content uncompressed.
	Plain bool
	// Title is the document's, in its information.
	Title string
}

// New is a file without pages.
func New() *File { return &File{} }

// Page is one page; places are in points from its upper left corner.
type Page struct {
	width, height float64
	content       bytes.Buffer
	images        []picture
	// nested is how many forms the page has, each drawing the next nestedTimes.
	nested, nestedTimes int
	missing             bool
}

// picture is one in the resources of a page.
type picture struct {
	width, height int
	data          []byte
	filter        string
	colours       string
}

// Page adds an A4 page.
func (f *File) Page() *Page { return f.Sized(A4Width, A4Height) }

// Sized adds a page.
func (f *File) Sized(width, height float64) *Page {
	page := &Page{width: width, height: height}
	f.pages = append(f.pages, page)
	return page
}

// Text puts a line whose base is y points below the upper edge.
func (p *Page) Text(font Font, size, x, y float64, line string) *Page {
	fmt.Fprintf(&p.content, "BT /%s %g Tf %.2f %.2f Td %s Tj ET\n", font, size, x, p.height-y, literal(line))
	return p
}

// Raw adds operators as they are.
func (p *Page) Raw(operators string) *Page {
	p.content.WriteString(operators)
	return p
}

// Line draws a thin line.
func (p *Page) Line(x1, y1, x2, y2 float64) *Page {
	fmt.Fprintf(&p.content, "0.5 w %.2f %.2f m %.2f %.2f l S\n", x1, p.height-y1, x2, p.height-y2)
	return p
}

// Nested makes the page draw a form, which draws another so many times, and so on: a small file
// that takes times to the power of levels to draw.
func (p *Page) Nested(levels, times int) *Page {
	p.nested, p.nestedTimes = levels, times
	return p.Raw("/N Do\n")
}

// Missing leaves the page out of the file, which still counts it.
func (p *Page) Missing() *Page {
	p.missing = true
	return p
}

// JPEG fills the page with a JPEG.
func (p *Page) JPEG(data []byte) *Page {
	config, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		panic(err) // a test made it
	}
	colours := "DeviceRGB"
	if config.ColorModel == color.GrayModel {
		colours = "DeviceGray"
	}
	return p.picture(picture{width: config.Width, height: config.Height, data: data, filter: "DCTDecode", colours: colours})
}

// Grey fills the page with a picture of a byte a pixel.
func (p *Page) Grey(pixels []byte, width, height int) *Page {
	return p.picture(picture{width: width, height: height, data: deflate(pixels), filter: "FlateDecode", colours: "DeviceGray"})
}

func (p *Page) picture(image picture) *Page {
	p.images = append(p.images, image)
	fmt.Fprintf(&p.content, "q %g 0 0 %g 0 0 cm /I%d Do Q\n", p.width, p.height, len(p.images)-1)
	return p
}

// Bytes is the file.
func (f *File) Bytes() []byte {
	w := writer{}
	w.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	const catalog, tree, fonts, info = 1, 2, 3, 4
	next := 5
	var kids []string
	w.object(catalog, fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", tree))
	var described strings.Builder
	for _, font := range []struct {
		name Font
		base string
	}{{Regular, "Helvetica"}, {Bold, "Helvetica-Bold"}, {Mono, "Courier"}} {
		fmt.Fprintf(&described, "/%s << /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >> ", font.name, font.base)
	}
	w.object(fonts, "<< "+described.String()+">>")
	w.object(info, "<< /Title "+literal(f.Title)+" >>")
	for _, page := range f.pages {
		number, content := next, next+1
		next += 2
		kids = append(kids, fmt.Sprintf("%d 0 R", number))
		var images strings.Builder
		for i, image := range page.images {
			fmt.Fprintf(&images, "/I%d %d 0 R ", i, next)
			w.stream(next, fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /%s /BitsPerComponent 8 /Filter /%s",
				image.width, image.height, image.colours, image.filter), image.data)
			next++
		}
		for level := range page.nested {
			if level == 0 {
				fmt.Fprintf(&images, "/N %d 0 R ", next)
			}
			inner, draw := "", "(x) Tj"
			if level+1 < page.nested {
				inner, draw = fmt.Sprintf("/N %d 0 R", next+1), strings.Repeat("/N Do\n", page.nestedTimes)
			}
			w.stream(next, fmt.Sprintf("/Type /XObject /Subtype /Form /BBox [0 0 %g %g] /Resources << /XObject << %s >> >>",
				page.width, page.height, inner), []byte(draw))
			next++
		}
		if page.missing {
			w.object(number, "null")
			w.object(content, "null")
			continue
		}
		w.object(number, fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %g %g] /Contents %d 0 R /Resources << /Font "+
			"%d 0 R /XObject << %s>> >> >>",
			tree, page.width, page.height, content, fonts, images.String()))
		if f.Plain {
			w.stream(content, "", page.content.Bytes())
		} else {
			w.stream(content, "/Filter /FlateDecode", deflate(page.content.Bytes()))
		}
	}
	w.object(tree, fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(kids), strings.Join(kids, " ")))
	return w.end(catalog, info)
}

// writer keeps the places of objects.
type writer struct {
	bytes.Buffer
	places map[int]int
}

func (w *writer) object(number int, body string) {
	if w.places == nil {
		w.places = map[int]int{}
	}
	w.places[number] = w.Len()
	fmt.Fprintf(w, "%d 0 obj\n%s\nendobj\n", number, body)
}

func (w *writer) stream(number int, entries string, data []byte) {
	w.object(number, fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(data), data))
}

// end writes the table of places.
func (w *writer) end(catalog, info int) []byte {
	at := w.Len()
	fmt.Fprintf(w, "xref\n0 %d\n0000000000 65535 f \n", len(w.places)+1)
	for number := 1; number <= len(w.places); number++ {
		fmt.Fprintf(w, "%010d 00000 n \n", w.places[number])
	}
	fmt.Fprintf(w, "trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(w.places)+1, catalog, info, at)
	return w.Bytes()
}

func deflate(data []byte) []byte {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write(data) // memory
	_ = w.Close()
	return packed.Bytes()
}

// literal writes a string in the encoding that the fonts declare, which has the characters of
// Latin-1 and a few more.
func literal(s string) string {
	more := map[rune]int{'€': 0x80, '“': 0x93, '”': 0x94, '‘': 0x91, '’': 0x92, '–': 0x96, '—': 0x97, '•': 0x95, '…': 0x85}
	var out strings.Builder
	out.WriteByte('(')
	for _, r := range s {
		code, ok := more[r]
		switch {
		case ok:
			fmt.Fprintf(&out, "\\%03o", code)
		case r == '(' || r == ')' || r == '\\':
			fmt.Fprintf(&out, "\\%c", r)
		case r < 0x20 || r > 0xff:
			out.WriteByte('?')
		case r > 0x7e:
			fmt.Fprintf(&out, "\\%03o", r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte(')')
	return out.String()
}
