package guards

import (
	"embed"
	"io/fs"
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

// wordFiles have lists of words, one a line. In synonyms.txt the words of a line are what people
// say for its first one; in lookalikes.txt the letters of a line look like its first one.
//
//go:embed words/*.txt
var wordFiles embed.FS

// linesOf returns the lines of an embedded file.
func linesOf(files fs.FS, name string) []string {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // the files are part of the package
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

var (
	// stopWords say nothing about what a tool does.
	stopWords = linesOf(wordFiles, "words/stop.txt")
	// readingWords begin the names of tools that change nothing.
	readingWords = linesOf(wordFiles, "words/reading.txt")
)

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
		if !slices.Contains(stopWords, word) {
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
	for _, line := range linesOf(wordFiles, "words/synonyms.txt") {
		words := strings.Fields(line)
		for _, word := range words[1:] {
			others[lexicon.StemEnglish(words[0])] = append(others[lexicon.StemEnglish(words[0])], lexicon.StemEnglish(word))
		}
	}
	return others
})
