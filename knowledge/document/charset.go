package document

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	utf "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

const (
	// detectBytes is how much of a text its encoding is guessed from.
	detectBytes = 64 << 10
	// minConfidence is out of 100; below it the guess is not better than windows-1252.
	minConfidence = 10
	// maxWrongPart is how many of a thousand characters may not decode, in a guess or a
	// declaration.
	maxWrongPart = 50
	// minZeroPart is how rare the characters below 256 may be in UTF-16 without a mark: Chinese
	// has a line end or a digit in each hundred characters.
	minZeroPart = 100
)

// newlines are the line ends other than \n.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n", "\v", "\n", "\u2028", "\n", "\u2029", "\n\n", "\u0085", "\n")

// decodeText gives clean UTF-8 with \n line ends. A byte order mark decides the encoding, then
// whether the bytes are UTF-8 or show the pattern of UTF-16 or UTF-32, then the declared
// charset, then a guess from the statistics of the bytes; what is left is windows-1252.
// Errors: *Error Binary for bytes that are no text.
func decodeText(data []byte, charset string) (string, error) {
	decoder := decoderOf(data, charset)
	if decoder == nil && bytes.IndexByte(data, 0) >= 0 {
		return "", errBinary()
	}
	text := string(data)
	if decoder != nil {
		decoded, err := decoder.NewDecoder().Bytes(data)
		if err != nil {
			return "", errCorrupt(err, "The text is not in the encoding that it declares.")
		}
		text = string(decoded)
	}
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\uFEFF")
	if looksBinary(text) {
		return "", errBinary()
	}
	return cleanText(newlines.Replace(text)), nil
}

// decoderOf is nil for UTF-8.
func decoderOf(data []byte, charset string) encoding.Encoding {
	if bytes.HasPrefix(data, []byte{0xEF, 0xBB, 0xBF}) {
		return nil
	}
	if wide := wideEncoding(data); wide != nil {
		return wide
	}
	if isISO2022JP(data) {
		return encodingNamed("iso-2022-jp")
	}
	if mostlyUTF8(data) {
		return nil // true UTF-8 is never another charset by accident, whatever was declared
	}
	declared := encodingNamed(charset)
	if declared != nil && declared != utf.UTF8 && wrongPart(declared, data) <= maxWrongPart {
		return declared
	}
	if guess := guessedEncoding(data); guess != nil {
		return guess
	}
	return charmap.Windows1252
}

// encodingNamed is nil for a name that the web does not know.
func encodingNamed(name string) encoding.Encoding {
	found, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return found
}

// wideEncoding finds UTF-16 and UTF-32 by their mark, or by where the zero bytes stand that
// every text has which holds spaces, line ends or Latin letters.
func wideEncoding(data []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE, 0, 0}), bytes.HasPrefix(data, []byte{0, 0, 0xFE, 0xFF}):
		return utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}), bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return utf.UTF16(utf.LittleEndian, utf.UseBOM)
	}
	sample := data[:min(len(data), detectBytes)&^1]
	var zeros [4]int
	for i, c := range sample {
		if c == 0 {
			zeros[i&3]++
		}
	}
	quarter := len(sample) / 4
	even, odd := zeros[0]+zeros[2], zeros[1]+zeros[3]
	little, big := utf.UTF16(utf.LittleEndian, utf.IgnoreBOM), utf.UTF16(utf.BigEndian, utf.IgnoreBOM)
	var candidates []encoding.Encoding
	switch {
	case len(data)%2 != 0:
	case quarter > 0 && zeros[3] == quarter && zeros[2]*10 >= quarter*9:
		candidates = []encoding.Encoding{utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)}
	case quarter > 0 && zeros[0] == quarter && zeros[1]*10 >= quarter*9:
		candidates = []encoding.Encoding{utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)}
	case max(even, odd)*minZeroPart < len(sample)/2:
	case odd > even:
		candidates = []encoding.Encoding{little, big}
	default: // 一 is 4E 00
		candidates = []encoding.Encoding{big, little}
	}
	for _, candidate := range candidates {
		if isProse(candidate, sample) {
			return candidate
		}
	}
	return nil
}

// isProse reports whether bytes decode to what a person would have written: no control
// characters, next to nothing unassigned or private, and mostly letters, digits, spaces.
func isProse(candidate encoding.Encoding, sample []byte) bool {
	text, err := candidate.NewDecoder().Bytes(sample)
	if err != nil || len(text) == 0 {
		return false
	}
	chars, words, strange := 0, 0, 0
	for _, r := range string(text) {
		chars++
		switch {
		case unicode.IsControl(r) && !IsSpace(r):
			return false
		case r == utf8.RuneError || !unicode.IsGraphic(r) && !IsSpace(r) && !unicode.Is(unicode.Cf, r):
			strange++
		case unicode.IsLetter(r), unicode.IsDigit(r), IsSpace(r):
			words++
		}
	}
	return strange*100 <= chars && words*2 >= chars
}

// isISO2022JP looks for the escape to JIS X 0208 in text of seven bits.
func isISO2022JP(data []byte) bool {
	return (bytes.Contains(data, []byte("\x1b$B")) || bytes.Contains(data, []byte("\x1b$@"))) &&
		!bytes.ContainsFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
}

// mostlyUTF8 forgives stray bytes, e.g. a file cut in the middle of a character: valid
// multi-byte characters must outnumber the invalid bytes ten to one.
func mostlyUTF8(data []byte) bool {
	if utf8.Valid(data) {
		return true
	}
	valid, invalid := 0, 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			invalid++
		case size > 1:
			valid++
		}
		data = data[size:]
	}
	return valid >= 10*invalid
}

// guessedEncoding asks the statistics of the bytes; nil when they say nothing.
func guessedEncoding(data []byte) encoding.Encoding {
	results, err := chardet.NewTextDetector().DetectAll(telling(data))
	if err != nil {
		return nil
	}
	for _, result := range results {
		if result.Confidence < minConfidence {
			return nil
		}
		name := strings.ToLower(result.Charset)
		if name == "gb-18030" {
			name = "gb18030"
		}
		if found := encodingNamed(name); found != nil && found != utf.UTF8 && wrongPart(found, data) <= maxWrongPart {
			return found
		}
	}
	return nil
}

// telling is the lines of a text that are not plain ASCII, which say nothing of its encoding.
func telling(data []byte) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		if len(out) >= detectBytes {
			break
		}
		if bytes.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) {
			out = append(out, line[:min(len(line), detectBytes)]...)
		}
	}
	return out
}

// wrongPart is how many of a thousand characters are not of the encoding.
func wrongPart(candidate encoding.Encoding, data []byte) int {
	text, err := candidate.NewDecoder().Bytes(data[:min(len(data), detectBytes)])
	if err != nil {
		return 1000
	}
	chars, wrong := 0, 0
	for _, r := range string(text) {
		if chars++; r == utf8.RuneError || unicode.IsControl(r) && !IsSpace(r) {
			wrong++
		}
	}
	return wrong * 1000 / max(chars, 1)
}
