package guards

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"parlance.dev/parlance/platform/lexicon"
)

// nameWords returns the words of a tool's name, such as cancel_order, cancelOrder or
// shop__cancel-order.
func nameWords(name string) []string {
	var words []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	before := rune(0)
	for _, r := range name {
		if r == '_' || r == '-' || unicode.IsUpper(r) && unicode.IsLower(before) {
			flush()
		}
		if r != '_' && r != '-' {
			word.WriteRune(r)
		}
		before = r
	}
	flush()
	return words
}

// stopWords say nothing about what a tool does.
var stopWords = map[string]bool{
	"get": true, "find": true, "fetch": true, "lookup": true, "look": true, "up": true, "list": true, "show": true,
	"read": true, "query": true, "search": true, "check": true,
	"do": true, "the": true, "a": true, "an": true, "my": true, "for": true, "of": true, "to": true, "by": true,
	"with": true, "issue": true, "make": true, "process": true, "perform": true, "request": true, "submit": true,
	"tool": true, "api": true, "v1": true, "v2": true, "now": true, "new": true,
}

// readingWords begin the names of tools that change nothing.
var readingWords = []string{
	"get", "find", "fetch", "lookup", "look", "list", "show", "read", "query", "search", "check", "describe",
	"count", "skip", "language",
}

// Changes reports whether a tool of this name may change something. Tools whose names begin with a
// word such as get, find or list do not.
func Changes(name string) bool {
	words := nameWords(name)
	return len(words) > 0 && !slices.Contains(readingWords, words[0])
}

// actionStems returns the stems of a name's words that say what the tool does.
func actionStems(name string) []string {
	var stems []string
	words := nameWords(name)
	for _, word := range words {
		if !stopWords[word] {
			stems = append(stems, lexicon.StemEnglish(word))
		}
	}
	if len(stems) == 0 {
		for _, word := range words {
			stems = append(stems, lexicon.StemEnglish(word))
		}
	}
	return stems
}

// stemsOf returns the stems of a text's words.
func stemsOf(text string) map[string]bool {
	stems, seen := map[string]bool{}, map[string]bool{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !seen[word] {
			seen[word], stems[lexicon.StemEnglish(word)] = true, true
		}
	}
	return stems
}

// hasAll reports whether each of the stems, or a synonym of it, was said.
func hasAll(said map[string]bool, stems []string) bool {
	return !slices.ContainsFunc(stems, func(stem string) bool { return !saidOrSynonym(said, stem) })
}

// saidOrSynonym reports whether the stem, or a synonym of it, was said.
func saidOrSynonym(said map[string]bool, stem string) bool {
	if said[stem] {
		return true
	}
	return slices.ContainsFunc(synonyms()[stem], func(other string) bool { return said[other] })
}

// synonyms returns what people say for the words of tools' names, as stems.
var synonyms = sync.OnceValue(func() map[string][]string {
	others := map[string][]string{}
	for _, line := range []string{
		"cancel stop abort revoke terminate undo withdraw", "delete remove erase erasure wipe drop clear gone",
		"create make add open start register set", "forget delete remove erase erasure wipe drop clear gone",
		"remember note keep store save memory record know", "send mail email message text forward write",
		"email mail e-mail message send", "message text write send", "update change edit modify correct adjust",
		"refund reimburse money return", "transfer wire pay send move", "book reserve schedule appointment",
		"schedule book arrange plan appointment", "appointment booking meeting slot visit",
		"pay settle transfer charge", "order buy purchase", "buy order purchase",
		"end finish stop hang bye goodbye close quit kill",
		"call conversation chat talk bye goodbye hang session", "close end delete cancel terminate",
		"account profile membership", "reset change forgot new", "subscribe sign join",
		"unsubscribe stop cancel leave",
		"ticket issue case complaint problem", "invoice bill receipt", "weather forecast temperature rain sunny",
		"track where status", "status where track state", "turn switch put", "language speak switch",
		"skip wait moment pause hold", "money cash funds euros dollars", "customer client",
		"upgrade switch change", "escalate human person agent representative somebody someone",
		"human person agent representative", "ship deliver send", "export download",
	} {
		words := strings.Fields(line)
		for _, word := range words[1:] {
			others[lexicon.StemEnglish(words[0])] = append(others[lexicon.StemEnglish(words[0])], lexicon.StemEnglish(word))
		}
	}
	return others
})
