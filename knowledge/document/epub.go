package document

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// epubItem is a line of the manifest.
type epubItem struct {
	ID string `xml:"id,attr"`
	// Name is the part's path, from the root of the archive once the package is read.
	Name       string `xml:"href,attr"`
	MediaType  string `xml:"media-type,attr"`
	Properties string `xml:"properties,attr"`
}

// epubPackage is what the OPF says.
type epubPackage struct {
	Titles []string `xml:"metadata>title"`
	// OldTitles are where EPUB 2 may have them, one level down.
	OldTitles []string   `xml:"metadata>dc-metadata>title"`
	Manifest  []epubItem `xml:"manifest>item"`
	Spine     struct {
		// NCX is the id of the table of contents of EPUB 2.
		NCX      string `xml:"toc,attr"`
		Chapters []struct {
			ID string `xml:"idref,attr"`
		} `xml:"itemref"`
	} `xml:"spine"`

	items map[string]epubItem
	// order are the ids of the chapters, each once.
	order []string
}

// title is the first; empty: there is none.
func (p epubPackage) title() string {
	for _, title := range append(p.Titles, p.OldTitles...) {
		if title = squeezed(title); title != "" {
			return title
		}
	}
	return ""
}

// parseEPUB reads the chapters in the order of the spine. The table of contents (nav of EPUB 3,
// else NCX of EPUB 2) gives them headings; a chapter's own headings stand below. The title of
// the book heads all.
func parseEPUB(a *archive, limits Limits) (Document, error) {
	name, err := epubRoot(a)
	if err != nil {
		return Document{}, err
	}
	book, err := readPackage(a, name)
	if err != nil {
		return Document{}, err
	}
	if err := refuseDRM(a, book); err != nil {
		return Document{}, err
	}
	contents, err := readContents(a, book)
	if err != nil {
		return Document{}, err
	}
	b := builder{limit: limits.MaxTextBytes}
	b.heading(0, book.title())
	title := len(b.doc.Blocks)
	level, missing := 1, 0
	for _, id := range book.order {
		item := book.items[id]
		if !item.isChapter() || item.isNav() {
			continue
		}
		if a.find(item.Name) == nil { // also a page on the web, which a spine may not name
			if missing++; missing <= maxWarnings {
				b.doc.Warnings = append(b.doc.Warnings, fmt.Sprintf("The chapter %q is missing from the book.",
					shortened(item.Name, maxPathChars)))
			}
			continue
		}
		data, err := a.read(item.Name)
		if err != nil {
			return Document{}, err
		}
		if level, err = addChapter(&b, string(data), contents[item.Name], level); err != nil {
			return Document{}, err
		}
	}
	if missing > maxWarnings {
		b.doc.Warnings = append(b.doc.Warnings, fmt.Sprintf("%d more chapters are missing.", missing-maxWarnings))
	}
	if len(b.doc.Blocks) == title {
		if missing > 0 {
			return Document{}, errCorrupt(nil, "The book is incomplete: its chapters are missing.")
		}
		return Document{}, errEmpty() // a book of pictures
	}
	return b.finish()
}

func (e epubItem) isChapter() bool {
	switch strings.ToLower(e.MediaType) {
	case "application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document":
		return true
	}
	return false
}

func (e epubItem) isNav() bool { return slices.Contains(strings.Fields(e.Properties), "nav") }

// addChapter adds a part of the book. level is that of the last heading from the table of
// contents, which parts without one stand under; the new one is returned.
func addChapter(b *builder, data string, entries []tocEntry, level int) (int, error) {
	text, err := decodeText([]byte(data), metaCharset([]byte(data)))
	if err != nil {
		return level, err
	}
	w := htmlWalker{b: b, page: pageOf(text), how: asChapter, anchors: make(map[string]anchor)}
	for _, entry := range entries {
		found := anchor{title: entry.title, level: entry.level}
		if entry.fragment == "" {
			if w.awaited.title != "" { // a part and its first chapter, both at the top
				w.arrive()
			}
			w.awaited = found
		} else if _, taken := w.anchors[entry.fragment]; !taken {
			w.anchors[entry.fragment] = found
		}
		level = entry.level
	}
	if w.page.root == nil {
		w.arrive()
		b.flatHTML(text)
		return level, nil
	}
	w.level = level - 1
	if len(entries) > 0 {
		w.level = entries[0].level
	}
	w.node(w.page.root)
	w.flush()
	return level, nil
}

// epubRoot finds the OPF.
func epubRoot(a *archive) (string, error) {
	if a.find("META-INF/container.xml") == nil {
		return "", &Error{Kind: WrongType, Message: "The file is a ZIP archive, not an EPUB book."}
	}
	var container struct {
		Roots []struct {
			Path string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	if err := decodePart(a, "META-INF/container.xml", &container); err != nil {
		return "", err
	}
	for _, root := range container.Roots {
		if name := cleanEntry(root.Path); a.find(name) != nil {
			return name, nil
		}
	}
	return "", errCorrupt(nil, "The book is incomplete: its package document is missing.")
}

// readPackage reads the OPF: title, manifest, spine.
func readPackage(a *archive, name string) (epubPackage, error) {
	book := epubPackage{items: make(map[string]epubItem)}
	if err := decodePart(a, name, &book); err != nil {
		return book, err
	}
	for i, item := range book.Manifest {
		book.Manifest[i].Name = linked(name, item.Name)
		book.items[item.ID] = book.Manifest[i]
	}
	seen := make(map[string]bool)
	for _, chapter := range book.Spine.Chapters { // repetitions could make a small book endless
		if !seen[chapter.ID] {
			seen[chapter.ID] = true
			book.order = append(book.order, chapter.ID)
		}
	}
	if len(book.order) == 0 {
		return book, errCorrupt(nil, "The book is incomplete: it lists no chapters.")
	}
	return book, nil
}

// linked is the path in the archive that an address in a part leads to.
func linked(from, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if decoded, err := url.PathUnescape(href); err == nil {
		href = decoded
	}
	if strings.HasPrefix(href, "/") {
		return cleanEntry(href)
	}
	return cleanEntry(path.Join(path.Dir(from), href))
}

// fontObfuscation are the algorithms that keep a font from being copied out of a book; the text
// is in the clear. Source: EPUB OCF, Font obfuscation; Adobe's older one.
var fontObfuscation = map[string]bool{
	"http://www.idpf.org/2008/embedding": true,
	"http://ns.adobe.com/pdf/enc#RC":     true,
}

// refuseDRM looks whether a chapter is encrypted.
func refuseDRM(a *archive, book epubPackage) error {
	if a.find("META-INF/encryption.xml") == nil {
		return nil
	}
	chapters := make(map[string]bool)
	for _, id := range book.order {
		chapters[strings.ToLower(book.items[id].Name)] = true
	}
	var encryption struct {
		Data []struct {
			Method struct {
				Algorithm string `xml:",attr"`
			} `xml:"EncryptionMethod"`
			Reference struct {
				URI string `xml:",attr"`
			} `xml:"CipherData>CipherReference"`
		} `xml:"EncryptedData"`
	}
	if err := decodePart(a, "META-INF/encryption.xml", &encryption); err != nil {
		return err
	}
	for _, one := range encryption.Data {
		if !fontObfuscation[one.Method.Algorithm] && chapters[strings.ToLower(linked("", one.Reference.URI))] {
			return &Error{Kind: Encrypted, Message: "The book is protected by DRM and cannot be read. Upload a copy without protection."}
		}
	}
	return nil
}
