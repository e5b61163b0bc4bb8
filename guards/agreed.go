package guards

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// agreement are the words of which an answer that agrees has one at least.
var agreement = wordSet(`yes yeah yep yup sure ok okay correct right please do go confirm confirmed absolutely course
	certainly definitely agreed fine ja jawohl gerne bitte genau oui accord bien volontiers si claro vale favor sim certo
	bene tak dobrze evet tamam да конечно хорошо так ναι نعم כן हाँ हां जी 是 是的 好 好的 可以 对 对的 はい お願い
	お願いします 예 네 vang dong ya`)

// beside are the words that may stand beside them.
var beside = wordSet(`i it that this those these one all the a my your you now so ahead on of thanks thank sur d por va y
	das mach es danke merci gracias`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[fold(word)] = true
	}
	return set
}

// englishWords are words that few English sentences lack.
var englishWords = regexp.MustCompile(`\b(?:the|you|your|i|is|are|this|that|it|for|of|and|anything|shall|should|would|want)\b`)

// Agreed reports whether an answer of the user says yes, and nothing that is not known to go with a
// yes, to a question of the agent that has one of the words that it must be about. In other
// languages than English the words are not looked for in the question.
func Agreed(user, agent string, about ...string) bool {
	if !isYes(user, about) || !strings.ContainsAny(agent, "?？؟") {
		return false
	}
	asked := fold(agent)
	return !englishWords.MatchString(asked) ||
		slices.ContainsFunc(about, func(word string) bool { return strings.Contains(asked, word) })
}

// isYes reports whether an answer consists of words of agreement, words that may stand beside them,
// and words of what it is about: "Yes, please delete it", but not "Yes, but do not delete it".
func isYes(answer string, about []string) bool {
	notInWord := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }
	agrees := false
	for word := range strings.FieldsFuncSeq(fold(answer), notInWord) {
		if !agreement[word] && !beside[word] && !slices.Contains(about, word) {
			return false
		}
		agrees = agrees || agreement[word]
	}
	return agrees
}

// NameWords returns the words of a tool's name, such as cancel_order, cancelOrder or
// shop__cancel-order, in lower case.
func NameWords(name string) []string {
	name = wordBegins.ReplaceAllString(name, "${1}_${2}")
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' })
}

// wordBegins matches where a word begins with a capital.
var wordBegins = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
