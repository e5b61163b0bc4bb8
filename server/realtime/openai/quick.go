package openai

import "parlance.dev/parlance/platform/quickjson"

// quickFrame reads the two events that most of what clients send is, a message and the wish for an answer without
// settings, in the shape in which SDKs send them. Whatever else, and any doubt, is nil: then encoding/json has the word.
func quickFrame(data []byte) *frame {
	r := quickjson.New(data)
	var f frame
	seen := quickjson.Members(&r, frameMembers, &f)
	const withType, withItem = 1, 2
	switch {
	case seen&withType == 0 || !r.End():
	case f.Type == "conversation.item.create" && seen&withItem != 0, f.Type == "response.create" && seen&withItem == 0:
		return &f
	}
	return nil
}

type reader = quickjson.Reader

// What such a frame, its item and a part of that one's content may have.
var (
	frameMembers = []quickjson.Member[frame]{
		{Name: "type", Read: func(r *reader, f *frame) bool { return r.String(&f.Type) }},
		{Name: "item", Read: func(r *reader, f *frame) bool {
			f.item = new(newItem)
			return quickjson.Members(r, itemMembers, f.item) != 0
		}},
		{Name: "event_id", Read: func(r *reader, f *frame) bool { return r.String(&f.EventID) }},
		{Name: "previous_item_id", Read: func(r *reader, f *frame) bool { return r.String(&f.PreviousItemID) }},
	}
	itemMembers = []quickjson.Member[newItem]{
		{Name: "id", Read: func(r *reader, i *newItem) bool { return r.String(&i.ID) }},
		{Name: "type", Read: func(r *reader, i *newItem) bool { return r.String(&i.Type) }},
		{Name: "role", Read: func(r *reader, i *newItem) bool { return r.String(&i.Role) }},
		{Name: "content", Read: quickContent},
	}
	contentMembers = []quickjson.Member[newContent]{
		{Name: "type", Read: func(r *reader, c *newContent) bool { return r.String(&c.Type) }},
		{Name: "text", Read: func(r *reader, c *newContent) bool {
			var text []byte
			is := r.Words(&text)
			c.Text = string(text)
			return is
		}},
	}
)

// quickContent reads a list of one part.
func quickContent(r *reader, i *newItem) bool {
	i.Content = make([]newContent, 1)
	return r.Take('[') && quickjson.Members(r, contentMembers, &i.Content[0]) != 0 && r.Take(']')
}
