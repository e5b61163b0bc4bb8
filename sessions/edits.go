package sessions

import (
	"maps"
	"unicode/utf8"
)

// AtFront is the place before all items, in the fields named After.
const AtFront = "root"

// ItemEdit is what a client changed about an item after it was added.
type ItemEdit struct {
	// Removed says that the model no longer sees the item.
	Removed bool `json:"removed,omitempty"`
	// Cut is how much of the item was heard; nil for all.
	Cut *Cut `json:"cut,omitempty"`
	// Generation says which item of that id was edited (see Message.Generation). Earlier ones were
	// removed.
	Generation int `json:"again,omitempty"`
}

// Cut is how much of a spoken item the listener heard.
type Cut struct {
	// AudioEndMS is where the listener stopped listening.
	AudioEndMS int `json:"audio_end_ms"`
	// Text is the words until then, estimated by proportion. Of a session that keeps nothing it is
	// empty, and Chars is how many characters they have.
	Text  string `json:"text"`
	Chars int    `json:"chars,omitempty"`
}

// heard returns what was heard of the item's text.
func (c Cut) heard(text string) string {
	if c.Chars == 0 {
		return c.Text
	}
	return string([]rune(text)[:min(c.Chars, utf8.RuneCountInString(text))])
}

// ItemEdits are the edits of a session, by item id. They are kept in the session's row, so that
// every node and HTTP turns see them, and a turn that is written as a whole when it ends does not
// undo them.
type ItemEdits map[string]ItemEdit

// of returns the edit of an item. It returns false when the item is unchanged.
func (e ItemEdits) of(id string, again int) (edit ItemEdit, done bool) {
	edit = e[id]
	switch {
	case id == "" || again > edit.Generation: // the edit belongs to an earlier item of the id
		return ItemEdit{}, false
	case again < edit.Generation:
		return ItemEdit{Removed: true, Generation: again}, true
	}
	return edit, edit.Removed || edit.Cut != nil
}

// Removed reports whether the item was removed.
func (e ItemEdits) Removed(id string, again int) bool {
	edit, _ := e.of(id, again)
	return edit.Removed
}

// Equal reports whether both hold the same edits.
func (e ItemEdits) Equal(other ItemEdits) bool {
	return maps.EqualFunc(e, other, func(a, b ItemEdit) bool {
		return a.Removed == b.Removed && a.Generation == b.Generation && (a.Cut == nil) == (b.Cut == nil) && (a.Cut == nil || *a.Cut == *b.Cut)
	})
}

// MergedAfter returns these edits, which were read from the database, with those of here that are
// newer. An item that is removed in either stays removed.
func (e ItemEdits) MergedAfter(here ItemEdits) ItemEdits {
	all := make(ItemEdits, len(e))
	maps.Copy(all, e)
	for item, old := range here {
		if read, there := e[item]; !there || old.Generation > read.Generation || old.Generation == read.Generation && old.Removed {
			all[item] = old
		}
	}
	return all
}

// Text returns what is left of an item's text: the part that was heard when the item was cut.
func (e ItemEdits) Text(id string, again int, text string) string {
	if edit, _ := e.of(id, again); edit.Cut != nil {
		return edit.Cut.heard(text)
	}
	return text
}
