package openai

import "parlance.dev/parlance/platform/quickjson"

// flatEvent is an event of strings and numbers, which are most of a turn's. It writes itself as encoding/json would:
// reflection takes several times as long.
type flatEvent interface {
	// write is false for what it does not know how to write; room is about what it takes beside the ids.
	write(w *quickjson.Writer) (known bool)
	room() int
}

// idsRoom is about what an event's names and ids take, itemRoom what those of a message in it do. Frames are kept for a
// while: room that they do not need is kept with them.
const (
	idsRoom  = 256
	itemRoom = 104
)

// begin begins an event.
func (h *head) begin(w *quickjson.Writer) {
	w.Text(`{"type":`, h.Type)
	w.Text(`,"event_id":`, h.EventID)
}

func (p *place) write(w *quickjson.Writer) {
	w.Text(`,"response_id":`, p.ResponseID)
	w.Text(`,"item_id":`, p.ItemID)
	w.Int(`,"output_index":`, p.OutputIndex)
	w.Int(`,"content_index":`, p.ContentIndex)
}

func (e *deltaEvent) room() int { return len(e.Delta) }

func (e *deltaEvent) write(w *quickjson.Writer) (known bool) {
	e.begin(w)
	e.place.write(w)
	w.Text(`,"delta":`, e.Delta)
	w.Put("}")
	return true
}

func (e *textEvent) room() int { return len(e.Text) }

func (e *textEvent) write(w *quickjson.Writer) (known bool) {
	e.begin(w)
	e.place.write(w)
	w.Text(`,"text":`, e.Text)
	w.Put("}")
	return true
}

func (e *partEvent) room() int { return len(`{"type":"","text":""}`) + len(e.Part.Text) }

func (e *partEvent) write(w *quickjson.Writer) (known bool) {
	e.begin(w)
	e.place.write(w)
	w.Text(`,"part":{"type":`, e.Part.Type)
	w.Text(`,"text":`, e.Part.Text)
	w.Put("}}")
	return true
}

func (e *itemEvent) room() int { return roomOf(e.Item) }

func (e *itemEvent) write(w *quickjson.Writer) (known bool) {
	e.begin(w)
	writeOptional(w, `,"previous_item_id":`, e.PreviousItemID)
	known = writeItem(w, `,"item":`, e.Item)
	w.Put("}")
	return known
}

func (e *outputItemEvent) room() int { return roomOf(e.Item) }

func (e *outputItemEvent) write(w *quickjson.Writer) (known bool) {
	e.begin(w)
	w.Text(`,"response_id":`, e.ResponseID)
	w.Int(`,"output_index":`, e.OutputIndex)
	known = writeItem(w, `,"item":`, e.Item)
	w.Put("}")
	return known
}

// roomOf is about what a message takes.
func roomOf(item any) (room int) {
	room = itemRoom
	if m, ok := item.(messageItem); ok {
		for _, content := range m.Content {
			if text, written := content.(textContent); written {
				room += len(text.Text)
			}
		}
	}
	return room
}

// writeItem writes a message that was written; false for any other item.
func writeItem(w *quickjson.Writer, before string, item any) (known bool) {
	m, known := item.(messageItem)
	if !known || m.Content == nil {
		return false
	}
	w.Put(before)
	w.Text(`{"id":`, m.ID)
	w.Text(`,"object":`, m.Object)
	w.Text(`,"type":`, m.Type)
	w.Text(`,"status":`, m.Status)
	w.Text(`,"role":`, m.Role)
	quickjson.Each(w, `,"content":`, m.Content, func(content *any) {
		text, written := (*content).(textContent)
		known = known && written
		w.Text(`{"type":`, text.Type)
		w.Text(`,"text":`, text.Text)
		w.Put("}")
	})
	w.Put("}")
	return known
}

func writeOptional(w *quickjson.Writer, before string, text *string) {
	if text == nil {
		w.Put(before)
		w.Put("null")
		return
	}
	w.Text(before, *text)
}
