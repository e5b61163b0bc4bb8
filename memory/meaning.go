package memory

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"parlance.dev/parlance/platform/lexicon"
)

// When two memories say the same, and when one contradicts the other, is decided by rules that a
// database can hold with a unique index, and that never need a model:
//
//   - meaning is the stems of the words in their order, without the words that carry none ("I prefer
//     mornings", "The user prefers mornings!"). Equal meanings are the same memory, which is renewed.
//   - slot is what a memory is about. A note's is its meaning. A statement's is its category and
//     attribute; without an attribute, one that the text itself names ("My name is …", "I prefer
//     mornings"); else the set of its stems without like, prefer, not and so on, so that "I like
//     coffee" and "I don't like coffee" are about the same. The newer statement of a slot supersedes.
//
// Similar vectors say nothing here: "allergic to peanuts" and "allergic to walnuts" are near, and both count.

// emptyWords carry no meaning of a memory: who it is about is known.
var emptyWords = words(`a an the i im ive id ill me my mine myself you your we our us he she they them their his her hers it its
is are am was were be been being do does did to of in on at for with and that this these those please very really just also so
user users customer customers caller would will has have had as`)

// negations become one word.
var negations = words("not no never dont doesnt didnt isnt arent wasnt cant cannot wont without neither nor")

// tastes say what somebody thinks of a thing.
var tastes = words("like likes liked love loves dislike dislikes hate hates prefer prefers preferred enjoy enjoys")

// singular are the things of which everybody has one.
var singular = words(`name email mail phone telephone mobile number address birthday birthdate age job profession occupation employer company
city country timezone language nickname pronouns`)

// dayTimes are one choice, whatever it is for.
var dayTimes = words("morning mornings noon afternoon afternoons evening evenings night nights early late")

// besidesDayTimes may stand beside them.
var besidesDayTimes = words("appointment appointments call calls slot slots meeting meetings time day times")

func words(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// plainWords are the words of a text in lower case; "don't" is dont.
func plainWords(text string) []string {
	text = strings.NewReplacer("'", "", "’", "", "`", "").Replace(strings.ToLower(text))
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// stemsOf are the stems that carry meaning, in order.
func stemsOf(text string) []string {
	var stems []string
	for _, word := range plainWords(text) {
		switch {
		case negations[word]:
			stems = append(stems, "not")
		case !emptyWords[word]:
			stems = append(stems, lexicon.StemEnglish(word))
		}
	}
	return stems
}

// meaningOf is what a text says. A text without any such word says itself.
func meaningOf(text string) string {
	if stems := stemsOf(text); len(stems) > 0 {
		return digest(strings.Join(stems, " "))
	}
	return digest("=" + strings.ToLower(strings.Join(strings.Fields(text), " ")))
}

// slotOf is what a memory is about, and the attribute that the text names when none was given.
func slotOf(kind Kind, text, category, attribute string) (slot, named string) {
	if kind == Note {
		return "note " + meaningOf(text), attribute
	}
	if attribute == "" {
		attribute = attributeIn(text)
	}
	switch {
	case singular[attribute] || attribute == timeOfDay:
		return "statement of " + attribute, attribute // whatever the category is called
	case attribute != "":
		return "statement of " + digest(singularOf(category)+"\n"+attribute), attribute
	}
	taste := ""
	var about []string
	for _, word := range plainWords(text) {
		switch {
		case tastes[word]:
			taste = "taste"
		case !emptyWords[word] && !negations[word]:
			about = append(about, lexicon.StemEnglish(word))
		}
	}
	if len(about) == 0 {
		return "statement " + meaningOf(text), ""
	}
	slices.Sort(about)
	return "statement about " + digest(taste+"\n"+strings.Join(slices.Compact(about), " ")), ""
}

// timeOfDay is the attribute of the time that somebody prefers.
const timeOfDay = "time of day"

var (
	// owned is "my name is", "the user's favourite colour is"; what is owned is the second group.
	owned = regexp.MustCompile(`(?i)^\W*(?:my|(?:the )?(?:user|customer|caller)(?:'|’)?s|his|her|their)\s+((?:(?:first|last|full|favou?rite|preferred)\s+)?[\p{L}-]+(?:\s+(?:number|address|zone|name))?)\s+(?:is|are|:)\s+\S`)
	named = regexp.MustCompile(`(?i)^\W*(?:(?:i am|i'm|i’m|(?:the )?(?:user|customer|caller) is|wants to be) (?:called|named)|(?:please )?call me|(?:the )?name is)\s+\p{L}`)
	later = words("back later tomorrow today tonight again at on in after before when if any anytime every only")
)

// attributeIn is the thing of which somebody has one and that the text is about; empty: none.
func attributeIn(text string) string {
	if found := owned.FindStringSubmatch(text); found != nil {
		thing := foldName(found[1])
		first, last, _ := strings.Cut(thing, " ")
		switch {
		case singular[thing]:
			return thing
		case strings.HasPrefix(first, "favo") || first == "preferred":
			return thing
		case last != "" && singular[strings.ReplaceAll(thing, " ", "")]:
			return strings.ReplaceAll(thing, " ", "") // time zone
		case last != "" && singular[first]:
			return first // phone number, e-mail address
		}
	}
	if at := named.FindStringIndex(text); at != nil {
		if rest := plainWords(text[at[1]-1:]); len(rest) > 0 && !later[rest[0]] && !allDigits(rest[0]) {
			return "name"
		}
	}
	chosen, taste := false, false
	for _, word := range plainWords(text) {
		switch {
		case dayTimes[word]:
			chosen = true
		case tastes[word]:
			taste = true
		case !emptyWords[word] && !negations[word] && !besidesDayTimes[word]:
			return ""
		}
	}
	if chosen && taste {
		return timeOfDay
	}
	return ""
}

func allDigits(word string) bool { return strings.Trim(word, "0123456789") == "" }

// categoryOf is the category of a statement that was given none.
func categoryOf(attribute, text string) string {
	if attribute == timeOfDay || strings.HasPrefix(attribute, "favo") || strings.HasPrefix(attribute, "preferred") {
		return "preference"
	}
	if singular[attribute] {
		return "identity"
	}
	if slices.ContainsFunc(plainWords(text), func(word string) bool { return tastes[word] }) {
		return "preference"
	}
	return "general"
}

// foldName is a category or attribute as it is kept and compared.
func foldName(name string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || r == '_' }), " "))
}

// singularOf makes preferences and preference one.
func singularOf(category string) string {
	if len(category) > 3 && !strings.HasSuffix(category, "ss") {
		category = strings.TrimSuffix(category, "s")
	}
	return category
}
