package openai

import (
	"strconv"

	"parlance.dev/parlance/platform/quickjson"
)

// flatEvent is an event of strings and numbers, which are most of a turn's. It writes itself as encoding/json would:
// reflection takes several times as long.
type flatEvent interface {
	// append is false for what it does not know how to write; room is about what it takes beside the ids.
	append(out []byte) ([]byte, bool)
	room() int
}

// idsRoom is about what an event's names and ids take, itemRoom what those of a message in it do. Frames are kept for a
// while: room that they do not need is kept with them.
const (
	idsRoom  = 256
	itemRoom = 104
)

// appendHead begins an event.
func (h *head) appendHead(out []byte) []byte {
	out = quickjson.AppendString(append(out, `{"type":`...), h.Type)
	return quickjson.AppendString(append(out, `,"event_id":`...), h.EventID)
}

func (p *place) appendPlace(out []byte) []byte {
	out = quickjson.AppendString(append(out, `,"response_id":`...), p.ResponseID)
	out = quickjson.AppendString(append(out, `,"item_id":`...), p.ItemID)
	out = strconv.AppendInt(append(out, `,"output_index":`...), int64(p.OutputIndex), 10)
	return strconv.AppendInt(append(out, `,"content_index":`...), int64(p.ContentIndex), 10)
}

func (e *deltaEvent) room() int { return len(e.Delta) }

func (e *deltaEvent) append(out []byte) ([]byte, bool) {
	out = quickjson.AppendString(append(e.appendPlace(e.appendHead(out)), `,"delta":`...), e.Delta)
	return append(out, '}'), true
}

func (e *textEvent) room() int { return len(e.Text) }

func (e *textEvent) append(out []byte) ([]byte, bool) {
	out = quickjson.AppendString(append(e.appendPlace(e.appendHead(out)), `,"text":`...), e.Text)
	return append(out, '}'), true
}

func (e *partEvent) room() int { return len(`{"type":"","text":""}`) + len(e.Part.Text) }

func (e *partEvent) append(out []byte) ([]byte, bool) {
	out = quickjson.AppendString(append(e.appendPlace(e.appendHead(out)), `,"part":{"type":`...), e.Part.Type)
	out = quickjson.AppendString(append(out, `,"text":`...), e.Part.Text)
	return append(out, "}}"...), true
}

func (e *itemEvent) room() int { return roomOf(e.Item) }

func (e *itemEvent) append(out []byte) ([]byte, bool) {
	out = append(e.appendHead(out), `,"previous_item_id":`...)
	if e.PreviousItemID == nil {
		out = append(out, "null"...)
	} else {
		out = quickjson.AppendString(out, *e.PreviousItemID)
	}
	out, known := appendItem(append(out, `,"item":`...), e.Item)
	return append(out, '}'), known
}

func (e *outputItemEvent) room() int { return roomOf(e.Item) }

func (e *outputItemEvent) append(out []byte) ([]byte, bool) {
	out = quickjson.AppendString(append(e.appendHead(out), `,"response_id":`...), e.ResponseID)
	out = strconv.AppendInt(append(out, `,"output_index":`...), int64(e.OutputIndex), 10)
	out, known := appendItem(append(out, `,"item":`...), e.Item)
	return append(out, '}'), known
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

// appendItem appends a message that was written; false for any other item.
func appendItem(out []byte, item any) ([]byte, bool) {
	m, ok := item.(messageItem)
	if !ok || m.Content == nil {
		return out, false
	}
	out = quickjson.AppendString(append(out, `{"id":`...), m.ID)
	out = quickjson.AppendString(append(out, `,"object":`...), m.Object)
	out = quickjson.AppendString(append(out, `,"type":`...), m.Type)
	out = quickjson.AppendString(append(out, `,"status":`...), m.Status)
	out = quickjson.AppendString(append(out, `,"role":`...), m.Role)
	out = append(out, `,"content":[`...)
	for i, content := range m.Content {
		text, written := content.(textContent)
		if !written {
			return out, false
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = quickjson.AppendString(append(out, `{"type":`...), text.Type)
		out = append(quickjson.AppendString(append(out, `,"text":`...), text.Text), '}')
	}
	return append(out, "]}"...), true
}
