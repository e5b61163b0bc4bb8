package lexicon

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

const (
	// sampleBytes is how much of a text Detect reads, from three places.
	sampleBytes = 6000
	// enoughWords is how many stop words decide, unless they are most of a short text.
	enoughWords = 4
)

// Detect is the code of the language that most of a text is in; empty when that cannot be told: too
// little text, or a language that is not among those known. It looks at scripts first, then at
// whose stop words occur, a word of several languages counting less for each. Letters tell Polish,
// and Russian that is too short for stop words.
func Detect(text string) string {
	sample := sampleOf(text)
	counts, letters := scripts(sample)
	if letters == 0 {
		return ""
	}
	if code := byScript(counts, letters, sample); code != "" {
		return code
	}
	if isPolish(sample) {
		return "pl"
	}
	code := byStops(sample)
	if code == "" && counts[1]*2 > letters && isRussian(sample) {
		return "ru"
	}
	return code
}

// isRussian judges a text in Cyrillic that is too short for stop words, by letters that Russian has
// or lacks.
func isRussian(sample string) bool {
	sample = strings.ToLower(sample)
	return strings.ContainsAny(sample, "ыэё") && !strings.ContainsAny(sample, "ўі") || !strings.ContainsAny(sample, "ъўіїєґђјљњћџѓќѕ")
}

// isPolish is told by letters in one word of four, so that a name in another language's text does
// not.
func isPolish(sample string) bool {
	total, polish := 0, 0
	sample = strings.ToLower(sample)
	for word := range strings.FieldsFuncSeq(sample, func(r rune) bool { return !unicode.IsLetter(r) }) {
		total++
		if strings.ContainsAny(word, "ąęłśźż") {
			polish++
		}
	}
	return polish >= 2 && polish*4 >= total && strings.ContainsAny(sample, "łżź")
}

// sampleOf is the beginning, the middle and the end of a long text.
func sampleOf(text string) string {
	if len(text) <= sampleBytes {
		return text
	}
	third := sampleBytes / 3
	middle := len(text)/2 - third/2
	return strings.ToValidUTF8(text[:third]+" "+text[middle:middle+third]+" "+text[len(text)-third:], "")
}

// script is a writing system that Detect counts.
type script struct {
	table *unicode.RangeTable
	// code is the one language that it decides; empty: it decides none.
	code string
}

var known = []script{
	{unicode.Latin, ""},
	{unicode.Cyrillic, ""},
	{unicode.Han, "zh"},
	{unicode.Hiragana, "ja"},
	{unicode.Katakana, "ja"},
	{unicode.Hangul, "ko"},
	{unicode.Greek, "el"},
	{unicode.Thai, "th"},
	{unicode.Hebrew, "he"},
	{unicode.Arabic, "ar"},
	{unicode.Devanagari, "hi"},
	{unicode.Armenian, "hy"},
	{unicode.Georgian, "ka"},
}

// scripts counts the letters of each known script.
func scripts(sample string) (counts []int, letters int) {
	counts = make([]int, len(known))
	for _, r := range sample {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		for i, script := range known {
			if unicode.Is(script.table, r) {
				counts[i]++
				break
			}
		}
	}
	return counts, letters
}

// byScript decides where the script does. A character of Chinese or Korean says as much as two
// letters; some kana make Han Japanese.
func byScript(counts []int, letters int, sample string) string {
	byCode := map[string]int{}
	for i, script := range known {
		byCode[script.code] += counts[i]
	}
	cjk := byCode["zh"] + byCode["ja"]
	switch {
	case cjk*4 > letters && byCode["ja"]*10 > cjk:
		return "ja"
	case byCode["zh"]*4 > letters:
		return "zh"
	case byCode["ko"]*4 > letters:
		return "ko"
	case byCode["ar"]*2 > letters && strings.ContainsAny(sample, "گچپژ"):
		return "fa"
	}
	for _, script := range known {
		if script.code != "" && byCode[script.code]*2 > letters {
			return script.code
		}
	}
	if counts[1]*2 > letters && strings.ContainsAny(strings.ToLower(sample), "іїєґ") {
		return "uk"
	}
	return ""
}

// owners says whose stop word a word is.
var owners = func() map[string][]string {
	owners := map[string][]string{}
	for code, language := range languages {
		for word := range language.stops {
			owners[word] = append(owners[word], code)
		}
	}
	return owners
}()

func byStops(sample string) string {
	scores, hits := map[string]float64{}, map[string]int{}
	total := 0
	for it := words.FromString(normal(sample)); it.Next(); {
		word := it.Value()
		if !strings.ContainsFunc(word, unicode.IsLetter) {
			continue
		}
		total++
		if before, after, found := strings.Cut(strings.ReplaceAll(word, "’", "'"), "'"); found && after != "" &&
			utf8.RuneCountInString(before) <= 2 {
			word = before // l'hôtel
		}
		for _, code := range owners[word] {
			scores[code] += 1 / float64(len(owners[word]))
			hits[code]++
		}
	}
	best, second := "", 0.0
	for code, score := range scores {
		switch {
		case best == "" || score > scores[best] || score == scores[best] && code < best:
			if best != "" {
				second = max(second, scores[best])
			}
			best = code
		default:
			second = max(second, score)
		}
	}
	if best == "" || hits[best]*12 < total || scores[best] < 1.15*second {
		return ""
	}
	if hits[best] < enoughWords && (hits[best] < 2 || hits[best]*4 < total) {
		return ""
	}
	return best
}
