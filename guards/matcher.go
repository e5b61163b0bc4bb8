package guards

import (
	"embed"
	"io/fs"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// directiveFiles have what texts say that are written for a model, by language: a line is "strong"
// or "weak", and a pattern over folded text. Texts for people match weak patterns too, so a weak
// match counts only where the text speaks of what the call does. The lists cover what is known;
// they prove nothing about other texts.
//
//go:embed directives/*.txt
var directiveFiles embed.FS

// directive is one pattern.
type directive struct {
	pattern *regexp.Regexp
	weak    bool
	// word says that matches begin at the beginning of a word.
	word bool
}

const (
	// startBytes is the length of the strings by which a matcher finds patterns.
	startBytes = 6
	// windowBytes is more than the longest match has.
	windowBytes = 1 << 9
)

// matcher finds directives in a text. It tries a pattern only where the text has one of the strings
// that its matches begin with: 30 KB of passages take 10 ms, and 300 ms if every pattern is tried
// over the whole text.
type matcher struct {
	// starts has the patterns by the first bytes of their matches, startBytes at most.
	starts map[string][]*directive
	// first has the first bytes of matches that may begin within a word.
	first [256]bool
	// whole are patterns whose matches begin with anything: they are tried over the whole text.
	whole []*directive
}

// newMatcher compiles the directives of the files.
func newMatcher(files fs.FS) *matcher {
	m := &matcher{starts: map[string][]*directive{}}
	names, err := fs.Glob(files, "directives/*.txt")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range names {
		for _, line := range linesOf(files, name) {
			strength, pattern, _ := strings.Cut(line, " ")
			m.add(strings.TrimSpace(pattern), strength == "weak")
		}
	}
	return m
}

// add adds a pattern.
func (m *matcher) add(pattern string, weak bool) {
	if !isASCII(pattern) { // such patterns have no escapes, which folding would change
		pattern = fold(pattern)
	}
	parsed, err := syntax.Parse("(?s)"+pattern, syntax.Perl)
	if err != nil {
		panic(err) // the files are part of the package
	}
	d := &directive{weak: weak, word: beginsWord(parsed)}
	prefixes, _ := prefixesOf(parsed)
	if slices.ContainsFunc(prefixes, func(prefix string) bool { return prefix == "" || d.word && !isWordByte(prefix[0]) }) {
		d.pattern = regexp.MustCompile("(?s)" + pattern)
		m.whole = append(m.whole, d)
		return
	}
	d.pattern = regexp.MustCompile(`(?s)\A(?:` + pattern + `)`)
	for i, prefix := range prefixes {
		prefixes[i] = prefix[:min(len(prefix), startBytes)]
	}
	slices.Sort(prefixes)
	for _, start := range slices.Compact(prefixes) {
		m.starts[start] = append(m.starts[start], d)
		m.first[start[0]] = m.first[start[0]] || !d.word
	}
}

// match looks for directives in a view whose blanks are collapsed. It reports whether the view
// instructs a model, and whether it may (weakly). It does not look for weak matches when
// mayInstruct is set, because one is enough.
func (m *matcher) match(view string, mayInstruct bool) (instructs, weak bool) {
	matches := func(d *directive, window string) bool {
		return (!d.weak || !mayInstruct) && d.pattern.MatchString(window)
	}
	for _, d := range m.whole {
		if matches(d, view) {
			if !d.weak {
				return true, true
			}
			mayInstruct = true
		}
	}
	inWord := false
	for at := range len(view) {
		beginsWord := isWordByte(view[at]) && !inWord
		inWord = isWordByte(view[at])
		if !beginsWord && !m.first[view[at]] {
			continue
		}
		for end := at + 1; end <= min(at+startBytes, len(view)); end++ {
			for _, d := range m.starts[view[at:end]] {
				if (beginsWord || !d.word) && matches(d, windowAt(view, at)) {
					if !d.weak {
						return true, true
					}
					mayInstruct = true
				}
			}
		}
	}
	return false, mayInstruct
}

// windowAt returns as much of a view as a match from this place can need. It ends at the end of a
// word, so that \b does not match where the view is cut.
func windowAt(view string, at int) string {
	end := min(at+windowBytes, len(view))
	for end < len(view) && (isWordByte(view[end]) || !utf8.RuneStart(view[end])) {
		end++
	}
	return view[at:end]
}

// maxPrefixes bounds the prefixes of a pattern, and their memory.
const maxPrefixes = 400

// prefixesOf returns strings one of which every match begins with. whole says that a match is one
// of the strings.
func prefixesOf(re *syntax.Regexp) (prefixes []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, true
	case syntax.OpCharClass:
		const few = 16
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if prefixes = append(prefixes, string(r)); len(prefixes) > few {
					return []string{""}, false
				}
			}
		}
		return prefixes, true
	case syntax.OpCapture:
		return prefixesOf(re.Sub[0])
	case syntax.OpQuest:
		prefixes, whole = prefixesOf(re.Sub[0])
		return append(slices.Clone(prefixes), ""), whole
	case syntax.OpEmptyMatch, syntax.OpWordBoundary:
		return []string{""}, true
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			more, all := prefixesOf(sub)
			prefixes, whole = append(prefixes, more...), whole && all
		}
		return prefixes, whole
	case syntax.OpConcat:
		prefixes, whole = []string{""}, true
		for _, sub := range re.Sub {
			more, all := prefixesOf(sub)
			if len(prefixes)*len(more) > maxPrefixes {
				return prefixes, false
			}
			if prefixes, whole = concatEach(prefixes, more), all; !all {
				break
			}
		}
		return prefixes, whole
	}
	return []string{""}, false
}

// concatEach returns each of prefixes followed by each of more.
func concatEach(prefixes, more []string) []string {
	var all []string
	for _, prefix := range prefixes {
		for _, next := range more {
			all = append(all, prefix+next)
		}
	}
	return all
}

// beginsWord reports whether every match begins at the beginning of a word.
func beginsWord(re *syntax.Regexp) bool {
	return re.Op == syntax.OpWordBoundary || re.Op == syntax.OpConcat && beginsWord(re.Sub[0])
}
