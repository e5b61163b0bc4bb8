package document

import (
	"bytes"
	"encoding/binary"
	"mime"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"parlance.dev/parlance/fault"
)

// The media types that sources are accepted in. Source: interface, Knowledge base.
const (
	ApplicationPDF  = "application/pdf"
	TextMarkdown    = "text/markdown"
	TextPlain       = "text/plain"
	TextHTML        = "text/html"
	ApplicationJSON = "application/json"
	ApplicationDOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	ApplicationEPUB = "application/epub+zip"
	ImagePNG        = "image/png"
	ImageJPEG       = "image/jpeg"
	ImageWEBP       = "image/webp"
)

// SniffBytes is how much of a file's beginning Sniff looks at.
const SniffBytes = 3072

// MediaType is an accepted type with the names it also goes by.
type MediaType struct {
	Name string
	// Extensions are lower-case with the dot; the first is the usual one.
	Extensions []string
	Aliases    []string
	// sniffed are the types that content of this type may be detected as; text types are
	// judged by looksLikeText instead.
	sniffed []string
}

// mediaTypes is every accepted type. Source: interface and decisions, Knowledge base.
var mediaTypes = []MediaType{
	{ApplicationPDF, []string{".pdf"}, []string{"application/x-pdf"}, []string{ApplicationPDF}},
	{TextMarkdown, []string{".md", ".markdown", ".mdown", ".mkd"}, []string{"text/x-markdown", "application/markdown"}, nil},
	{TextPlain, []string{".txt", ".text"}, nil, nil},
	{TextHTML, []string{".html", ".htm", ".xhtml"}, []string{"application/xhtml+xml"}, nil},
	{ApplicationJSON, []string{".json", ".jsonl", ".ndjson"}, []string{
		"text/json", "application/x-ndjson",
		"application/ndjson", "application/jsonl",
	}, nil},
	// A package whose first entries are unusual is detected as a bare zip; one with a password is
	// an OLE file, whose user is told so by Parse.
	{ApplicationDOCX, []string{".docx"}, nil, []string{ApplicationDOCX, "application/zip", "application/x-ole-storage"}},
	{ApplicationEPUB, []string{".epub"}, nil, []string{ApplicationEPUB, "application/zip"}},
	{ImagePNG, []string{".png"}, []string{"image/x-png"}, []string{ImagePNG, "image/vnd.mozilla.apng"}},
	{ImageJPEG, []string{".jpg", ".jpeg"}, []string{"image/jpg", "image/pjpeg"}, []string{ImageJPEG}},
	{ImageWEBP, []string{".webp"}, nil, []string{ImageWEBP}},
}

// MediaTypes returns the accepted types, for documentation and messages.
func MediaTypes() []MediaType { return slices.Clone(mediaTypes) }

// Resolve gives the accepted media type of an upload: the declared one, aliases and parameters
// aside; when that is absent or application/octet-stream, the file name's extension decides.
// Markdown that is declared as text, as many programs do, is Markdown. A charset parameter of a
// text type is kept, as Parse understands it. ok is false when the type is none of the ten.
func Resolve(declared, filename string) (mediaType string, ok bool) {
	name, charset := splitMediaType(declared)
	byName := typeOf(filename)
	if IsUnspecific(declared) {
		return byName, byName != ""
	}
	if name == TextPlain && byName == TextMarkdown {
		name = TextMarkdown
	}
	i := slices.IndexFunc(mediaTypes, func(m MediaType) bool { return m.Name == name || slices.Contains(m.Aliases, name) })
	if i < 0 {
		return "", false
	}
	if charset != "" && mediaTypes[i].sniffed == nil {
		return mediaTypes[i].Name + "; charset=" + charset, true
	}
	return mediaTypes[i].Name, true
}

// IsUnspecific reports whether a declared type says nothing of what a file is: programs send it for
// files whose type they do not know.
func IsUnspecific(declared string) bool {
	name, _ := splitMediaType(declared)
	return name == "" || name == "application/octet-stream" || name == "binary/octet-stream"
}

// typeOf is what a file is by its name; empty: nobody knows.
func typeOf(filename string) string {
	extension := strings.ToLower(path.Ext(filename))
	i := slices.IndexFunc(mediaTypes, func(m MediaType) bool { return slices.Contains(m.Extensions, extension) })
	if i < 0 {
		return ""
	}
	return mediaTypes[i].Name
}

// Sniff compares a resolved type with the first SniffBytes of the content (less if the file is
// shorter). It finds contradictions, it does not validate: a broken PDF passes and fails in
// Parse. An empty file passes too. Errors: UnsupportedMedia kb-unsupported-media-type.
func Sniff(mediaType string, first []byte) error {
	name, _ := splitMediaType(mediaType)
	i := slices.IndexFunc(mediaTypes, func(m MediaType) bool { return m.Name == name })
	if i < 0 {
		return fault.New(fault.KBUnsupportedMediaType, "Files of type %q are not accepted.", name)
	}
	if len(first) == 0 {
		return nil
	}
	first = first[:min(len(first), SniffBytes)]
	detected := detect(first)
	if mediaTypes[i].sniffed == nil && looksLikeText(detected, first) && !isOtherText(name, detected) {
		return nil
	}
	if slices.ContainsFunc(mediaTypes[i].sniffed, detected.Is) && mayBegin(name, detected, first) {
		return nil
	}
	found, _ := splitMediaType(detected.String())
	if found == "application/octet-stream" {
		return fault.New(fault.KBUnsupportedMediaType, "The file is declared as %s, but its content is not.", name)
	}
	return fault.New(fault.KBUnsupportedMediaType, "The file is declared as %s, but its content is %s.", name, found)
}

