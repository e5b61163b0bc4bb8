package guards

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Running some fifty patterns over a long text takes as long as a model takes for its first words. Each way to match one
// begins with one of a few strings (its heads): they are looked for in one pass, and where one stands, the way is tried
// there and nowhere else. The verdicts are those of the patterns over the whole text.

// directivePatterns are directives, ready to be looked for.
type directivePatterns struct {
	// words are heads that stand at the beginning of a word, anywhere those that may stand anywhere.
	words, anywhere headTree
	// whole are patterns without heads: they are tried over the whole text.
	whole []directivePattern
}

// directivePattern is a way to match.
type directivePattern struct {
	need    []string
	pattern *regexp.Regexp
	weak    bool
	// span is the most characters that a match has; 0: any number.
	span int
	// then are strings of which one stands in every match behind its head; none where that is not known.
	then []string
}

// headTree finds heads: a node for each character that they have in common.
type headTree struct {
	next  [256]*headTree
	found []*directivePattern
}

func (t *headTree) add(head string, way *directivePattern) {
	for i := range len(head) {
		if t.next[head[i]] == nil {
			t.next[head[i]] = &headTree{}
		}
		t = t.next[head[i]]
	}
	t.found = append(t.found, way)
}

func compileAll(sources []directiveSource) *directivePatterns {
	all := &directivePatterns{}
	for _, source := range sources {
		pattern := source.pattern
		if source.need == nil {
			pattern = fold(pattern) // no class of characters in capitals is in these
		}
		parsed, err := syntax.Parse(`(?s)`+pattern, syntax.Perl)
		if err != nil {
			panic(err) // a constant
		}
		ways := []*syntax.Regexp{parsed}
		if parsed.Op == syntax.OpAlternate {
			ways = parsed.Sub
		}
		for _, way := range ways {
			all.add(way, source)
		}
	}
	return all
}

func (p *directivePatterns) add(parsed *syntax.Regexp, source directiveSource) {
	heads, _ := headsOf(parsed)
	way := &directivePattern{need: source.need, weak: source.weak, span: spanOf(parsed), then: thenOf(parsed)}
	word := beginsWord(parsed)
	if slices.ContainsFunc(heads, func(head string) bool { return head == "" || word && !isWordByte(head[0]) }) || !word && mayBegin(parsed, syntax.OpWordBoundary) {
		way.pattern = regexp.MustCompile(parsed.String())
		p.whole = append(p.whole, *way)
		return
	}
	way.pattern = regexp.MustCompile(`\A(?:` + parsed.String() + `)`)
	tree := &p.anywhere
	if word {
		tree = &p.words
	}
	for _, head := range heads {
		tree.add(head, way)
	}
}

// directive says whether a view of a text tells a model what to do: in words for models, or (weakly) for anybody. Of weak signs
// one is enough, and none is looked for when there is one already.
func directive(view string, weakly bool) (told, weak bool) {
	return directives().look(withoutRuns(view), weakly)
}

// look looks for directives in a view in which blanks stand by themselves.
func (p *directivePatterns) look(view string, weakly bool) (told, weak bool) {
	plain := isASCII(view)
	for i := range p.whole {
		one := &p.whole[i]
		if (!one.weak || !weakly) && one.needed(view, plain) && one.pattern.MatchString(view) {
			if !one.weak {
				return true, true
			}
			weakly = true
		}
	}
	inWord := false
	for at := range len(view) {
		b := view[at]
		word := isWordByte(b)
		if word && !inWord {
			if told, weakly = p.words.try(view, at, plain, weakly); told {
				return true, true
			}
		}
		if inWord = word; p.anywhere.next[b] != nil {
			if told, weakly = p.anywhere.try(view, at, plain, weakly); told {
				return true, true
			}
		}
	}
	return false, weakly
}

// isWordByte is what \w and \b take for a part of a word.
func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// try tries the ways whose heads stand in the view at a place.
func (t *headTree) try(view string, at int, plain, weakly bool) (told, weak bool) {
	for i := at; ; i++ {
		for _, way := range t.found {
			if way.weak && weakly {
				continue
			}
			if near := way.near(view, at, plain); way.goesOn(near) && way.pattern.MatchString(near) && way.needed(view, plain) {
				if !way.weak {
					return true, true
				}
				weakly = true
			}
		}
		if i == len(view) {
			return false, weakly
		}
		if t = t.next[view[i]]; t == nil {
			return false, weakly
		}
	}
}

// near is as much of a view as a match that begins at a place may reach, and up to the end of a word: where it is cut off, a
// word does not seem to end.
func (d *directivePattern) near(view string, at int, plain bool) string {
	reach := d.span
	if !plain {
		reach *= utf8.UTFMax
	}
	if d.span == 0 || at+reach >= len(view) {
		return view[at:]
	}
	end := at + reach
	for end < len(view) && (isWordByte(view[end]) || !utf8.RuneStart(view[end])) {
		end++
	}
	return view[at:end]
}

// goesOn says whether what stands behind the head may.
func (d *directivePattern) goesOn(near string) bool {
	return d.then == nil || slices.ContainsFunc(d.then, func(part string) bool { return strings.Contains(near, part) })
}

// needed says whether a text may hold what a pattern looks for.
func (d *directivePattern) needed(text string, plain bool) bool {
	if d.need == nil {
		return !plain // the alphabets of the last ones
	}
	return slices.ContainsFunc(d.need, func(part string) bool { return strings.Contains(text, part) })
}

// withoutRuns has one space for each run of blanks, or a line's end where the run has one.
func withoutRuns(text string) string { return replaceRuns(text, true) }

// inOneLine has one space for each run of blanks.
func inOneLine(text string) string { return replaceRuns(text, false) }

func replaceRuns(text string, lines bool) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		begin := i
		for i < len(text) && !isBlank(text[i]) {
			i++
		}
		b.WriteString(text[begin:i])
		begin = i
		for i < len(text) && isBlank(text[i]) {
			i++
		}
		switch {
		case begin == i:
		case lines && strings.Contains(text[begin:i], "\n"):
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// isBlank is what \s takes for one.
func isBlank(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' || b == '\f' }
