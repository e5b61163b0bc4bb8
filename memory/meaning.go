package memory

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"parlance.dev/parlance/platform/lexicon"
)

// Rules decide when two memories say the same, and when one contradicts the other. The rules need
// no model, and a unique index enforces them:
//
//   - The meaning is the stems of the words in their order, without words that carry no meaning
//     ("I prefer mornings", "The user prefers mornings!"). Memories with the same meaning are the
//     same memory.
//   - The slot is what a memory is about. That of a note is its meaning. That of a statement is its
//     category and attribute. Without an attribute it is one that the text names ("My name is …",
//     "I prefer mornings"), or else the set of stems without like, prefer, not and so on, so that
//     "I like coffee" and "I don't like coffee" are about the same. A newer statement of a slot
//     supersedes the older one.
//
// Similar vectors are not used: "allergic to peanuts" and "allergic to walnuts" are similar but
// different.

// emptyWords carry no meaning in a memory. It is known who it is about.
var emptyWords = words(`a an the i im ive id ill me my mine myself you your we our us he she they them their
his her hers it its
is are am was were be been being do does did to of in on at for with and that this these those please very
really just also so
user users customer customers caller would will has have had as`)

// negations all become the stem "not".
var negations = words("not no never dont doesnt didnt isnt arent wasnt cant cannot wont without neither nor")

// tastes say whether somebody likes a thing.
var tastes = words("like likes liked love loves dislike dislikes hate hates prefer prefers preferred enjoy enjoys")

// singular are things of which everybody has one.
var singular = words(`name email mail phone telephone mobile number address birthday birthdate age job
profession occupation employer company
city country timezone language nickname pronouns`)

// dayTimes are values of the attribute timeOfDay.
var dayTimes = words("morning mornings noon afternoon afternoons evening evenings night nights early late")

// besidesDayTimes are words that may occur together with dayTimes.
var besidesDayTimes = words("appointment appointments call calls slot slots meeting meetings time day times")

func words(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// plainWords are the words of a text in lower case, without apostrophes.
func plainWords(text string) []string {
	text = strings.NewReplacer("'", "", "’", "", "`", "").Replace(strings.ToLower(text))
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// stemsOf are the stems of the words with a meaning, in order.
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

// meaningOf is the digest of the meaning of a text. A text of empty words only is its own meaning.
func meaningOf(text string) string {
	if stems := stemsOf(text); len(stems) > 0 {
		return digest(strings.Join(stems, " "))
	}
	return digest("=" + strings.ToLower(strings.Join(strings.Fields(text), " ")))
}

// slotOf is the slot of a memory, and its attribute, which the text may name when none is given.
func slotOf(kind Kind, text, category, attribute string) (slot, named string) {
	if kind == Note {
		return "note " + meaningOf(text), attribute
	}
	if attribute == "" {
		attribute = attributeIn(text)
	}
	switch {
	case singular[attribute] || attribute == timeOfDay:
		return "statement of " + attribute, attribute // in any category
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

// timeOfDay is the attribute of a preferred time of day.
const timeOfDay = "time of day"

var (
	// owned matches "my name is" and "the user's favourite colour is". The first group is the thing.
	owned = regexp.MustCompile(`(?i)^\W*(?:my|(?:the )?(?:user|customer|caller)(?:'|’)?s|his|her|their)\s+` +
		`((?:(?:first|last|full|favou?rite|preferred)\s+)?[\p{L}-]+(?:\s+(?:number|address|zone|name))?)\s+(?:is|are|:)\s+\S`)
	named = regexp.MustCompile(`(?i)^\W*(?:(?:i am|i'm|i’m|(?:the )?(?:user|customer|caller) is|wants to be) ` +
		`(?:called|named)|(?:please )?call me|(?:the )?name is)\s+\p{L}`)
	later = words("back later tomorrow today tonight again at on in after before when if any anytime every only")
)

// attributeIn is the attribute that a text is about. It is empty when there is none.
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

// categoryOf is the category of a statement without one.
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

// foldName normalizes a category or attribute.
func foldName(name string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || r == '_' }), " "))
}

// singularOf removes a plural s: preferences becomes preference.
func singularOf(category string) string {
	if len(category) > 3 && !strings.HasSuffix(category, "ss") {
		category = strings.TrimSuffix(category, "s")
	}
	return category
}
