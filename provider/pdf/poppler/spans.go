package poppler

import (
	"bytes"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	// maxLineBytes is the longest line of pdftohtml's output that is kept; one holds a line of a page.
	maxLineBytes = 256 << 10
	// maxSpans of a page: a page of a newspaper has some thousands, a table on one long page more.
	maxSpans = 100_000
	// maxFonts of a file are remembered.
	maxFonts = 50_000
	// pixelsPerPoint is the scale that pdftohtml gives places in unless told otherwise.
	pixelsPerPoint = 1.5
	// minWidth in points is never rounded to 0.
	minWidth = 1.0
	// softHyphen ends a line within a word.
	softHyphen = "\u00AD"
)

// span is a piece of a line in one font. Places are in points from the upper left corner.
type span struct {
	left, top, right, bottom float64
	size                     float64
	weight
	// led and spaced say that a space stands before or after it.
	led, spaced bool
	text        string
}

// weight says which letters of a text are bold.
type weight struct{ most, all, first, last bool }

func (s span) height() float64 { return s.bottom - s.top }

// sheet is a page as it comes from pdftohtml.
type sheet struct {
	number        int
	width, height float64
	spans         []span
	// turned are pieces that do not run from left to right. Their right and bottom edges say nothing,
	// but that one left of the left edge is of a line that is upside down.
	turned []span
	// overfull pages have more than maxSpans.
	overfull bool
}

// sheets reads the output of pdftohtml -xml as it comes, and gives each page that is whole. What
// it cannot make sense of it leaves out: a document may have put it there.
type sheets struct {
	// each is called with pages whose numbers rise, none under first or over last.
	each        func(sheet) error
	first, last int

	rest    []byte
	tooLong bool
	inPage  bool
	page    sheet
	sizes   map[string]float64
	// tag is read over and over.
	tag attributes
	// text is a line of a page that has line breaks in it.
	text []byte
}

// Write implements io.Writer. Its error is each's.
func (s *sheets) Write(p []byte) (int, error) {
	for at := 0; at < len(p); {
		end := bytes.IndexByte(p[at:], '\n')
		if end < 0 {
			if s.tooLong = s.tooLong || len(s.rest)+len(p)-at > maxLineBytes; !s.tooLong {
				s.rest = append(s.rest, p[at:]...)
			}
			break
		}
		line := p[at : at+end]
		at += end + 1
		if len(s.rest) > 0 || s.tooLong {
			line = append(s.rest, line...)
		}
		if !s.tooLong && len(line) <= maxLineBytes {
			if err := s.line(line); err != nil {
				return 0, err
			}
		}
		s.rest, s.tooLong = s.rest[:0], false
	}
	return len(p), nil
}

// line takes one line of the output.
func (s *sheets) line(line []byte) error {
	if len(s.text) > 0 {
		line = append(append(s.text, ' '), line...)
		s.text = nil
	}
	switch {
	case bytes.HasPrefix(line, []byte("<text ")):
		if !bytes.HasSuffix(line, []byte("</text>")) && len(line) < maxLineBytes {
			s.text = bytes.Clone(line)
			return nil
		}
		s.span(line)
	case bytes.HasPrefix(bytes.TrimLeft(line, "\t"), []byte("<fontspec ")):
		s.tag.read(line)
		size, err := strconv.ParseFloat(string(s.tag.value("size")), 64)
		if s.sizes == nil {
			s.sizes = map[string]float64{}
		}
		if err == nil && len(s.sizes) < maxFonts {
			s.sizes[string(s.tag.value("id"))] = size / pixelsPerPoint
		}
	case bytes.HasPrefix(line, []byte("</page>")):
		if s.inPage {
			s.inPage = false
			return s.each(s.page)
		}
	default:
		// Notes of the program may stand before it on its line.
		if i := bytes.Index(line, []byte(`<page number="`)); i >= 0 {
			s.begin(line[i:])
		}
	}
	return nil
}

// begin opens a page.
func (s *sheets) begin(line []byte) {
	s.tag.read(line)
	number, err := strconv.Atoi(string(s.tag.value("number")))
	if err != nil || number < s.first || number > s.last || number <= s.page.number {
		return
	}
	s.page = sheet{number: number, width: points(s.tag.value("width")), height: points(s.tag.value("height"))}
	s.inPage = true
}

