package openai

import (
	"encoding/json"
	"reflect"
	"testing"
)

var quickFrames = []struct {
	name, data string
	quick      bool
}{
	{"a message", `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"Grüße \"you\"\n"}]}}`, true},
	{"with ids", `{"event_id": "e1", "type": "conversation.item.create", "previous_item_id": "root", "item": {"id": "item_1", "type": "message", "role": "user", "content": [{"type": "input_text", "text": ""}]}}`, true},
	{"an answer", `{"type":"response.create"}`, true},
	{"an answer with an id", `{"event_id":"e1","type":"response.create"}`, true},
	{"an answer with settings", `{"type":"response.create","response":{}}`, false},
	{"an answer with an item", `{"type":"response.create","item":{"type":"message"}}`, false},
	{"a message without an item", `{"type":"conversation.item.create"}`, false},
	{"no front", `{"type":"conversation.item.create","previous_item_id":null,"item":{"type":"message"}}`, false},
	{"two parts", `{"type":"conversation.item.create","item":{"content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}}`, false},
	{"a part of another kind", `{"type":"conversation.item.create","item":{"content":[{"type":"input_image","image_url":"a"}]}}`, false},
	{"no part", `{"type":"conversation.item.create","item":{"content":[]}}`, false},
	{"a result", `{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"a","output":"b"}}`, false},
	{"another event", `{"type":"response.cancel"}`, false},
	{"no type", `{"event_id":"e1"}`, false},
	{"a list", `[]`, false},
}

func TestQuickFrame(t *testing.T) {
	t.Parallel()
	for _, row := range quickFrames {
		if got := quickFrame([]byte(row.data)) != nil; got != row.quick {
			t.Errorf("%s: got %t, want %t", row.name, got, row.quick)
		}
	}
}

// FuzzQuickFrame: what is read quickly is what encoding/json reads, and nothing of it is left out.
func FuzzQuickFrame(f *testing.F) {
	for _, row := range quickFrames {
		f.Add([]byte(row.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := quickFrame(data)
		if got == nil {
			return
		}
		var want frame
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q was read, but is no frame: %v", data, err)
		}
		if want.Item != nil {
			want.item = new(newItem)
			if err := json.Unmarshal(want.Item, want.item); err != nil {
				t.Fatalf("%q has no item: %v", data, err)
			}
			want.Item = nil
		}
		if !reflect.DeepEqual(*got, want) {
			t.Fatalf("%q: got %+v with %+v, want %+v with %+v", data, got, got.item, want, want.item)
		}
	})
}

// BenchmarkFrames is what a client sends in a turn.
func BenchmarkFrames(b *testing.B) {
	d := New(Params{})
	message, answer := []byte(quickFrames[0].data), []byte(quickFrames[2].data)
	b.ReportAllocs()
	for b.Loop() {
		if len(d.Frame(message, true).Commands) != 1 || len(d.Frame(answer, true).Commands) != 1 {
			b.Fatal("no command came of it")
		}
	}
}
