package main

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// score is how much of an expectation a text has, each from 0 to 1.
type score struct{ Pairs, Words float64 }

// compare scores a text against an expectation, which must have two words.
func compare(expected, text string) score {
	want, got := wordsOf(expected), wordsOf(text)
	return score{Pairs: share(pairs(want), pairs(got)), Words: share(want, got)}
}

// share is the part of want that is in got, each as often as it is in want.
func share(want, got []string) float64 {
	left := map[string]int{}
	for _, item := range got {
		left[item]++
	}
	found := 0
	for _, item := range want {
		if left[item] > 0 {
			left[item]--
			found++
		}
	}
	return float64(found) / float64(len(want))
}

func pairs(words []string) []string {
	var out []string
	for i := 1; i < len(words); i++ {
		out = append(out, words[i-1]+" "+words[i])
	}
	return out
}

// superscripts are the marks of footnotes, which are words of their own.
var superscripts = strings.NewReplacer("¹", " 1 ", "²", " 2 ", "³", " 3 ")

func wordsOf(text string) []string {
	var words []string
	word := ""
	end := func() {
		if word != "" {
			words = append(words, word)
		}
		word = ""
	}
	for _, r := range strings.ToLower(norm.NFKC.String(superscripts.Replace(text))) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			words = append(words, string(r))
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			word += string(r)
		default:
			end()
		}
	}
	end()
	return words
}

// mean of the scores of some pages.
func mean(scores []score) score {
	var sum score
	for _, s := range scores {
		sum.Pairs += s.Pairs / float64(len(scores))
		sum.Words += s.Words / float64(len(scores))
	}
	return sum
}
