package sessions

import (
	"slices"
)

// maxOrderedItems bounds an ItemOrder; the oldest items are dropped.
const maxOrderedItems = 1000

// ItemOrder is the order of a conversation's newest items, as the model sees them.
type ItemOrder struct{ ids []string }

// Put gives an item its place unless it has one, and returns the id of the item before it; the
// empty string when it is first.
func (p *ItemOrder) Put(id, after string) string {
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
func (p *ItemOrder) Drop(id string) {
	p.ids = slices.DeleteFunc(p.ids, func(one string) bool { return one == id })
}

// Has reports whether the item has a place.
func (p *ItemOrder) Has(id string) bool { return slices.Contains(p.ids, id) }
