package guards

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The control tokens that models' chat templates are made of, and the markup that stands for them, as texts may imitate them:
//
//	<|im_start|> <|start_header_id|> <|START_OF_TURN_TOKEN|> <|turn>      Qwen, Llama 3, Cohere, Phi, Granite, GLM, Gemma
//	<｜User｜> <｜begin▁of▁sentence｜> <｜DSML｜function_calls>             DeepSeek
//	<start_of_turn> <tool_call> <s> <bos> <tool_call|>                    Gemma, Qwen, Llama 2
//	[INST] [TOOL_CALLS] [/SYSTEM_PROMPT] <<SYS>> [gMASK] ]~b]             Mistral, Llama 2, GLM, MiniMax
//
// Each begins with a bracket and is short, so a text is gone through once, and from a bracket some characters are looked at.
// Patterns do the same in a hundred times the time, in every turn. Lists ([a, b]), links and other markup stay as they are.

// maxControlRunes is the longest that stands between the brackets of a token.
const maxControlRunes = 48

// tags are what markup begins with that looks like a fence, a role, a call or a token, in lower case, by the first letter.
var tags = map[rune][]string{
	'a': {"assistant", "antml"}, 'b': {"bos>", "bos_"}, 'c': {"context"}, 'd': {"developer", "data", "document"}, 'e': {"end_of_turn", "eos>", "eos_", "eop>"},
	'f': {"function"}, 'h': {"human"}, 'i': {"instruction", "invoke", "im_start", "im_end"}, 'm': {"memory"}, 'o': {"outside"}, 'p': {"passage", "pad>"},
	's': {"system", "summary", "start_of_turn", "s>", "sop>"}, 't': {"tool", "think"}, 'u': {"user", "unused", "unk>"},
}

// squares are tokens in square brackets. People write [think] and mean it, so that is one only as the model has it.
var (
	squares      = []string{"inst", "system_prompt", "available_tools", "tool_calls", "tool_results", "tool_content", "model_settings", "gmask", "smask"}
	exactSquares = []string{"THINK", "CALL_ID"}
	oddSquares   = []string{"]~b]", "]~!b[", "[e~["}
)

