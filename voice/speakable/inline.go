package speakable

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxSpan bounds how far the end of a link's text, of code or of a tag is looked for.
	maxSpan = 300
	// maxAddress bounds the same for the address of a link.
	maxAddress = 2000
	// maxEntity bounds it for an HTML entity such as "&nbsp;".
	maxEntity = 10
)

// citation is what is between the brackets of "[1]", "[2, 3]" and "[^note]".
var citation = regexp.MustCompile(`^(?:\^[^\]]*|\d{1,3}(?:[,;–-] ?\d{1,3})*)$`)

// span is markup within a line that was looked at.
type span struct {
	// unknown is whether more text is needed to tell what it is.
	unknown bool
	// length is how many bytes it has, 0 if it is no markup.
	length int
	// from and to are the range in it that is text, with markup of its own if nested.
	from, to int
	nested   bool
	// instead is what is said instead of it.
	instead string
}

var wait = span{unknown: true}

// inline reads text up to the end of its line, or up to markup that cannot be understood without
// more text, and returns how far. The text stands at an offset in the answer; out gets it without
// the markup. final is whether nothing follows.
func (m *markdown) inline(text string, at int, final bool, out *plain) int {
	i := 0
	for i < len(text) && text[i] != '\n' {
		n := strings.IndexAny(text[i:], "\n\\`*_~![<& \t\r\u00a0\u202f\u2009\u200b\u00ad\ufeff【")
		if n != 0 {
			if n < 0 {
				n = len(text) - i
			}
			out.copy(text[i:i+n], at+i)
			i += n
			continue
		}
		s := m.span(text[i:], final, out)
		if s.unknown {
			return i
		}
		switch {
		case s.length == 0:
			_, s.length = utf8.DecodeRuneInString(text[i:])
			out.copy(text[i:i+s.length], at+i)
		case s.nested:
			m.inline(text[i+s.from:i+s.to], at+i+s.from, true, out)
		case s.to > s.from:
			out.copy(text[i+s.from:i+s.to], at+i+s.from)
		case s.instead == " ":
			out.space(at + i)
		default:
			out.insert(s.instead, at+i)
		}
		i += s.length
	}
	return i
}

// span looks at the markup that a text begins with.
func (m *markdown) span(text string, final bool, before *plain) span {
	r, size := utf8.DecodeRuneInString(text)
	switch r {
	case ' ', '\t', '\u2009':
		return span{length: size, instead: " "}
	case '\u00a0', '\u202f':
		return span{length: size, instead: "\u00a0"}
	case '\r', '\u200b', '\u00ad', '\ufeff':
		return span{length: size}
	case '\\':
		return escape(text, final)
	case '`':
		return codeSpan(text, final)
	case '*', '_', '~':
		return emphasis(text, final, before.last())
	case '!':
		return m.image(text, final)
	case '[':
		return link(text, final)
	case '<':
		return tag(text, final)
	case '&':
		return entity(text, final)
	case '【': // OpenAI's citations: 【4:0†source】
		return bracketed(text, "】", final)
	}
	return span{}
}

func escape(text string, final bool) span {
	switch {
	case len(text) == 1 && !final:
		return wait
	case len(text) == 1 || text[1] == '\n': // a line break
		return span{length: 1}
	case strings.IndexByte("\\`*_{}[]()#+-.!|~<>&$\"'", text[1]) >= 0:
		return span{length: 2, from: 1, to: 2}
	}
	return span{}
}

// codeSpan removes the backticks around code; what is in it is no markup.
func codeSpan(text string, final bool) span {
	ticks := run(text)
	end := strings.IndexByte(text, '\n')
	rest := text[ticks:]
	if end >= 0 {
		rest = text[ticks:max(ticks, end)]
	}
	closing := strings.Index(rest, text[:ticks])
	switch {
	case closing > 0 && closing+ticks <= maxSpan:
		return span{length: 2*ticks + closing, from: ticks, to: ticks + closing}
	case end < 0 && len(rest) <= maxSpan && !final:
		return wait
	}
	return span{length: ticks}
}

// emphasis removes asterisks, underscores and tildes that mark emphasis, whether or not they are in
// pairs. It keeps those within words ("snake_case"), between spaces or digits ("2 * 3"), and "~5".
func emphasis(text string, final bool, before rune) span {
	n := run(text)
	if n == len(text) && !final {
		return wait
	}
	after, _ := utf8.DecodeRuneInString(text[n:])
	blank := func(r rune) bool { return r == utf8.RuneError || unicode.IsSpace(r) }
	keep := false
	switch text[0] {
	case '*':
		keep = n == 1 && (blank(before) && blank(after) || unicode.IsDigit(before) && unicode.IsDigit(after))
	case '_':
		keep = isWordRune(before) && isWordRune(after)
	case '~':
		keep = n == 1
	}
	if keep {
		return span{length: n, from: 0, to: n}
	}
	return span{length: n}
}