// pdfMark begins a PDF; readers look for it in the first kilobyte.
var pdfMark = []byte("%PDF-")

const pdfMarkWithin = 1024

// detect is mimetype.Detect, which takes for a PDF whatever has its mark in the first kilobyte: a
// program with a PDF in it, and this sentence if it named the mark. Here the mark makes a PDF when
// it begins a line and what comes before it is nothing else by itself.
func detect(first []byte) *mimetype.MIME {
	at := bytes.Index(first[:min(len(first), pdfMarkWithin+len(pdfMark))], pdfMark)
	if at <= 0 || len(bytes.Trim(first[:at], "\xef\xbb\xbf\x00\t\r\n ")) == 0 {
		return mimetype.Detect(first)
	}
	other := mimetype.Detect(bytes.ReplaceAll(first, pdfMark, []byte("     ")))
	begins := first[at-1] == '\n' || first[at-1] == '\r'
	if begins && (other.Is("application/octet-stream") || other.Is(TextPlain)) {
		return mimetype.Lookup(ApplicationPDF)
	}
	return other
}

// Contradicts says whether a file's name has the extension of another accepted type than the
// resolved one. Texts are texts by any of their names, and pictures tell themselves apart.
func Contradicts(mediaType, filename string) bool {
	name, _ := splitMediaType(mediaType)
	byName := typeOf(filename)
	return byName != "" && byName != name && family(byName) != family(name)
}

// family is text, image, or application with the type itself.
func family(mediaType string) string {
	if mediaType == ApplicationJSON {
		return "text"
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	if kind == "application" {
		return mediaType
	}
	return kind
}

// looksLikeText accepts what is detected as a kind of text, and text that only begins like
// something else: "MZ", "BM" and "GIF8" are words too. A PDF can be all ASCII and stays a PDF.
func looksLikeText(detected *mimetype.MIME, first []byte) bool {
	if detected.Is("application/octet-stream") && wideEncoding(first) != nil {
		return true // UTF-16 without its mark
	}
	for parent := detected; parent != nil; parent = parent.Parent() {
		if parent.Is(TextPlain) {
			return true
		}
	}
	if detected.Is(ApplicationPDF) || detected.Is("application/postscript") {
		return false
	}
	if bytes.ContainsFunc(first, func(r rune) bool { return unicode.IsControl(r) && !IsSpace(r) }) {
		return false
	}
	for range utf8.UTFMax { // the cut at SniffBytes may split a character
		if utf8.Valid(first) {
			return true
		}
		first = first[:max(len(first)-1, 0)]
	}
	return false
}

// isOtherText finds what is text to a machine only, and a page sent in place of a JSON file.
func isOtherText(name string, detected *mimetype.MIME) bool {
	return detected.Is("text/rtf") || name == ApplicationJSON && detected.Is(TextHTML)
}

// packageParts are what the names of the parts begin with that a DOCX may have first.
var packageParts = []string{"[content_types].xml", "_rels/", "word/", "docprops/", "customxml/", "mimetype"}

// bookParts are the endings of the parts that an EPUB without its mark may have first; the mark
// is a first part "mimetype".
var bookParts = []string{
	"/", "mimetype", ".xml", ".opf", ".ncx", ".xhtml", ".html", ".htm", ".css", ".jpg", ".jpeg", ".png", ".gif", ".svg",
	".ttf", ".otf", ".woff", ".woff2",
}

// mayBegin judges a bare zip by the name of its first entry.
func mayBegin(name string, detected *mimetype.MIME, first []byte) bool {
	if !detected.Is("application/zip") {
		return true
	}
	const header = 30 // bytes before the name; its length is at 26
	if len(first) < header {
		return true // cut off: Parse says so
	}
	entry := first[header:min(len(first), header+int(binary.LittleEndian.Uint16(first[26:])))]
	entry = bytes.ToLower(bytes.ReplaceAll(bytes.TrimPrefix(entry, []byte("/")), []byte(`\`), []byte("/")))
	if name == ApplicationDOCX {
		return slices.ContainsFunc(packageParts, func(part string) bool { return bytes.HasPrefix(entry, []byte(part)) })
	}
	return slices.ContainsFunc(bookParts, func(part string) bool { return bytes.HasSuffix(entry, []byte(part)) })
}

// BareType is a media type without its parameters.
func BareType(mediaType string) string {
	name, _, _ := strings.Cut(mediaType, ";")
	return strings.TrimSpace(name)
}

// TakesOCR says that content of a type may be read by OCR.
func TakesOCR(mediaType string) bool {
	return mediaType == ApplicationPDF || strings.HasPrefix(mediaType, "image/")
}

// splitMediaType lower-cases a type and takes its charset off; what does not parse is taken up
// to the first semicolon.
func splitMediaType(s string) (name, charset string) {
	name, params, err := mime.ParseMediaType(s)
	if err != nil {
		return strings.ToLower(BareType(s)), ""
	}
	return name, strings.ToLower(params["charset"])
}
