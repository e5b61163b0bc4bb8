package guards

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// yes matches the beginning of an answer that agrees.
var yes = regexp.MustCompile(`^\W*(?:` +
	`yes|yeah|yep|yup|sure|ok|okay|correct|right|please do|do it|do that|go ahead|go on|confirmed?|` +
	`i confirm|absolutely|of course|certainly|definitely|agreed|fine|ja|jawohl|gerne|bitte|genau|oui|` +
	`d'accord|bien sur|volontiers|si|claro|vale|por favor|sim|certo|va bene|tak|dobrze|evet|tamam|да|` +
	`конечно|хорошо|так|ναι|نعم|כן|हाँ|हां|जी|是|好|可以|对|はい|お願い|예|네|vang|dong y|ya` + `)(?:\W|$)`)

// englishWords are words that few English sentences lack.
var englishWords = regexp.MustCompile(`\b(?:the|you|your|i|is|are|this|that|it|for|of|and|anything|shall|should|would|want)\b`)

// Agreed reports whether a short answer of the user says yes to a question of the agent that has
// one of the words that it must be about. In other languages than English the words are not looked
// for.
func Agreed(user, agent string, about ...string) bool {
	const shortAnswer = 80
	if utf8.RuneCountInString(user) > shortAnswer || !yes.MatchString(fold(user)) || !strings.ContainsAny(agent, "?？؟") {
		return false
	}
	asked := fold(agent)
	return !englishWords.MatchString(asked) ||
		slices.ContainsFunc(about, func(word string) bool { return strings.Contains(asked, word) })
}

// NameWords returns the words of a tool's name, such as cancel_order, cancelOrder or
// shop__cancel-order, in lower case.
func NameWords(name string) []string {
	name = wordBegins.ReplaceAllString(name, "${1}_${2}")
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' })
}

// wordBegins matches where a word begins with a capital.
var wordBegins = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
