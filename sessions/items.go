package sessions

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a conversation is has two orders. The transcript keeps the order of time and everything that was
// said. The model sees the order that clients may have chosen (Message.After), without what they
// removed and with what they cut (Session.ItemEdits):
//
//	turns ──history──► messages ──arrange──► messages ──modelMessages──► what the model gets
//
// Edits live in the session's row, so that any node and the turns over HTTP see them, and a turn that is
// written down whole when it ends cannot undo them.

// AtFront is the place before all items, in the fields named After.
const AtFront = "root"

// ItemEdit is what a client did to an item afterwards.
type ItemEdit struct {
	// Removed says that the model does not see it any more.
	Removed bool `json:"removed,omitempty"`
	// Cut is how much of it was heard; nil: all.
	Cut *Cut `json:"cut,omitempty"`
	// Again says which of the items of that id it is (see Message.Again). Those before it were removed.
	Again int `json:"again,omitempty"`
}

// Cut is how much of a spoken item was heard.
type Cut struct {
	// AudioEndMS is where the listener stopped listening.
	AudioEndMS int `json:"audio_end_ms"`
	// Text is the words until then, as far as the proportion tells.
	Text string `json:"text"`
}

// ItemEdits are a session's, by item id.
type ItemEdits map[string]ItemEdit

// of is what was done to an item; false: nothing.
func (e ItemEdits) of(id string, again int) (edit ItemEdit, done bool) {
	edit = e[id]
	switch {
	case id == "" || again > edit.Again: // it is newer than what is known
		return ItemEdit{}, false
	case again < edit.Again:
		return ItemEdit{Removed: true, Again: again}, true
	}
	return edit, edit.Removed || edit.Cut != nil
}

func (e ItemEdits) Removed(id string, again int) bool {
	edit, _ := e.of(id, again)
	return edit.Removed
}

func (e ItemEdits) Equal(other ItemEdits) bool {
	return maps.EqualFunc(e, other, func(a, b ItemEdit) bool {
		return a.Removed == b.Removed && a.Again == b.Again && (a.Cut == nil) == (b.Cut == nil) && (a.Cut == nil || *a.Cut == *b.Cut)
	})
}

// behind are these edits, which were read, and behind them those that were made here since: what is removed stays so.
func (e ItemEdits) MergedAfter(here ItemEdits) ItemEdits {
	all := make(ItemEdits, len(e))
	maps.Copy(all, e)
	for item, old := range here {
		if read, there := e[item]; !there || old.Again > read.Again || old.Again == read.Again && old.Removed {
			all[item] = old
		}
	}
	return all
}

// text is what of an item's text is left.
func (e ItemEdits) Text(id string, again int, text string) string {
	if edit, _ := e.of(id, again); edit.Cut != nil {
		return edit.Cut.Text
	}
	return text
}

// arrange is the messages as the model is to see them: those with a place of their own moved there, and
// the edits applied.
func ArrangeMessages(messages []Message, edits ItemEdits) []Message {
	return EditedMessages(placed(messages), edits)
}

// placed moves messages behind the items they were put behind, oldest first, as if each had been
// put there when it came. One whose item is not among the messages any more goes to the front.
func placed(messages []Message) []Message {
	if !slices.ContainsFunc(messages, func(m Message) bool { return m.After != "" }) {
		return messages
	}
	ordered := make([]Message, 0, len(messages))
	for _, m := range messages {
		at := len(ordered)
		if m.After != "" {
			at = 1 + lastOf(ordered, m.After)
		}
		ordered = slices.Insert(ordered, at, m)
	}
	return ordered
}

// lastOf is the last message that holds the item, the newest of that id; -1 when none does.
func lastOf(messages []Message, id string) int {
	last := -1
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].holds(id) && (last < 0 || messages[i].Again > messages[last].Again) {
			last = i
		}
	}
	return last
}

// holds says whether the item is the message, or one of its calls.
func (m Message) holds(id string) bool {
	return m.ItemID == id || slices.ContainsFunc(m.Calls, func(c MessageCall) bool { return c.ItemID == id })
}

