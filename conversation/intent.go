package conversation

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"parlance.dev/parlance/platform/lexicon"
)

// questions are sentences that ask for knowledge; "can you" asks for an act.
var questions = regexp.MustCompile(`^\W*(and |but |so |then )?(how|what|when|why|which|who|whose|where|do|does|did|is|are|was|were|has|have|should|am|can i|could i|may i|any|anything|anyone|can one|can people|can it|what's|when's)\b`)

// requests are the parts of a text that may ask for an act.
func requests(text string) string {
	var kept []string
	for rest := text; rest != ""; {
		end := strings.IndexAny(rest, ".!?\n") + 1
		if end == 0 {
			end = len(rest)
		}
		sentence := rest[:end]
		rest = rest[end:]
		if !strings.HasSuffix(sentence, "?") || !questions.MatchString(sentence) || strings.Contains(sentence, "please") {
			kept = append(kept, sentence)
		}
	}
	return strings.Join(kept, " ")
}

// asksFor says whether the user's words ask for what a tool does: they have its name, or the words of it or others for them.
func asksFor(user []string, name string, changes bool) bool {
	asked := map[string]bool{}
	for _, text := range user {
		folded := fold(text)
		if strings.Contains(folded, strings.ToLower(name)) {
			return true
		}
		if changes {
			folded = requests(folded)
		}
		for stem := range stemsOf(folded) {
			asked[stem] = true
		}
	}
	wanted := actionStems(name)
	return len(wanted) > 0 && hasAll(asked, wanted)
}

// hasAll says whether each of the stems, or another word for it, was said.
func hasAll(said map[string]bool, stems []string) bool {
	return !slices.ContainsFunc(stems, func(stem string) bool { return !saidAny(said, stem) })
}

func saidAny(said map[string]bool, stem string) bool {
	if said[stem] {
		return true
	}
	return slices.ContainsFunc(otherWords()[stem], func(other string) bool { return said[other] })
}

// nameWords are the words of a tool's name: cancel_order, cancelOrder and shop__cancel-order have them.
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

// idleWords of names say nothing about what a tool does.
var idleWords = map[string]bool{
	"get": true, "find": true, "fetch": true, "lookup": true, "look": true, "up": true, "list": true, "show": true, "read": true, "query": true, "search": true, "check": true,
	"do": true, "the": true, "a": true, "an": true, "my": true, "for": true, "of": true, "to": true, "by": true, "with": true, "issue": true, "make": true, "process": true, "perform": true, "request": true, "submit": true, "tool": true, "api": true, "v1": true, "v2": true, "now": true, "new": true,
}

// changes says whether a tool that has the name may change something: those that get, find or list do not.
func changes(name string) bool {
	words := nameWords(name)
	return len(words) > 0 && !slices.Contains([]string{"get", "find", "fetch", "lookup", "look", "list", "show", "read", "query", "search", "check", "describe", "count", "skip", "language"}, words[0])
}

// actionStems are the stems of a name that say what the tool does.
func actionStems(name string) []string {
	var stems []string
	words := nameWords(name)
	for _, word := range words {
		if !idleWords[word] {
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

func stemsOf(text string) map[string]bool {
	stems, seen := map[string]bool{}, map[string]bool{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !seen[word] {
			seen[word], stems[lexicon.StemEnglish(word)] = true, true
		}
	}
	return stems
}

// otherWords are what people say for the words of names, as stems.
var otherWords = sync.OnceValue(func() map[string][]string {
	others := map[string][]string{}
	for _, line := range []string{
		"cancel stop abort revoke terminate undo withdraw", "delete remove erase erasure wipe drop clear gone", "create make add open start register set", "forget delete remove erase erasure wipe drop clear gone", "remember note keep store save memory record know", "send mail email message text forward write",
		"email mail e-mail message send", "message text write send", "update change edit modify correct adjust", "refund reimburse money return", "transfer wire pay send move", "book reserve schedule appointment",
		"schedule book arrange plan appointment", "appointment booking meeting slot visit", "pay settle transfer charge", "order buy purchase", "buy order purchase", "end finish stop hang bye goodbye close quit kill",
		"call conversation chat talk bye goodbye hang session", "close end delete cancel terminate", "account profile membership", "reset change forgot new", "subscribe sign join", "unsubscribe stop cancel leave",
		"ticket issue case complaint problem", "invoice bill receipt", "weather forecast temperature rain sunny", "track where status", "status where track state", "turn switch put", "language speak switch",
		"skip wait moment pause hold", "money cash funds euros dollars", "customer client", "upgrade switch change", "escalate human person agent representative somebody someone", "human person agent representative", "ship deliver send", "export download",
	} {
		words := strings.Fields(line)
		for _, word := range words[1:] {
			others[lexicon.StemEnglish(words[0])] = append(others[lexicon.StemEnglish(words[0])], lexicon.StemEnglish(word))
		}
	}
	return others
})

// yesWords begin an answer that agrees.
var yesWords = regexp.MustCompile(`^\W*(yes|yeah|yep|yup|sure|ok|okay|correct|right|please do|do it|do that|go ahead|go on|confirmed?|i confirm|absolutely|of course|certainly|definitely|agreed|fine|ja|jawohl|gerne|bitte|genau|oui|d'accord|bien sur|volontiers|si|claro|vale|por favor|sim|certo|va bene|tak|dobrze|evet|tamam|да|конечно|хорошо|так|ναι|نعم|כן|हाँ|हां|जी|是|好|可以|对|はい|お願い|예|네|vang|dong y|ya)(\W|$)`)

// agreed says whether a short answer says yes to a question that spoke of the tool.
func agreed(user, agent, name string) bool {
	const shortAnswer = 80
	if utf8.RuneCountInString(user) > shortAnswer || !yesWords.MatchString(fold(user)) || !strings.ContainsAny(agent, "?？؟") {
		return false
	}
	if !isEnglish(fold(agent)) {
		return true // what the question was about is in words that no list has; the call is the same
	}
	has := stemsOf(fold(agent))
	return slices.ContainsFunc(actionStems(name), func(stem string) bool { return saidAny(has, stem) }) || strings.Contains(fold(agent), strings.ToLower(name))
}

var englishWords = regexp.MustCompile(`\b(the|you|your|i|is|are|this|that|it|for|of|and|anything|shall|should|would|want)\b`)

// isEnglish says whether a sentence has one of the words that few English ones are without.
func isEnglish(text string) bool { return englishWords.MatchString(text) }
