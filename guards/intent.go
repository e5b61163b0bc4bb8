package guards

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// questions matches sentences that ask for knowledge. "can you" asks for an act.
var questions = regexp.MustCompile(`^\W*(and |but |so |then )?(how|what|when|why|which|who|whose|where|do|does|` +
	`did|is|are|was|were|has|have|should|am|can i|could i|may i|any|anything|anyone|can one|can people|can it|` +
	`what's|when's)\b`)

// requests returns the sentences of a text that may ask for an act.
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

// asksFor reports whether the user's words ask for what a tool does: they have the tool's name, its
// words, or synonyms of them.
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

// yesWords matches the beginning of an answer that agrees.
var yesWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\W*(` + strings.Join(linesOf(wordFiles, "words/yes.txt"), "|") + `)(\W|$)`)
})

// Agreed reports whether a short answer of the user says yes to a question of the agent that spoke
// of the tool.
func Agreed(user, agent, name string) bool {
	const shortAnswer = 80
	if utf8.RuneCountInString(user) > shortAnswer || !yesWords().MatchString(fold(user)) || !strings.ContainsAny(agent, "?？؟") {
		return false
	}
	if !isEnglish(fold(agent)) {
		return true // the words of other languages are not known; the call is the same
	}
	has := stemsOf(fold(agent))
	return strings.Contains(fold(agent), strings.ToLower(name)) ||
		slices.ContainsFunc(actionStems(name), func(stem string) bool { return saidOrSynonym(has, stem) })
}

// englishWords are words that few English sentences lack.
var englishWords = regexp.MustCompile(`\b(the|you|your|i|is|are|this|that|it|for|of|and|anything|shall|should|would|want)\b`)

// isEnglish reports whether a sentence has an English word.
func isEnglish(text string) bool { return englishWords.MatchString(text) }
