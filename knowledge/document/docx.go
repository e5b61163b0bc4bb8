package document

import (
	"encoding/xml"
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
		if strings.HasSuffix(r.Type, "/officeDocument") {
			main = cleanEntry(r.Target)
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
	var types struct {
		Overrides []struct {
			PartName    string `xml:",attr"`
			ContentType string `xml:",attr"`
		} `xml:"Override"`
		Defaults []struct {
			Extension   string `xml:",attr"`
			ContentType string `xml:",attr"`
		} `xml:"Default"`
	}
	err := decodePart(a, "[Content_Types].xml", &types)
	for _, one := range types.Overrides {
		if strings.EqualFold(cleanEntry(one.PartName), part) {
			return one.ContentType, err
		}
	}
	for _, one := range types.Defaults {
		if strings.EqualFold("."+one.Extension, path.Ext(part)) {
			return one.ContentType, err
		}
	}
	return "", err
}

// relation is a line of a .rels part.
type relation struct {
	ID     string `xml:"Id,attr"`
	Type   string `xml:",attr"`
	Target string `xml:",attr"`
	Mode   string `xml:"TargetMode,attr"`
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
	var list struct {
		Relations []relation `xml:"Relationship"`
	}
	err := decodePart(a, name, &list)
	return list.Relations, err
}

// parts reads what the body refers to. A document may lack any of it.
func (d *docxReader) parts(relations []relation) error {
	d.links = make(map[string]string)
	targets := make(map[string]string)
	for _, r := range relations {
		switch {
		case r.Mode == "External":
			d.links[r.ID] = r.Target
		case strings.HasPrefix(r.Target, "/"):
			targets[path.Base(r.Type)] = r.Target
		default:
			targets[path.Base(r.Type)] = path.Join(d.folder, r.Target)
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
		text, err := d.flow(x, new(cellProperties))
		d.notes[kind+attribute(start, "id")] = text
		return err
	})
}
