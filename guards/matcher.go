package guards

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// matcher finds directives in a text. Trying all patterns over a long text takes as long as a
// model's first words do. A matcher derives from each pattern the strings that its matches begin
// with, looks for all of them in one pass, and tries a pattern only where one of its prefixes is.
// It finds the same as the patterns over the whole text do.
type matcher struct {
	// words has the prefixes that begin a word, anywhere the others.
	words, anywhere prefixTree
	// whole are patterns without usable prefixes: they are tried over the whole text.
	whole []directivePattern
}

// directivePattern is one alternative of a directive's pattern.
type directivePattern struct {
	need    []string
	pattern *regexp.Regexp
	weak    bool
	// maxLength is the largest number of characters of a match; 0 when it is not bounded.
	maxLength int
	// after are strings of which every match has one after its prefix; nil when they are not known.
	after []string
}

// prefixTree finds prefixes. It has a node for each character that prefixes have in common.
type prefixTree struct {
	next  [256]*prefixTree
	found []*directivePattern
}

// add adds a prefix of a pattern.
func (t *prefixTree) add(prefix string, alt *directivePattern) {
	for i := range len(prefix) {
		if t.next[prefix[i]] == nil {
			t.next[prefix[i]] = &prefixTree{}
		}
		t = t.next[prefix[i]]
	}
	t.found = append(t.found, alt)
}

// newMatcher compiles the directives.
func newMatcher(sources []directiveSource) *matcher {
	all := &matcher{}
	for _, source := range sources {
		pattern := source.pattern
		if source.need == nil {
			pattern = fold(pattern) // these patterns have no escapes, which folding would change
		}
		parsed, err := syntax.Parse(`(?s)`+pattern, syntax.Perl)
		if err != nil {
			panic(err) // a constant
		}
		alternatives := []*syntax.Regexp{parsed}
		if parsed.Op == syntax.OpAlternate {
			alternatives = parsed.Sub
		}
		for _, alt := range alternatives {
			all.add(alt, source)
		}
	}
	return all
}

// add adds one alternative of a directive.
func (p *matcher) add(parsed *syntax.Regexp, source directiveSource) {
	prefixes, _ := prefixesOf(parsed)
	alt := &directivePattern{need: source.need, weak: source.weak, maxLength: maxLengthOf(parsed), after: requiredAfterGap(parsed)}
	word := beginsWord(parsed)
	unusable := slices.ContainsFunc(prefixes, func(prefix string) bool { return prefix == "" || word && !isWordByte(prefix[0]) })
	if unusable || !word && mayBegin(parsed, syntax.OpWordBoundary) {
		alt.pattern = regexp.MustCompile(parsed.String())
		p.whole = append(p.whole, *alt)
		return
	}
	alt.pattern = regexp.MustCompile(`\A(?:` + parsed.String() + `)`)
	tree := &p.anywhere
	if word {
		tree = &p.words
	}
	for _, prefix := range prefixes {
		tree.add(prefix, alt)
	}
}

// match looks for directives in a view whose blanks are collapsed. It reports whether the view
// instructs a model, and whether it may (weakly). It does not look for weak
// matches when mayInstruct is set, because one is enough.
func (p *matcher) match(view string, mayInstruct bool) (instructs, weak bool) {
	plain := isASCII(view)
	for i := range p.whole {
		one := &p.whole[i]
		if (!one.weak || !mayInstruct) && one.mayMatch(view, plain) && one.pattern.MatchString(view) {
			if !one.weak {
				return true, true
			}
			mayInstruct = true
		}
	}
	inWord := false
	for at := range len(view) {
		b := view[at]
		word := isWordByte(b)
		if word && !inWord {
			if instructs, mayInstruct = p.words.matchAt(view, at, plain, mayInstruct); instructs {
				return true, true
			}
		}
		if inWord = word; p.anywhere.next[b] != nil {
			if instructs, mayInstruct = p.anywhere.matchAt(view, at, plain, mayInstruct); instructs {
				return true, true
			}
		}
	}
	return false, mayInstruct
}

// matchAt tries the patterns whose prefixes are at this place of the view.
func (t *prefixTree) matchAt(view string, at int, plain, mayInstruct bool) (instructs, weak bool) {
	for i := at; ; i++ {
		for _, alt := range t.found {
			if alt.weak && mayInstruct {
				continue
			}
			if window := alt.window(view, at, plain); alt.mayContinue(window) && alt.pattern.MatchString(window) && alt.mayMatch(view, plain) {
				if !alt.weak {
					return true, true
				}
				mayInstruct = true
			}
		}
		if i == len(view) {
			return false, mayInstruct
		}
		if t = t.next[view[i]]; t == nil {
			return false, mayInstruct
		}
	}
}

// window returns as much of a view as a match from this place can need, extended to the end of a
// word, so that \b does not match where the view is cut.
func (d *directivePattern) window(view string, at int, plain bool) string {
	reach := d.maxLength
	if !plain {
		reach *= utf8.UTFMax
	}
	if d.maxLength == 0 || at+reach >= len(view) {
		return view[at:]
	}
	end := at + reach
	for end < len(view) && (isWordByte(view[end]) || !utf8.RuneStart(view[end])) {
		end++
	}
	return view[at:end]
}

// mayContinue reports whether the window has a string that a match needs after its prefix.
func (d *directivePattern) mayContinue(window string) bool {
	return d.after == nil || slices.ContainsFunc(d.after, func(part string) bool { return strings.Contains(window, part) })
}

// mayMatch reports whether the text has a string that every match of the directive contains.
func (d *directivePattern) mayMatch(text string, plain bool) bool {
	if d.need == nil {
		return !plain // a pattern of another alphabet
	}
	return slices.ContainsFunc(d.need, func(part string) bool { return strings.Contains(text, part) })
}