// edited leaves out what was removed, and cuts what was cut.
func EditedMessages(messages []Message, edits ItemEdits) []Message {
	if len(edits) == 0 {
		return messages
	}
	var left []Message
	for _, m := range messages {
		if edits.Removed(m.ItemID, m.Again) {
			if len(m.Calls) == 0 {
				continue
			}
			m.Text = ""
		}
		m.Text = edits.Text(m.ItemID, m.Again, m.Text)
		if len(m.Calls) > 0 {
			m.Calls = slices.DeleteFunc(slices.Clone(m.Calls), func(c MessageCall) bool { return edits.Removed(c.ItemID, m.Again) })
		}
		left = append(left, m)
	}
	return left
}

// shown are a turn's items as clients see them: without those removed, and with what was heard of others.
func VisibleItems(turn Turn, edits ItemEdits) []Item {
	items := ItemsOf(turn)
	if len(edits) == 0 {
		return items
	}
	items = slices.DeleteFunc(items, func(item Item) bool { return edits.Removed(item.ID, item.Again) })
	for i := range items {
		items[i].Text = edits.Text(items[i].ID, items[i].Again, items[i].Text)
	}
	return items
}

// latest are the items of several turns, each once: a result that came in a later turn stands beside its call, too.
func LatestItems(items []Item) []Item {
	later := map[string]bool{}
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].repeated(later) {
			items = slices.Delete(items, i, i+1)
		}
	}
	return items
}

// repeated says that the item is a result which is among the later ones, and puts it there.
func (i Item) repeated(later map[string]bool) bool {
	if i.Kind != ToolOutputItem || i.ID == "" {
		return false
	}
	is := later[i.Key()]
	later[i.Key()] = true
	return is
}

// NotedItem is an item that the texts of its turn do not tell of (it was put in by a client, or spoken),
// or that the model sees otherwise than it was said (removed, cut or elsewhere).
type NotedItem struct {
	Item
	ItemEdit
}

// noteItems fills in the Items of turns in order. A result is an item of the turn in which it came.
func noteItems(turns []Turn, edits ItemEdits) {
	later := map[string]bool{}
	for i := len(turns) - 1; i >= 0; i-- {
		turns[i].Items = slices.DeleteFunc(noted(turns[i], edits), func(item NotedItem) bool { return item.repeated(later) })
	}
}

// noted are those of a turn.
func noted(turn Turn, edits ItemEdits) []NotedItem {
	var kept []NotedItem
	for _, item := range ItemsOf(turn) {
		edit, changed := edits.of(item.ID, item.Again)
		if changed || item.Put || item.Kind == SystemItem || item.After != "" || item.Audio != nil {
			kept = append(kept, NotedItem{Item: item, ItemEdit: edit})
		}
	}
	return kept
}

// heard is the part of a spoken text until a moment of its audio: whole words, by proportion, for
// speech has no better measure here.
func HeardText(text string, lengthMS, untilMS int) string {
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
			end = space // the word was broken off
		}
	}
	return strings.TrimRightFunc(text[:end], unicode.IsSpace)
}

// maxPlaces bounds the items whose order an engine knows: the newest.
const maxPlaces = 1000

// places is the order of the newest items of a conversation, as the model sees them.
type ItemOrder struct{ ids []string }

// put gives an item its place, unless it has one, and returns the item before it; "" at the front.
func (p *ItemOrder) Put(id, after string) string {
	at := slices.Index(p.ids, id)
	if at < 0 {
		at = len(p.ids)
		if after != "" {
			at = 1 + slices.Index(p.ids, after)
		}
		p.ids = slices.Insert(p.ids, at, id)
		if len(p.ids) > maxPlaces {
			p.ids = slices.Delete(p.ids, 0, 1)
			at = max(0, at-1)
		}
	}
	if at == 0 {
		return ""
	}
	return p.ids[at-1]
}

func (p *ItemOrder) Drop(id string) {
	p.ids = slices.DeleteFunc(p.ids, func(one string) bool { return one == id })
}

func (p *ItemOrder) Has(id string) bool { return slices.Contains(p.ids, id) }