// image says the description of an image.
func (m *markdown) image(text string, final bool) span {
	switch {
	case len(text) == 1 && !final:
		return wait
	case len(text) == 1 || text[1] != '[':
		return span{}
	}
	s := link(text[1:], final)
	switch {
	case s.unknown || s.length == 0:
		return s
	case !s.nested:
		return span{length: s.length + 1}
	case strings.TrimSpace(text[1+s.from:1+s.to]) == "":
		return span{length: s.length + 1}
	}
	return span{length: s.length + 1, instead: m.language.image + text[1+s.from:1+s.to]}
}

// link leaves the text of a link, or its address if that is the text, and drops citations.
func link(text string, final bool) span {
	end := closing(text, '[', ']', maxSpan)
	switch {
	case end == 0 && len(text) <= maxSpan && !strings.Contains(text, "\n") && !final:
		return wait
	case end == 0:
		return span{}
	}
	label := text[1:end]
	if citation.MatchString(label) {
		return span{length: end + 1}
	}
	if end+1 == len(text) && !final {
		return wait
	}
	if (label == " " || label == "x" || label == "X") && !strings.HasPrefix(text[end+1:], "(") { // a task's box
		return span{length: end + 1}
	}
	s := span{length: end + 1, from: 1, to: end, nested: true}
	rest := text[end+1:]
	switch {
	case strings.HasPrefix(rest, "("):
		closed := closing(rest, '(', ')', maxAddress)
		switch {
		case closed > 0:
			s.length += closed + 1
		case len(rest) <= maxAddress && !strings.Contains(rest, "\n") && !final:
			return wait
		}
	case strings.HasPrefix(rest, "["):
		closed := closing(rest, '[', ']', maxSpan)
		switch {
		case closed > 0:
			s.length += closed + 1
		case len(rest) <= maxSpan && !strings.Contains(rest, "\n") && !final:
			return wait
		}
	}
	return s
}

// closing is where the bracket is closed that a text begins with, within most bytes of the line,
// or 0.
func closing(text string, opens, closes byte, most int) int {
	depth := 0
	for i := range min(len(text), most) {
		switch text[i] {
		case '\n':
			return 0
		case opens:
			depth++
		case closes:
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

// tag leaves the address in "<https://example.com>" and removes HTML tags.
func tag(text string, final bool) span {
	s := bracketed(text, ">", final)
	if s.unknown || s.length == 0 {
		return s
	}
	inner := text[1 : s.length-1]
	switch {
	case strings.ContainsAny(inner, " \t") && !strings.Contains(inner, "=") && inner[0] != '!' && inner[0] != '/':
		return span{} // "a < b and c > d"
	case strings.HasPrefix(inner, "http") || strings.Contains(inner, "@"):
		return span{length: s.length, from: 1, to: s.length - 1}
	case strings.HasPrefix(inner, "br"):
		return span{length: s.length, instead: ", "}
	}
	return s
}

// bracketed removes a bracket with what is in it.
func bracketed(text, closes string, final bool) span {
	_, size := utf8.DecodeRuneInString(text)
	switch {
	case len(text) == size && !final:
		return wait
	case text[0] == '<' && (len(text) == size || !isTagStart(text[size])):
		return span{}
	}
	end := strings.IndexAny(text, closes+"\n")
	switch {
	case end < 0 && len(text) <= maxSpan && !final:
		return wait
	case end < 0, end > maxSpan, text[end] == '\n':
		return span{}
	}
	return span{length: end + len(closes)}
}

func isTagStart(c byte) bool { return c == '/' || c == '!' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// entity replaces an HTML entity.
func entity(text string, final bool) span {
	end := strings.IndexFunc(text[1:], func(r rune) bool { return r != '#' && !isWordRune(r) }) + 1
	switch {
	case end == 0 && len(text) <= maxEntity && !final:
		return wait
	case end == 0, end > maxEntity, text[end] != ';':
		return span{}
	}
	character := html.UnescapeString(text[:end+1])
	if character == text[:end+1] {
		return span{}
	}
	return span{length: end + 1, instead: character}
}
