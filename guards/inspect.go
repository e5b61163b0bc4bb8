package guards

import (
	_ "embed" // for the directives
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// directiveLines say what texts contain that are written for a model. The head of the file has
// their form.
//
//go:embed directives.txt
var directiveLines string

// directive is one line of the file.
type directive struct {
	// rule is the name that receipts and metrics have.
	rule string
	// words are what its matches begin with.
	words []string
	// rest matches what follows the word.
	rest *regexp.Regexp
}

// directives reads the file when the first text is inspected, so that commands that talk to nobody
// start without it.
var directives = sync.OnceValue(func() []directive {
	var all []directive
	for line := range strings.Lines(fold(directiveLines)) {
		rule, pattern, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		words, rest, _ := strings.Cut(pattern, " → ")
		all = append(all, directive{rule, strings.Split(words, ", "), regexp.MustCompile(`\A ?(?:` + rest + `)`)})
	}
	return all
})

const (
	// maxInspectedBytes bounds what is inspected of one text. No passage and no output for the model
	// is longer.
	maxInspectedBytes = 48 << 10
	// windowBytes is more than the longest match has after its word.
	windowBytes = 512
)

// Inspect returns the rule by which a text from outside instructs a model, as receipts name it. It
// is empty for a text without such a sentence. Sentences that people also say to people have no
// rule, so a plain request ("Please pay this bill") is not found; see docs/security.md.
func Inspect(text string) (rule string) {
	if len(text) > maxInspectedBytes {
		text = strings.ToValidUTF8(text[:maxInspectedBytes], "")
	}
	views := []string{text}
	if strings.Contains(text, `\`) {
		views = append(views, unescaped(text))
	}
	if strings.ContainsAny(text, "*_`~") {
		views = append(views, emphasis.Replace(text))
	}
	for _, view := range views {
		view = inOneLine(fold(view))
		for _, d := range directives() {
			if d.matches(view) {
				return d.rule
			}
		}
	}
	return ""
}

// emphasis is what Markdown puts around words.
var emphasis = strings.NewReplacer("*", "", "_", "", "`", "", "~", "")

// escape is an escape of a JSON string.
var escape = regexp.MustCompile(`\\+(?:u[0-9a-fA-F]{4}|["/nrtbf])`)

// unescaped is a text with the escapes of JSON strings decoded, also of JSON in a JSON string.
func unescaped(text string) string {
	return escape.ReplaceAllStringFunc(text, func(found string) string {
		code := strings.TrimLeft(found, `\`)
		switch code[0] {
		case 'u':
			n, _ := strconv.ParseUint(code[1:], 16, 32) // four hexadecimal digits
			return string(rune(n))
		case '"', '/':
			return code
		}
		return "\n"
	})
}

// matches reports whether a folded text has a match. The words are looked for first: a regular
// expression over the whole text takes a hundred times as long.
func (d directive) matches(text string) bool {
	for _, word := range d.words {
		for at := 0; ; {
			i := strings.Index(text[at:], word)
			if i < 0 {
				break
			}
			begin, end := at+i, at+i+len(word)
			if beginsWord(text, begin) && d.rest.MatchString(window(text, end)) {
				return true
			}
			at = end
		}
	}
	return false
}

// beginsWord reports whether a word of ASCII letters may begin here. Other alphabets are not
// checked: some put no spaces between words.
func beginsWord(text string, at int) bool {
	return at == 0 || !isWordByte(text[at]) || !isWordByte(text[at-1])
}

// window returns what a match may need of a text. It ends at the end of a word, so that \b does not
// match where it is cut.
func window(text string, at int) string {
	end := min(at+windowBytes, len(text))
	for end < len(text) && (isWordByte(text[end]) || !utf8.RuneStart(text[end])) {
		end++
	}
	return text[at:end]
}
