package document

import (
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"
)

// docxReader reads one document.
type docxReader struct {
	b       builder
	archive *archive
	// folder is where the main part is, to which its relations are relative.
	folder string
	links  map[string]string
	styles map[string]docxStyle
	// resolved are the styles asked for, with what they inherit.
	resolved map[string]docxStyle
	numbers  docxNumbers
	// notes are the texts of foot- and endnotes, by kind and id, not yet shown; pending those that
	// the block in work refers to.
	notes   map[string]string
	pending []string
	noted   int
	// kind and lines are the list or code that the next paragraph may continue.
	kind  BlockKind
	lines strings.Builder
	// carried is the text before a deleted paragraph mark.
	carried string
	// fields are those begun and not ended; a table of contents spans paragraphs.
	fields []docxField
}

// parseDOCX reads the body of a Word document in its order: headings by style or outline level,
// lists with their numbers, tables as rows, notes after the block that refers to them, text
// boxes after their paragraph. Tracked insertions are kept and deletions left out, as are
// headers, footers, comments, hidden text and tables of contents.
func parseDOCX(a *archive, limits Limits) (Document, error) {
	main, err := docxMain(a)
	if err != nil {
		return Document{}, err
	}
	d := docxReader{
		archive: a, folder: path.Dir(main), b: builder{limit: limits.MaxTextBytes},
		notes: map[string]string{}, resolved: map[string]docxStyle{},
	}
	relations, err := readRelations(a, main)
	if err != nil {
		return Document{}, err
	}
	if err := d.parts(relations); err != nil {
		return Document{}, err
	}
	err = withPart(a, main, func(x *xmlReader) error {
		return x.children(func(start xml.StartElement) error {
			if start.Name.Local == "body" {
				return d.body(x)
			}
			return x.skip()
		})
	})
	if err != nil {
		return Document{}, err
	}
	d.flush()
	return d.b.finish()
}

// withPart opens a part and gives fn its reader inside of the root element.
func withPart(a *archive, name string, fn func(x *xmlReader) error) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	x := newXMLReader(r)
	if _, err := x.root(); err != nil {
		return err
	}
	if err := fn(x); err != nil {
		return err
	}
	// What follows the root is read too: the checksum comes last.
	if _, err := x.next(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// docxTypes are the content types that a main part may have, and what is said of the others.
var docxTypes = map[string]string{
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml": "",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml": "a Word template (.dotx)",
	"application/vnd.ms-word.document.macroEnabled.main+xml":                           "a Word document with macros (.docm)",
	"application/vnd.ms-word.template.macroEnabledTemplate.main+xml":                   "a Word template with macros (.dotm)",
}

// docxMain finds the main part. Errors: *Error WrongType for other packages, Corrupt.
func docxMain(a *archive) (string, error) {
	wrong := func(what string) error {
		return &Error{Kind: WrongType, Message: "The file is " + what +
			", not a Word document (.docx). Save it as .docx and upload it again."}
	}
	if a.find("[Content_Types].xml") == nil {
		return "", wrong("a ZIP archive")
	}
	relations, err := readRelations(a, "")
	if err != nil {
		return "", err
	}
	main := ""
	for _, r := range relations {
		if strings.HasSuffix(r.kind, "/officeDocument") {
			main = cleanEntry(r.target)
		}
	}
	if main == "" {
		return "", wrong("an Office package")
	}
	kind, err := docxContentType(a, main)
	if err != nil {
		return "", err
	}
	what, known := docxTypes[kind]
	switch {
	case !known && strings.Contains(kind, "spreadsheetml"):
		return "", wrong("an Excel workbook")
	case !known && strings.Contains(kind, "presentationml"):
		return "", wrong("a PowerPoint presentation")
	case !known:
		return "", wrong("an Office package of another kind")
	case what != "":
		return "", wrong(what)
	}
	return main, nil
}

// docxContentType is the type of a part: its own, else that of its extension.
func docxContentType(a *archive, part string) (string, error) {
	own, byExtension := "", ""
	err := withPart(a, "[Content_Types].xml", func(x *xmlReader) error {
		return x.children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "Override":
				if strings.EqualFold(cleanEntry(attribute(start, "PartName")), part) {
					own = attribute(start, "ContentType")
				}
			case "Default":
				if strings.EqualFold("."+attribute(start, "Extension"), path.Ext(part)) {
					byExtension = attribute(start, "ContentType")
				}
			}
			return x.skip()
		})
	})
	if own == "" {
		own = byExtension
	}
	return own, err
}

// relation is a line of a .rels part.
type relation struct {
	id, kind, target string
	external         bool
}

// readRelations reads the relations of a part, or of the package for "". None is no error.
func readRelations(a *archive, part string) ([]relation, error) {
	name := path.Join(path.Dir(part), "_rels", path.Base(part)+".rels")
	if part == "" {
		name = "_rels/.rels"
	}
	if a.find(name) == nil {
		return nil, nil
	}
	var relations []relation
	err := withPart(a, name, func(x *xmlReader) error {
		return x.children(func(start xml.StartElement) error {
			relations = append(relations, relation{
				id: attribute(start, "Id"), kind: attribute(start, "Type"), target: attribute(start, "Target"),
				external: attribute(start, "TargetMode") == "External",
			})
			return x.skip()
		})
	})
	return relations, err
}

// parts reads what the body refers to. A document may lack any of it.
func (d *docxReader) parts(relations []relation) error {
	d.links = make(map[string]string)
	targets := make(map[string]string)
	for _, r := range relations {
		switch {
		case r.external:
			d.links[r.id] = r.target
		case strings.HasPrefix(r.target, "/"):
			targets[path.Base(r.kind)] = r.target
		default:
			targets[path.Base(r.kind)] = path.Join(d.folder, r.target)
		}
	}
	read := func(kind string, fn func(x *xmlReader) error) error {
		if name := targets[kind]; name != "" && d.archive.find(name) != nil {
			return withPart(d.archive, name, fn)
		}
		return nil
	}
	if err := read("styles", d.readStyles); err != nil {
		return err
	}
	if err := read("numbering", d.numbers.read); err != nil {
		return err
	}
	for _, kind := range []string{"footnote", "endnote"} {
		if err := read(kind+"s", func(x *xmlReader) error { return d.readNotes(x, kind) }); err != nil {
			return err
		}
	}
	return nil
}

// readNotes reads the foot- or endnotes; the separators between text and notes have a type.
func (d *docxReader) readNotes(x *xmlReader, kind string) error {
	return x.children(func(start xml.StartElement) error {
		if start.Name.Local != kind || attribute(start, "type") != "" && attribute(start, "type") != "normal" {
			return x.skip()
		}
		text, err := d.flow(x)
		d.notes[kind+attribute(start, "id")] = text
		return err
	})
}
