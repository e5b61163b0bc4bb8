package guards

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"strings"
)

// Bounds of what is examined. No passage and no output for the model is longer than
// maxExaminedBytes; maxRuns bounds the runs of each code that are decoded.
const (
	maxExaminedBytes = 48 << 10
	maxRuns          = 32
)

// viewsOf returns the folded text and the texts it may be a disguise of. A model may see through
// look-alike letters, spaced letters, base64, hexadecimal and percent codes, entities, ROT13 and
// reversed text.
func viewsOf(text string) []*view {
	if len(text) > maxExaminedBytes {
		text = strings.ToValidUTF8(text[:maxExaminedBytes], "")
	}
	plain := fold(text)
	all := []*view{{text: plain}}
	add := func(hidden string) {
		if hidden != "" && hidden != plain {
			all = append(all, &view{text: hidden})
		}
	}
	add(tagText(text))
	if hasMixedAlphabets(plain) {
		add(lookAlikes().Replace(plain))
	}
	if mayHaveSpacedLetters(plain) && spacedLetters.MatchString(plain) {
		add(spacedLetters.ReplaceAllStringFunc(plain, func(run string) string { return separators.ReplaceAllString(run, "") }))
		add(joinSpacedLetters(plain))
	}
	if strings.Contains(text, "&") {
		add(fold(html.UnescapeString(text)))
	}
	if strings.Contains(text, "%") {
		if decoded, err := url.PathUnescape(text); err == nil {
			add(fold(decoded))
		}
	}
	for _, run := range base64Runs(text, maxRuns) {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if decoded, err := encoding.DecodeString(strings.TrimRight(run, "=")); err == nil && isReadable(decoded) {
				add(fold(string(decoded)))
				break
			}
		}
	}
	var hexRuns, escaped []string
	if mayHaveHex(text) {
		hexRuns = hexRun.FindAllString(text, maxRuns)
	}
	if strings.Contains(text, `\u`) {
		escaped = escapes.FindAllString(text, maxRuns)
	}
	for _, run := range hexRuns {
		digits := strings.NewReplacer(`\x`, "", "0x", "", "%", "", " ", "", ":", "", ",", "").Replace(run)
		if decoded, err := hex.DecodeString(digits[:len(digits)/2*2]); err == nil && isReadable(decoded) {
			add(fold(string(decoded)))
		}
	}
	for _, run := range escaped {
		add(fold(unescape(run)))
	}
	if hasCommonWords(plain, rot13) {
		add(rot13(plain))
	}
	if hasCommonWords(plain, reversed) {
		add(reversed(plain))
	}
	return all
}

// view is a text as it stands, or what it may be a disguise of. It computes what calls are compared
// with once.
type view struct {
	text string
	// stems and line are computed when they are first used.
	stems map[string]bool
	line  string
}

// stemSet returns the stems of the view's words.
func (v *view) stemSet() map[string]bool {
	if v.stems == nil {
		v.stems = stemsOf(v.text)
	}
	return v.stems
}

// oneLine returns the view with one space for each run of blanks.
func (v *view) oneLine() string {
	if v.line == "" {
		v.line = inOneLine(v.text)
	}
	return v.line
}
