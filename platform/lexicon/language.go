package lexicon

import (
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
	"github.com/kljensen/snowball/english"

	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/langtag"
)

// language is what is known of a language.
type language struct {
	stops map[string]bool
	stem  func(word string) string
	// script is what stem is for.
	script *unicode.RangeTable
	// suffixes are taken off a word's end.
	suffixes []string
	// elided are the words that an apostrophe joins to the next.
	elided map[string]bool
	// terms caches the terms of words; "" for a stop word.
	terms *cache.Cache[string, string]
}

// stemmerOf is the stemmer of the word's script; nil: it has none.
func (l language) stemmerOf(word string) func(string) string {
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case l.stem != nil && unicode.Is(l.script, first):
		return l.stem
	case unicode.Is(unicode.Latin, first):
		return stemEnglish
	case unicode.Is(unicode.Cyrillic, first):
		return snowball(russian.Stem)
	}
	return nil
}

// stemEnglish uses the stemmer of the offline embedder.
func stemEnglish(word string) string { return english.Stem(word, true) }

// englishStems caches what StemEnglish returned, some megabytes.
var englishStems = cache.New[string, string](1 << 15)

// StemEnglish returns the stem of an English word in lower case, also of a stop word. A word longer
// than 64 bytes is its own stem.
func StemEnglish(word string) string {
	if len(word) > maxTermBytes {
		return word
	}
	stem, ok := englishStems.Get(word)
	if !ok {
		stem = stemEnglish(word)
		englishStems.Set(strings.Clone(word), stem)
	}
	return stem
}

// snowball makes a function of a generated stemmer.
func snowball(stem func(*snowballstem.Env) bool) func(string) string {
	return func(word string) string {
		env := snowballstem.NewEnv(word)
		stem(env)
		return env.Current()
	}
}

var (
	latin    = unicode.Latin
	cyrillic = unicode.Cyrillic
	french1  = set("l d j m t s c n qu jusqu lorsqu puisqu quoiqu")
	italian1 = set("l un d dell all dall nell sull quest quell c s m t")
)

// languages are those with stop words and a stemmer, by code.
var languages = func() map[string]language {
	all := map[string]language{
		"en": {stem: stemEnglish, script: latin, suffixes: []string{"'s", "'"}},
		"de": {stem: snowball(german.Stem), script: latin},
		"fr": {stem: snowball(french.Stem), script: latin, elided: french1},
		"es": {stem: snowball(spanish.Stem), script: latin},
		"it": {stem: snowball(italian.Stem), script: latin, elided: italian1},
		"pt": {stem: snowball(portuguese.Stem), script: latin},
		"nl": {stem: snowball(dutch.Stem), script: latin, suffixes: []string{"'s"}},
		"sv": {stem: snowball(swedish.Stem), script: latin},
		"no": {stem: snowball(norwegian.Stem), script: latin},
		"da": {stem: snowball(danish.Stem), script: latin},
		"fi": {stem: snowball(finnish.Stem), script: latin},
		"hu": {stem: snowball(hungarian.Stem), script: latin},
		"ro": {stem: snowball(romanian.Stem), script: latin},
		"tr": {stem: snowball(turkish.Stem), script: latin},
		"ru": {stem: snowball(russian.Stem), script: cyrillic},
	}
	for code, one := range all {
		one.stops, one.terms = stops[code], cache.New[string, string](maxCachedTerms)
		all[code] = one
	}
	return all
}()

// languageOf is the language of a code, "en-GB" being English. One without stop words and a
// stemmer of its own has English's, which touch Latin words only.
func languageOf(code string) language {
	if known, ok := languages[langtag.Base(code)]; ok {
		return known
	}
	return languages["en"]
}

// StopWords are the words of a language, in lower case, that say nothing by themselves.
func StopWords(code string) map[string]bool { return maps.Clone(languageOf(code).stops) }

func set(list string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		words[word] = true
	}
	return words
}