// span adds a piece of text to the open page.
func (s *sheets) span(line []byte) {
	if s.page.overfull = s.page.overfull || len(s.page.spans)+len(s.page.turned) >= maxSpans; s.page.overfull || !s.inPage {
		return
	}
	end := bytes.IndexByte(line, '>')
	if end < 0 {
		return
	}
	text, weight := plain(string(bytes.TrimSuffix(line[end+1:], []byte("</text>"))))
	trimmed := strings.TrimFunc(text, isBlank)
	if trimmed == "" {
		return
	}
	if strings.HasPrefix(text[strings.Index(text, trimmed)+len(trimmed):], softHyphen) {
		trimmed += softHyphen // the word goes on in the next line
	}
	s.tag.read(line[:end+1])
	one := span{
		left: points(s.tag.value("left")), top: points(s.tag.value("top")),
		size: s.sizes[string(s.tag.value("font"))], weight: weight, text: inReadingOrder(trimmed),
		led: !strings.HasPrefix(text, trimmed),
	}
	width, height := points(s.tag.value("width")), points(s.tag.value("height"))
	one.right, one.bottom = one.left+width, one.top+height
	if width <= 0 && one.size*emsOf(one.text) >= minWidth || height <= 0 {
		// Text that does not run from left to right is given without its extent.
		one.spaced = !strings.HasSuffix(text, trimmed)
		s.page.turned = append(s.page.turned, one)
		return
	}
	if after := len(text) - len(strings.TrimRightFunc(text, isBlank)); after > 0 {
		// A space is about half as wide as a letter.
		one.spaced = true
		one.right -= width * float64(after) / float64(after+2*(len(text)-after))
	}
	s.page.spans = append(s.page.spans, cellsOf(one)...)
}

func points(pixels []byte) float64 {
	value, err := strconv.ParseFloat(string(pixels), 64)
	if err != nil || value != value || value > 1e6 || value < -1e6 {
		return 0
	}
	return value / pixelsPerPoint
}

// attributes are the name="value" pairs of a tag. They are parts of it, and the last of a name
// counts.
type attributes []struct{ name, value []byte }

// maxAttributes of a tag are kept; the program writes eight at most.
const maxAttributes = 32

// read takes the pairs up to the end of a tag.
func (a *attributes) read(tag []byte) {
	*a = (*a)[:0]
	for len(*a) < maxAttributes {
		name, rest, ok := bytes.Cut(tag, []byte(`="`))
		if !ok {
			return
		}
		value, after, ok := bytes.Cut(rest, []byte(`"`))
		if !ok {
			return
		}
		*a = append(*a, struct{ name, value []byte }{name[bytes.LastIndexAny(name, " \t<>")+1:], value})
		if len(after) > 0 && after[0] == '>' {
			return
		}
		tag = after
	}
}

// value is that of a name; nil: there is none.
func (a attributes) value(name string) []byte {
	for _, one := range slices.Backward(a) {
		if string(one.name) == name {
			return one.value
		}
	}
	return nil
}

// plain takes the tags out of a text, and says what of it is bold.
func plain(marked string) (text string, bold weight) {
	if !strings.ContainsAny(marked, "<&") {
		return marked, weight{}
	}
	var out strings.Builder
	boldBytes, inkBytes, depth := 0, 0, 0
	for marked != "" {
		start := strings.IndexByte(marked, '<')
		if start < 0 {
			start = len(marked)
		}
		out.WriteString(marked[:start])
		if ink := len(strings.TrimFunc(marked[:start], isBlank)); ink > 0 {
			bold.last = depth > 0
			bold.first = bold.first || inkBytes == 0 && bold.last
			if inkBytes += ink; bold.last {
				boldBytes += ink
			}
		}
		if marked = marked[start:]; marked == "" {
			break
		}
		end := strings.IndexByte(marked, '>')
		if end < 0 {
			break
		}
		switch marked[:end+1] {
		case "<b>":
			depth++
		case "</b>":
			depth--
		}
		marked = marked[end+1:]
	}
	bold.most, bold.all = 2*boldBytes > inkBytes, boldBytes > 0 && boldBytes == inkBytes
	return html.UnescapeString(out.String()), bold
}

// isBlank is what leaves no ink.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u200B' || r == '\uFEFF' || r == '\u00AD'
}
