package poppler

import (
	"slices"
	"strings"
	"unicode"
)

// emsOf estimates the width of a text in sizes of its letters. It is right to a tenth or so.
func emsOf(text string) float64 {
	ems := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune("ijlIft.,:;'!|()[] ", r):
			ems += 0.28
		case strings.ContainsRune("mwMW%@—", r):
			ems += 0.84
		case r >= '\u2E80' && r <= '\uFFEF':
			ems++
		case unicode.IsUpper(r):
			ems += 0.67
		case unicode.IsMark(r):
		default:
			ems += 0.52
		}
	}
	return ems
}

// inReadingOrder gives the letters of a piece as they are read. pdftohtml writes them as they
// stand, from left to right.
func inReadingOrder(text string) string {
	if !strings.ContainsFunc(text, isRightToLeft) {
		return text
	}
	letters := []rune(text)
	leftward := 0
	for _, r := range letters {
		switch {
		case isRightToLeft(r):
			leftward++
		case unicode.IsLetter(r):
			leftward--
		}
	}
	if leftward < 0 {
		reverseRuns(letters, isRightToLeft, isLeftToRight)
		return string(letters)
	}
	slices.Reverse(letters)
	reverseRuns(letters, isLeftToRight, isRightToLeft)
	return string(letters)
}

// reverseRuns reverses what stands from one letter to the last before an other one.
func reverseRuns(letters []rune, isOne, isOther func(rune) bool) {
	for start := 0; start < len(letters); start++ {
		if !isOne(letters[start]) {
			continue
		}
		last := start
		for i := start; i < len(letters) && !isOther(letters[i]); i++ {
			if isOne(letters[i]) {
				last = i
			}
		}
		slices.Reverse(letters[start : last+1])
		start = last
	}
}

func isRightToLeft(r rune) bool {
	const first = '\u0590' // of Hebrew; most texts have none of these letters
	return r >= first && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana) && unicode.IsLetter(r)
}

func isLeftToRight(r rune) bool {
	return unicode.IsDigit(r) || unicode.IsLetter(r) && !isRightToLeft(r)
}
