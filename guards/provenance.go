package guards

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// minArgumentBytes is the shortest argument that is looked for. Shorter ones are in every text.
const minArgumentBytes = 2

// addresses matches URLs, mail addresses, telephone and account numbers, and names of hosts.
var addresses = regexp.MustCompile(`https?://[^\s"'<>)]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\+?\d[\d ()/-]{5,}\d|` +
	`\b[a-z]{2}\d{2}[a-z0-9 ]{10,32}\b|\b[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|example|test|evil|ru|cn|xyz|info|` +
	`biz|co|de|app|dev)\b`)

// provenance is where a call's arguments come from.
type provenance struct {
	// user: an argument is in the user's words. outside: one is in a text from outside and in no
	// other. instructs: that text may instruct a model, and no other text has the argument.
	// address: the argument is an address, and the user named another one of its kind.
	user, outside, instructs, address bool
}

// provenance looks for each argument in the user's words, in the service's own texts and in the
// texts from outside.
func (r Request) provenance(arguments json.RawMessage) (from provenance) {
	var value any
	if json.Unmarshal(arguments, &value) != nil {
		return from
	}
	var instructing, others, user, own []string
	for _, text := range r.Outside.texts {
		if text.instructs || text.mayInstruct {
			for _, view := range text.views {
				instructing = append(instructing, view.oneLine())
			}
		} else {
			others = append(others, text.views[0].oneLine())
		}
	}
	for _, text := range r.User {
		user = append(user, inOneLine(fold(text)))
	}
	for _, text := range slices.Concat(r.Own, r.Instructions) {
		own = append(own, inOneLine(fold(text)))
	}
	in := func(texts []string, word string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return hasWord(text, word) })
	}
	for _, leaf := range leaves(value) {
		folded := inOneLine(strings.TrimSpace(fold(leaf)))
		places := addresses.FindAllString(folded, 20)
		words := append(shingles(folded), places...)
		if len(folded) >= minArgumentBytes && len(folded) <= 200 {
			words = append(words, folded)
		}
		for _, word := range words {
			if in(user, word) {
				from.user = true
				continue
			}
			if in(own, word) {
				continue
			}
			if r.Outside.values[word] && !r.Outside.instructs {
				continue
			}
			instructs, known := in(instructing, word), in(others, word)
			from.instructs = from.instructs || instructs && !known
			from.outside = from.outside || instructs || known
			if (instructs || known) && slices.Contains(places, word) {
				from.address = from.address || slices.ContainsFunc(r.User, func(text string) bool { return hasAddressLike(fold(text), word) })
			}
		}
	}
	return from
}

// hasAddressLike reports whether a text has another address of the same kind: mail, URL, or digits
// such as an account's.
func hasAddressLike(text, address string) bool {
	kind := func(one string) int {
		switch {
		case strings.Contains(one, "@"):
			return 1
		case strings.Contains(one, "://"):
			return 2
		case strings.ContainsFunc(one, unicode.IsDigit):
			return 3
		}
		return 4
	}
	return slices.ContainsFunc(addresses.FindAllString(text, 20), func(one string) bool {
		return one != address && kind(one) == kind(address)
	})
}

// shingles returns the runs of six words in a long argument.
func shingles(text string) []string {
	const run, most = 6, 200
	words := strings.Fields(text)
	var all []string
	for i := 0; i+run <= len(words) && i < most; i++ {
		all = append(all, strings.Join(words[i:i+run], " "))
	}
	return all
}
