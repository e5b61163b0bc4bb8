package pii

import (
	"encoding/json"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/jsonvalue"
)

// maxNameBytes bounds the name of a member that is read as the words before its value.
const maxNameBytes = 64

// Document is Text for a text that may be JSON: JSON stays JSON. In it, the name of a member counts
// as the words before the member's value, and a number that is personal data becomes a string.
func (r Redactor) Document(document string) string {
	if r.all {
		return r.Text(document)
	}
	if !r.Redacts() || !strings.ContainsFunc(document, isHint) {
		return document
	}
	if raw := jsonvalue.Raw(document); raw != nil && !jsonvalue.DeeperThan(jsonvalue.Decode(raw), jsonvalue.MaxDepth) {
		return string(r.JSON(raw))
	}
	return r.Text(document)
}

// JSON is Document for JSON. It returns the very same bytes when nothing is found.
func (r Redactor) JSON(raw json.RawMessage) json.RawMessage {
	if !r.Redacts() || len(raw) == 0 {
		return raw
	}
	if r.all {
		return json.RawMessage("{}")
	}
	value, changed := r.value("", jsonvalue.Decode(raw))
	if !changed {
		return raw
	}
	return json.RawMessage(jsonvalue.Compact(value))
}

// value redacts a decoded value. name is that of the member whose value it is.
func (r Redactor) value(name string, value any) (clean any, changed bool) {
	switch v := value.(type) {
	case string:
		clean := r.member(name, v)
		return clean, clean != v
	case json.Number:
		if clean := r.member(name, v.String()); clean != v.String() {
			return clean, true
		}
	case []any:
		for i := range v {
			one, found := r.value(name, v[i])
			v[i], changed = one, changed || found
		}
		return v, changed
	case map[string]any:
		return r.object(v)
	}
	return value, false
}

func (r Redactor) object(object map[string]any) (clean map[string]any, changed bool) {
	clean = make(map[string]any, len(object))
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		one, found := r.value(name, object[name])
		free := r.Text(name)
		changed = changed || found || free != name
		for _, taken := clean[free]; taken; _, taken = clean[free] { // two names may be alike now
			free += "_"
		}
		clean[free] = one
	}
	return clean, changed
}

// member redacts the value of a member.
func (r Redactor) member(name, value string) string {
	words := name[:min(len(name), maxNameBytes)] + ": "
	words = strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToValidUTF8(words, ""))
	for {
		var found []Match
		for _, m := range r.Find(words + value) {
			if m.To > len(words) {
				found = append(found, Match{Kind: m.Kind, From: max(0, m.From-len(words)), To: m.To - len(words)})
			}
		}
		if len(found) == 0 {
			return value
		}
		value = replace(value, found)
	}
}
