package live

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxOrderedItems bounds an itemOrder; the oldest items are dropped.
const maxOrderedItems = 1000

// itemOrder is the order of a conversation's newest items, as the model sees them.
type itemOrder struct{ ids []string }

// Put gives an item its place unless it has one, and returns the id of the item before it; empty
// when it is first.
func (p *itemOrder) Put(id, after string) string {
	at := slices.Index(p.ids, id)
	if at < 0 {
		at = len(p.ids)
		if after != "" {
			at = 1 + slices.Index(p.ids, after)
		}
		p.ids = slices.Insert(p.ids, at, id)
		if len(p.ids) > maxOrderedItems {
			p.ids = slices.Delete(p.ids, 0, 1)
			at = max(0, at-1)
		}
	}
	if at == 0 {
		return ""
	}
	return p.ids[at-1]
}

// Drop removes an item.
func (p *itemOrder) Drop(id string) {
	p.ids = slices.DeleteFunc(p.ids, func(one string) bool { return one == id })
}

// Has reports whether the item has a place.
func (p *itemOrder) Has(id string) bool { return slices.Contains(p.ids, id) }

// heardText returns the words of a spoken text that were heard in the first untilMS of lengthMS, in
// proportion to the time, because the time of each word is not known.
func heardText(text string, lengthMS, untilMS int) string {
	if untilMS >= lengthMS {
		return text
	}
	chars := utf8.RuneCountInString(text) * untilMS / lengthMS
	end := 0
	for range chars {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	next, _ := utf8.DecodeRuneInString(text[end:])
	if end > 0 && end < len(text) && !unicode.IsSpace(next) {
		if space := strings.LastIndexFunc(text[:end], unicode.IsSpace); space > 0 {
			end = space // leave out a partial word
		}
	}
	return strings.TrimRightFunc(text[:end], unicode.IsSpace)
}
