package extractive

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// stopWords carry no subject: function words, and what people wrap a question in.
var stopWords = set(`
a an the this that these those there here it its itself i me my mine we us our ours you your yours he him his she her
hers they them their theirs one ones someone anyone something anything everything nothing thing things
and or but if then else than so because as of at by for with about against between into through during before after
above below to from up down in out on off over under again once per via within without upon onto toward towards
am is are was were be been being do does did doing done have has had having can could will would shall should may might
must ought let lets not no nor only own same too very just also ever never even still yet already
what which who whom whose when where why how whether
whats wheres whos hows im ive id ill youre youve isnt arent dont doesnt didnt cant couldnt wont wouldnt shouldnt
all any both each few more most other some such much many lot lots long often far
please pls tell show give explain describe know want wanna like need help find say says said ask asking question answer
hello hi hey thanks thank thx ok okay yes yeah sure well good morning evening afternoon day's bye goodbye greetings
get got getting take takes took make makes made go goes going happen happens happened mean means meant
work works use uses possible able exactly really actually currently right now kind sort way ways
info information detail details regarding concerning anyway maybe perhaps
`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		out[word] = true
	}
	return out
}

// tokens are the lower-case words of a text: letters and digits, with ' . - _ inside a word
// opened up ("e-mail" is e, mail and email) so that spellings meet.
func tokens(text string) []string {
	text = strings.NewReplacer("'", "", "’", "").Replace(strings.ToLower(text))
	var out []string
	for _, chunk := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '-'
	}) {
		parts := strings.FieldsFunc(chunk, func(r rune) bool { return r == '-' })
		out = append(out, parts...)
		if len(parts) == 2 {
			out = append(out, strings.Join(parts, ""))
		}
	}
	return out
}

// contentWords are the distinct stems of a question's words that carry its subject, in order.
// Joined spellings of hyphenated words are left out here: the question need not match twice.
func contentWords(question string) []string {
	var out []string
	seen := map[string]bool{}
	for _, token := range tokens(strings.ReplaceAll(question, "-", " ")) {
		stem := stem(token)
		if stopWords[token] || seen[stem] || len([]rune(token)) < 2 && !unicode.IsDigit([]rune(token)[0]) {
			continue
		}
		seen[stem] = true
		out = append(out, stem)
	}
	return out
}

// asking begin a question whose next words say what kind of thing is asked for.
var (
	asking      = set("what which whose how")
	beforeFocus = set("is are was were the a an many much")
)

// focusOf is the stem of the word behind "which", "what is the" or "how", which says what is asked
// for; empty: no such word carries a subject ("How long …"), or it is a deed, for which people have
// many words ("Who …", "When …").
func focusOf(question string) string {
	all := tokens(strings.ReplaceAll(question, "-", " "))
	for i, token := range all {
		if !asking[token] {
			continue
		}
		rest := all[i+1:]
		for len(rest) > 0 && beforeFocus[rest[0]] {
			rest = rest[1:]
		}
		if len(rest) == 0 || stopWords[rest[0]] {
			return ""
		}
		return stem(rest[0])
	}
	return ""
}

// quantities begin questions whose answer has a number.
var quantities = regexp.MustCompile(`(?i)\b(?:when|how (?:much|many|long|often|soon|far|late|early|old|big|large|fast)|` +
	`what (?:time|date|price)|which (?:day|date)|cost|price|fee|deadline)\b`)

func asksQuantity(question string) bool { return quantities.MatchString(question) }

// irregular are common forms that no stemmer brings together.
var irregular = map[string]string{
	"began": "begin", "begun": "begin", "bought": "buy", "broke": "break", "broken": "break", "brought": "bring",
	"built": "build", "chose": "choose", "chosen": "choose", "kept": "keep", "left": "leave", "lost": "lose",
	"made": "make", "met": "meet", "paid": "pay", "ran": "run", "sent": "send", "sold": "sell", "spent": "spend",
	"spoke": "speak", "spoken": "speak", "stolen": "steal", "taught": "teach", "won": "win",
	"written": "write", "wrote": "write",
	"children": "child", "feet": "foot", "men": "man", "people": "person", "women": "woman",
}

// maxStemBytes bounds what is stemmed: nothing longer is an English word.
const maxStemBytes = 64

func stem(token string) string {
	if len(token) > maxStemBytes {
		return token
	}
	if base, ok := irregular[token]; ok {
		token = base
	}
	return english.Stem(token, true)
}
