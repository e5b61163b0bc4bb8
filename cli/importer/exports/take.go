package exports

import (
	"encoding/json"
	"math"
	"strings"
)

// The methods of this file take a member of an object, hand its value to set, and write down what
// became of it. set returns a sentence when the value cannot be used, that of cut when a part of it
// is, else "". A member that is not there, or null, is left alone; one of another type has no
// counterpart.

// text takes a text.
func (n node) text(key, to string, set func(string) string) {
	member := n.at(key)
	if !member.exists() || isUnset(member.value) {
		return
	}
	value, ok := member.value.(string)
	if !ok {
		member.lost("It should be a text.")
		return
	}
	member.settle(to, set(value))
}

// number takes a number.
func (n node) number(key, to string, set func(float64) string) {
	member := n.at(key)
	if !member.exists() || member.value == nil {
		return
	}
	value, ok := numberOf(member.value)
	if !ok {
		member.lost("It should be a number.")
		return
	}
	member.settle(to, set(value))
}

func numberOf(value any) (float64, bool) {
	number, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	parsed, err := number.Float64()
	return parsed, err == nil && !math.IsInf(parsed, 0)
}

// flag takes true or false.
func (n node) flag(key, to string, set func(bool) string) {
	member := n.at(key)
	if !member.exists() || member.value == nil {
		return
	}
	value, ok := member.value.(bool)
	if !ok {
		member.lost("It should be true or false.")
		return
	}
	member.settle(to, set(value))
}

// texts takes a list of texts.
func (n node) texts(key, to string, set func([]string) string) {
	member := n.at(key)
	if !member.exists() || isUnset(member.value) {
		return
	}
	list, ok := textsOf(member.value)
	if !ok {
		member.lost("It should be a list of texts.")
		return
	}
	member.settle(to, set(list))
}

func textsOf(value any) ([]string, bool) {
	list, ok := value.([]any)
	if !ok {
		return nil, false
	}
	texts := make([]string, len(list))
	for i, item := range list {
		if texts[i], ok = item.(string); !ok {
			return nil, false
		}
	}
	return texts, true
}

// settle writes down that a member became a field, or why it did not, or not as a whole.
func (n node) settle(to, why string) {
	switch left, isCut := strings.CutPrefix(why, cutMark); {
	case why == "":
		n.became(to)
	case isCut:
		n.set(Row{Kind: Cut, To: to, Why: left})
	default:
		n.lost("%s", why)
	}
}

// clipped returns a setter that keeps a text's first characters.
func clipped(place *string, most int) func(string) string {
	return func(text string) string {
		text = strings.TrimSpace(text)
		*place = clip(text, most)
		return cutText(text, most)
	}
}

// cutText says that a text is cut to a number of characters; "" when it is not longer.
func cutText(text string, most int) string {
	if clip(text, most) == text {
		return ""
	}
	return cut("It has more than %d characters: the first %d are kept.", most, most)
}

// into returns a setter that always accepts.
func into[T any](place *T) func(T) string {
	return func(value T) string {
		*place = value
		return ""
	}
}
