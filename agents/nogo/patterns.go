package nogo

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWindow is the most characters that are held back for patterns. One that can match more is
// looked for in whole sentences.
const maxWindow = 128

// pattern is one pattern of a zone.
type pattern struct {
	expression *regexp.Regexp
	zone       int
	// longest is the most characters that it can match, at most maxWindow; 0: more, or it speaks of
	// the beginning or end of a text.
	longest int
	// literal is in everything that it matches; may be empty.
	literal string
}

// compilePattern prepares a pattern for text in lower case.
func compilePattern(source string, zone int) (pattern, error) {
	parsed, err := syntax.Parse("(?i:"+source+")", syntax.Perl)
	if err != nil {
		if _, plain := syntax.Parse(source, syntax.Perl); plain != nil {
			err = plain // does not name what was put around it
		}
		return pattern{}, fmt.Errorf("the pattern %q is not of RE2's syntax: %w", source, err)
	}
	lower(parsed)
	expression, err := regexp.Compile(parsed.String())
	if err != nil {
		return pattern{}, fmt.Errorf("the pattern %q cannot be used: %w", source, err)
	}
	if expression.MatchString("") {
		return pattern{}, fmt.Errorf("the pattern %q matches an empty text, so everything would be in the zone", source)
	}
	p := pattern{expression: expression, zone: zone, literal: literalOf(parsed)}
	if longest, bounded := longestOf(parsed); bounded && longest <= maxWindow {
		p.longest = longest
	}
	return p, nil
}

// lower makes literals lower-case and exact, so that they are found fast.
func lower(e *syntax.Regexp) {
	if e.Op == syntax.OpLiteral {
		e.Flags &^= syntax.FoldCase
		for i, r := range e.Rune {
			e.Rune[i] = unicode.ToLower(r)
		}
	}
	for _, sub := range e.Sub {
		lower(sub)
	}
}

// literalOf is the longest literal that every match has; empty: none is known.
func literalOf(e *syntax.Regexp) string {
	switch e.Op {
	case syntax.OpLiteral:
		return string(e.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return literalOf(e.Sub[0])
	case syntax.OpConcat:
		longest := ""
		for _, sub := range e.Sub {
			if one := literalOf(sub); len(one) > len(longest) {
				longest = one
			}
		}
		return longest
	}
	return ""
}

// longestOf is the most characters that an expression can match; bounded false: there is no bound
// that can be told.
func longestOf(e *syntax.Regexp) (longest int, bounded bool) {
	switch e.Op {
	case syntax.OpNoMatch, syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return 0, true
	case syntax.OpLiteral:
		return len(e.Rune), true
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, true
	case syntax.OpCapture, syntax.OpQuest:
		return longestOf(e.Sub[0])
	case syntax.OpRepeat:
		each, known := longestOf(e.Sub[0])
		return each * e.Max, known && e.Max >= 0
	case syntax.OpConcat, syntax.OpAlternate:
		for _, sub := range e.Sub {
			one, known := longestOf(sub)
			if !known {
				return 0, false
			}
			if e.Op == syntax.OpConcat {
				longest += one
			} else {
				longest = max(longest, one)
			}
		}
		return longest, true
	}
	return 0, false
}

// find looks for the first match in cleaned text that ends behind a place. ended says that no more
// text comes; otherwise a match that touches the end is not taken, because the next character may
// belong to its last word.
func (p pattern) find(text string, behind int, ended bool) (from, to int, found bool) {
	if p.literal != "" && !strings.Contains(text, p.literal) {
		return 0, 0, false
	}
	for _, at := range p.expression.FindAllStringIndex(text, -1) {
		if at[1] > max(behind, at[0]) && (ended || at[1] < len(text)) {
			return at[0], at[1], true
		}
	}
	return 0, 0, false
}

// cleaned is a text as patterns see it.
type cleaned struct {
	text string
	// origin is where in the text each byte comes from; one more is the end.
	origin []int
}

func newCleaned(text string) cleaned {
	var b strings.Builder
	c := cleaned{origin: make([]int, 0, len(text)+1)}
	for at, r := range text {
		if isHidden(r) {
			continue
		}
		from := b.Len()
		if r < utf8.RuneSelf {
			b.WriteByte(byte(unicode.ToLower(r)))
		} else {
			b.WriteString(strings.ToLower(norm.NFKC.String(string(r))))
		}
		for range b.Len() - from {
			c.origin = append(c.origin, at)
		}
	}
	c.text, c.origin = b.String(), append(c.origin, len(text))
	return c
}

// before is the place in the text that so many characters of the cleaned one stand behind.
func (c cleaned) before(characters int) int {
	at := len(c.text)
	for range characters {
		_, size := utf8.DecodeLastRuneInString(c.text[:at])
		at -= size
	}
	return c.origin[at]
}