// withoutControl puts other brackets around control tokens, which are none then.
func withoutControl(text string) string {
	if strings.IndexByte(text, '<') < 0 && strings.IndexByte(text, '[') < 0 && !strings.Contains(text, "‹") && !strings.Contains(text, "［") {
		return text
	}
	var b strings.Builder
	done := 0
	put := func(from, to int, bracket string) {
		b.WriteString(text[done:from])
		b.WriteString(bracket)
		done = to
	}
	var end control // of the token that was begun
	for i := 0; i < len(text); {
		if i == end.shut && end.over > i {
			put(i, end.over, "›")
			i = end.over
			continue
		}
		found := control{}
		switch c := text[i]; {
		case c == '<', c == '\xE2' && strings.HasPrefix(text[i:], "‹"):
			found = angled(text, i)
		case c == '[', c == '\xEF' && strings.HasPrefix(text[i:], "［"):
			found = squared(text, i)
		case c == ']' && startsAny(text[i:], oddSquares):
			put(i, i+1, "›")
		}
		if found.begun > i {
			put(i, found.begun, "‹")
			if found.over > 0 {
				end = found
			}
			i = found.begun
			continue
		}
		i++
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// control is a token: its beginning goes until begun, its end from shut until over; 0: it has none that is taken away.
type control struct{ begun, shut, over int }

// angled is the token, or the markup, that begins with the < or ‹ at i.
func angled(text string, i int) control {
	_, size := utf8.DecodeRuneInString(text[i:])
	at := skipBlanks(text, i+size)
	if at < len(text) && text[at] == '/' {
		at = skipBlanks(text, at+1)
	}
	if bar := barAt(text[at:]); bar > 0 {
		at += bar
		switch shut, over := controlEnd(text, at); {
		case over > 0:
			return control{at, shut, over}
		case hasBars(text[at:]):
			return control{begun: at}
		}
		return control{}
	}
	if size > 1 {
		return control{} // ‹ is what it would become
	}
	for _, llama := range []string{"<<sys>>", "<</sys>>"} {
		if hasFolded(text[i:], llama) {
			return control{i + 2, i + len(llama) - 2, i + len(llama)}
		}
	}
	name := i + 1
	for name < len(text) && isWordByte(text[name]) && name-i <= maxControlRunes {
		name++
	}
	if bar := barAt(text[name:]); bar > 0 && name > i+1 && strings.HasPrefix(text[name+bar:], ">") {
		return control{i + 1, name, name + bar + 1}
	}
	first, _ := utf8.DecodeRuneInString(text[at:])
	for _, tag := range tags[plainLetter(first)] {
		if hasFolded(text[at:], tag) {
			return control{begun: i + 1}
		}
	}
	return control{}
}

// squared is the token that begins with the [ or ［ at i.
func squared(text string, i int) control {
	_, size := utf8.DecodeRuneInString(text[i:])
	begun := i + size
	at := begun
	if strings.HasPrefix(text[at:], "/") {
		at++
	}
	length := 0
	for _, name := range squares {
		if hasFolded(text[at:], name) {
			length = len(name)
		}
	}
	for _, name := range exactSquares {
		if strings.HasPrefix(text[at:], name) {
			length = len(name)
		}
	}
	shut := at + length
	switch {
	case length > 0 && strings.HasPrefix(text[shut:], "]"):
		return control{begun, shut, shut + 1}
	case length > 0 && strings.HasPrefix(text[shut:], "］"):
		return control{begun, shut, shut + len("］")}
	case startsAny(text[i:], oddSquares):
		return control{begun: begun}
	}
	return control{}
}

// controlEnd is where the end of a token lies whose first bar is before at; 0: there is none. Without a bar before it the
// bracket ends a name only.
func controlEnd(text string, at int) (shut, over int) {
	runes, blank, bar := 0, false, -1
	for i, r := range text[at:] {
		place := at + i
		over = place + utf8.RuneLen(r)
		switch {
		case (r == '>' || r == '›') && bar > at:
			return bar, over
		case (r == '>' || r == '›') && bar < 0 && runes > 0 && !blank:
			return place, over
		case r == '>' || r == '\n' || runes > maxControlRunes:
			return 0, 0
		case r == ' ' || r == '\t':
			blank = true // the bar may be before it
		case isBar(r):
			bar = place
		default:
			bar = -1
		}
		runes++
	}
	return 0, 0
}

// hasBars says whether a text, which a bar is before, begins with a name and a second bar: <｜DSML｜invoke name="look">.
func hasBars(text string) bool {
	name := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	return name > 0 && name <= maxControlRunes && barAt(text[name:]) > 0
}

func skipBlanks(text string, at int) int {
	for at < len(text) && strings.IndexByte(" \t\n\r\f", text[at]) >= 0 {
		at++
	}
	return at
}

// barAt is the length of the bar that a text begins with; 0: it begins with none.
func barAt(text string) int {
	if r, size := utf8.DecodeRuneInString(text); isBar(r) {
		return size
	}
	return 0
}

// isBar says of | and what looks like it. DeepSeek's is U+FF5C.
func isBar(r rune) bool {
	return r == '|' || r >= 0x7F && strings.ContainsRune("｜￨∣│┃❘ǀ¦", r)
}

func startsAny(text string, with []string) bool {
	for _, one := range with {
		if strings.HasPrefix(text, one) {
			return true
		}
	}
	return false
}

// hasFolded says whether a text begins with a word, which is in small letters of ASCII, in any case and width.
func hasFolded(text, word string) bool {
	for _, r := range text {
		if word == "" {
			return true
		}
		if plainLetter(r) != rune(word[0]) {
			return false
		}
		word = word[1:]
	}
	return word == ""
}

// plainLetter is a letter as a small one of ASCII, if it stands for one: in capitals, in full width, ſ and the Kelvin sign.
func plainLetter(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return r
	case r >= 'Ａ' && r <= 'Ｚ':
		return r - 'Ａ' + 'a'
	case r >= 'ａ' && r <= 'ｚ':
		return r - 'ａ' + 'a'
	}
	return unicode.ToLower(unicode.ToUpper(r))
}
