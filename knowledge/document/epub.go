package document

import (
	"encoding/xml"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// epubItem is a line of the manifest.
type epubItem struct {
	// name is the part's path from the root of the archive.
	name, mediaType, properties string
}

// epubPackage is what the OPF says.
type epubPackage struct {
	title string
	items map[string]epubItem
	// manifest are the ids in their order.
	manifest []string
	// order are the ids of the chapters.
	order []string
	// ncx is the id of the table of contents of EPUB 2.
	ncx string
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
	if book.title != "" {
		b.heading(0, book.title)
	}
	title := len(b.doc.Blocks)
	level, missing := 1, 0
	for _, id := range book.order {
		item := book.items[id]
		if !isChapter(item) || strings.Contains(" "+item.properties+" ", " nav ") {
			continue
		}
		if a.find(item.name) == nil { // also a page on the web, which a spine may not name
			if missing++; missing <= maxWarnings {
				b.doc.Warnings = append(b.doc.Warnings, fmt.Sprintf("The chapter %q is missing from the book.",
					shortened(item.name, maxPathChars)))
			}
			continue
		}
		data, err := a.read(item.name)
		if err != nil {
			return Document{}, err
		}
		if level, err = addChapter(&b, string(data), contents[item.name], level); err != nil {
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

func isChapter(item epubItem) bool {
	switch item.mediaType {
	case "application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document":
		return true
	}
	return false
}

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
	root := ""
	err := withPart(a, "META-INF/container.xml", func(x *xmlReader) error {
		var content func(x *xmlReader) error
		content = func(x *xmlReader) error {
			return x.children(func(start xml.StartElement) error {
				if start.Name.Local == "rootfile" && root == "" {
					root = cleanEntry(attribute(start, "full-path"))
				}
				return content(x)
			})
		}
		return content(x)
	})
	if err != nil {
		return "", err
	}
	if root == "" || a.find(root) == nil {
		return "", errCorrupt(nil, "The book is incomplete: its package document is missing.")
	}
	return root, nil
}

// readPackage reads the OPF: title, manifest, spine.
func readPackage(a *archive, name string) (epubPackage, error) {
	book := epubPackage{items: make(map[string]epubItem)}
	err := withDoctype(a, name, func(x *xmlReader) error {
		return x.children(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "metadata":
				return book.metadata(x)
			case "manifest":
				return x.children(func(child xml.StartElement) error {
					id := attribute(child, "id")
					book.manifest = append(book.manifest, id)
					book.items[id] = epubItem{
						name: linked(name, attribute(child, "href")), mediaType: strings.ToLower(attribute(child, "media-type")),
						properties: attribute(child, "properties"),
					}
					return x.skip()
				})
			case "spine":
				book.ncx = attribute(start, "toc")
				return x.children(func(child xml.StartElement) error {
					if child.Name.Local == "itemref" {
						book.order = append(book.order, attribute(child, "idref"))
					}
					return x.skip()
				})
			}
			return x.skip()
		})
	})
	if err == nil && len(book.order) == 0 {
		err = errCorrupt(nil, "The book is incomplete: it lists no chapters.")
	}
	book.order = distinct(book.order)
	return book, err
}

// metadata finds the first title, also where EPUB 2 has it one level down.
func (p *epubPackage) metadata(x *xmlReader) error {
	return x.children(func(start xml.StartElement) error {
		switch {
		case start.Name.Local == "title" && p.title == "":
			text, err := x.text()
			p.title = squeezed(text)
			return err
		case start.Name.Local == "dc-metadata":
			return p.metadata(x)
		}
		return x.skip()
	})
}

// distinct drops repetitions, by which a small book could be made endless.
func distinct(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	var out []string
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// withDoctype is withPart for parts that may name a document type.
func withDoctype(a *archive, name string, fn func(x *xmlReader) error) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	x := newXMLReader(r)
	x.allowDoctype = true
	if _, err := x.root(); err != nil {
		return err
	}
	return fn(x)
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
		chapters[strings.ToLower(book.items[id].name)] = true
	}
	locked := false
	err := withPart(a, "META-INF/encryption.xml", func(x *xmlReader) error {
		return x.children(func(start xml.StartElement) error {
			if start.Name.Local != "EncryptedData" {
				return x.skip()
			}
			algorithm, target := "", ""
			var content func(x *xmlReader) error
			content = func(x *xmlReader) error {
				return x.children(func(child xml.StartElement) error {
					switch child.Name.Local {
					case "KeyInfo": // the key has an algorithm of its own
						return x.skip()
					case "EncryptionMethod":
						algorithm = attribute(child, "Algorithm")
					case "CipherReference":
						target = linked("", attribute(child, "URI"))
					}
					return content(x)
				})
			}
			err := content(x)
			locked = locked || !fontObfuscation[algorithm] && chapters[strings.ToLower(target)]
			return err
		})
	})
	if err == nil && locked {
		err = &Error{Kind: Encrypted, Message: "The book is protected by DRM and cannot be read. Upload a copy without protection."}
	}
	return err
}
