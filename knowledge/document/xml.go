package document

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	utf "golang.org/x/text/encoding/unicode"
)

const (
	// maxElementDepth is how deep elements may stand in each other; Word's nested tables take
	// about six levels each.
	maxElementDepth = 512
	// maxElements of a part; a thousand pages from Word have about two million.
	maxElements = 10_000_000
	// maxDecodedTokens of what is kept in memory as it is in the file: the styles of a document, the
	// chapters of a book. They take up to 200 bytes each.
	maxDecodedTokens = 1_500_000
	// maxTokenBytes is the longest tag with its attributes, or run of text.
	maxTokenBytes = 1 << 20
)

// xmlReader reads the XML of a package part: declared entities are not known, so none expand; a
// document type is refused, where it is not a mere name; depth and the size of tags are bounded.
type xmlReader struct {
	decoder *xml.Decoder
	source  *tokenSource
	// start is the one that was given last.
	start xml.StartElement
	depth int
	count int
}

// withPart opens a part and gives fn its reader inside of the root element.
func withPart(a *archive, name string, fn func(x *xmlReader) error) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	x := newXMLReader(r)
	if err := x.root(); err != nil {
		return err
	}
	if err := fn(x); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // the checksum comes last
		return partFault(err)
	}
	return nil
}

// decodePart reads a part into a struct, as xml.Unmarshal does.
func decodePart(a *archive, name string, into any) error {
	return withPart(a, name, func(x *xmlReader) error { return x.decode(into) })
}

// newXMLReader reads UTF-8, UTF-16 with its mark, or what the declaration names.
func newXMLReader(r io.Reader) *xmlReader {
	buffered := bufio.NewReaderSize(r, 64<<10)
	wide := false
	if head, _ := buffered.Peek(2); bytes.Equal(head, []byte{0xFF, 0xFE}) || bytes.Equal(head, []byte{0xFE, 0xFF}) {
		buffered = bufio.NewReaderSize(utf.UTF16(utf.LittleEndian, utf.UseBOM).NewDecoder().Reader(buffered), 64<<10)
		wide = true
	}
	source := &tokenSource{r: buffered}
	decoder := xml.NewDecoder(source)
	decoder.CharsetReader = func(name string, input io.Reader) (io.Reader, error) {
		if wide {
			return input, nil
		}
		found := encodingNamed(name)
		if found == nil {
			return nil, fmt.Errorf("unknown encoding %q", name)
		}
		return found.NewDecoder().Reader(input), nil
	}
	return &xmlReader{decoder: decoder, source: source}
}

// next gives the next start, end or text; io.EOF after the last.
// Errors: *Error Corrupt, TooComplex, TooLarge.
func (x *xmlReader) next() (xml.Token, error) {
	for {
		x.source.taken = 0
		token, err := x.decoder.Token()
		if err != nil {
			return nil, xmlFault(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if x.depth++; x.depth > maxElementDepth {
				return nil, &Error{Kind: TooComplex, Message: fmt.Sprintf("The document nests more than %d elements.", maxElementDepth)}
			}
			if x.count++; x.count > maxElements {
				return nil, &Error{Kind: TooComplex, Message: fmt.Sprintf("The document holds more than %d elements.", maxElements)}
			}
			x.start = t
			return t, nil
		case xml.EndElement:
			x.depth--
			return t, nil
		case xml.CharData:
			return t, nil
		case xml.Directive:
			if bytes.ContainsAny(t, "[<") {
				return nil, errCorrupt(nil, "The document declares a document type, which its format forbids.")
			}
		}
	}
}

// skip reads to the end of the element whose start was just given.
func (x *xmlReader) skip() error {
	for depth := 1; depth > 0; {
		token, err := x.next()
		if err != nil {
			return unexpectedEnd(err)
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}

// children calls fn with each child of the element whose start was just given; fn reads it to
// its end.
func (x *xmlReader) children(fn func(start xml.StartElement) error) error {
	for {
		token, err := x.next()
		if err != nil {
			return unexpectedEnd(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := fn(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// text is all the text within the element whose start was just given.
func (x *xmlReader) text() (string, error) {
	var s strings.Builder
	for depth := 1; depth > 0; {
		token, err := x.next()
		if err != nil {
			return "", unexpectedEnd(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			s.Write(t)
		}
	}
	return s.String(), nil
}

// root reads up to the start of the first element. Errors: *Error Corrupt when there is none.
func (x *xmlReader) root() error {
	for {
		token, err := x.next()
		if err != nil {
			return unexpectedEnd(err)
		}
		if _, ok := token.(xml.StartElement); ok {
			return nil
		}
	}
}

// decode reads the element whose start was just given into a struct, as xml.Unmarshal does.
func (x *xmlReader) decode(into any) error {
	return xml.NewTokenDecoder(&elementTokens{reader: x}).Decode(into)
}

// elementTokens are the tokens of the element whose start was just given, which is the first.
type elementTokens struct {
	reader *xmlReader
	given  int
}

// Token implements xml.TokenReader.
func (e *elementTokens) Token() (xml.Token, error) {
	switch e.given++; {
	case e.given == 1:
		return e.reader.start, nil
	case e.given > maxDecodedTokens:
		return nil, &Error{Kind: TooComplex, Message: "The document holds a part with too many elements."}
	}
	token, err := e.reader.next()
	return token, unexpectedEnd(err)
}

func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return errCorrupt(io.ErrUnexpectedEOF, "The document is damaged: a part of it ends too early.")
	}
	return err
}

// xmlFault tells the document's own faults from the parser's.
func xmlFault(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*xml.SyntaxError](err); ok {
		return errCorrupt(err, "The document is damaged: a part of it is not well-formed.")
	}
	return partFault(err)
}

// attribute is the value of an attribute by its local name, or empty.
func attribute(start xml.StartElement, name string) string {
	for _, a := range start.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// tokenSource stops a token that grows too long while it is read.
type tokenSource struct {
	r     *bufio.Reader
	taken int
}

// ReadByte is what encoding/xml reads by.
func (s *tokenSource) ReadByte() (byte, error) {
	if s.taken++; s.taken > maxTokenBytes {
		return 0, &Error{Kind: TooComplex, Message: fmt.Sprintf("The document holds a tag or text of more than %d bytes.", maxTokenBytes)}
	}
	return s.r.ReadByte()
}

// Read is for the decoders of other encodings.
func (s *tokenSource) Read(p []byte) (int, error) {
	n, err := s.r.Read(p[:min(len(p), 4096)])
	if s.taken += n; s.taken > maxTokenBytes+4096 {
		return n, &Error{Kind: TooComplex, Message: fmt.Sprintf("The document holds a tag or text of more than %d bytes.", maxTokenBytes)}
	}
	return n, err
}
