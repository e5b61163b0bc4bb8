package guards

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxControlRunes bounds what stands between the brackets of a token.
const maxControlRunes = 48

// markupNames are the beginnings of markup that looks like a fence, a role, a call or a token. They
// are in lower case, by their first letter.
var markupNames = map[rune][]string{
	'a': {"assistant", "antml"}, 'b': {"bos>", "bos_"}, 'c': {"context"}, 'd': {"developer", "data", "document"},
	'e': {"end_of_turn", "eos>", "eos_", "eop>"},
	'f': {"function"}, 'h': {"human"}, 'i': {"instruction", "invoke", "im_start", "im_end"}, 'm': {"memory"},
	'o': {"outside"}, 'p': {"passage", "pad>"},
	's': {"system", "summary", "start_of_turn", "s>", "sop>"}, 't': {"tool", "think"}, 'u': {"user", "unused", "unk>"},
}

// The tokens in square brackets. People write [think] as ordinary text, so the tokens of
// exactSquareTokens must match in case.
var (
	squareTokens = []string{
		"inst", "system_prompt", "available_tools", "tool_calls", "tool_results", "tool_content", "model_settings",
		"gmask", "smask",
	}
	exactSquareTokens = []string{"THINK", "CALL_ID"}
	oddTokens         = []string{"]~b]", "]~!b[", "[e~["}
)

// withoutControl replaces the brackets of control tokens, so that they are tokens no longer.
//
// The control tokens of models' chat templates, and the markup that stands for them, are:
//
//	<|im_start|> <|start_header_id|> <|turn>               Qwen, Llama 3, Phi, GLM, Gemma
//	<|START_OF_TURN_TOKEN|>                                Cohere, Granite
//	<｜User｜> <｜begin▁of▁sentence｜>                      DeepSeek
//	<start_of_turn> <tool_call> <s> <bos> <tool_call|>     Gemma, Qwen, Llama 2
//	[INST] [TOOL_CALLS] [/SYSTEM_PROMPT] <<SYS>>           Mistral, Llama 2
//	[gMASK] ]~b]                                           GLM, MiniMax
//
// Each begins with a bracket and is short. The text is read once, and only a few characters are
// examined after each bracket: regular expressions need a hundred times as long, in every turn.
// Lists ([a, b]), links and other markup stay as they are.
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
	var end tokenSpan // of the token that is open
	for i := 0; i < len(text); {
		if i == end.shut && end.over > i {
			put(i, end.over, "›")
			i = end.over
			continue
		}
		found := tokenSpan{}
		switch c := text[i]; {
		case c == '<', c == '\xE2' && strings.HasPrefix(text[i:], "‹"):
			found = angleToken(text, i)
		case c == '[', c == '\xEF' && strings.HasPrefix(text[i:], "［"):
			found = squareToken(text, i)
		case c == ']' && hasAnyPrefix(text[i:], oddTokens):
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

// tokenSpan is where a token's beginning ends (begun), and where its end starts (shut) and stops
// (over). A token whose end stays has over 0.
type tokenSpan struct{ begun, shut, over int }

// angleToken returns the token or the markup that begins with the < or ‹ at i.
func angleToken(text string, i int) tokenSpan {
	_, size := utf8.DecodeRuneInString(text[i:])
	at := skipBlanks(text, i+size)
	if at < len(text) && text[at] == '/' {
		at = skipBlanks(text, at+1)
	}
	if bar := barAt(text[at:]); bar > 0 {
		at += bar
		switch shut, over := controlEnd(text, at); {
		case over > 0:
			return tokenSpan{at, shut, over}
		case hasSecondBar(text[at:]):
			return tokenSpan{begun: at}
		}
		return tokenSpan{}
	}
	if size > 1 {
		return tokenSpan{} // ‹ is harmless already
	}
	for _, llama := range []string{"<<sys>>", "<</sys>>"} {
		if hasPrefixFold(text[i:], llama) {
			return tokenSpan{i + 2, i + len(llama) - 2, i + len(llama)}
		}
	}
	name := i + 1
	for name < len(text) && isWordByte(text[name]) && name-i <= maxControlRunes {
		name++
	}
	if bar := barAt(text[name:]); bar > 0 && name > i+1 && strings.HasPrefix(text[name+bar:], ">") {
		return tokenSpan{i + 1, name, name + bar + 1}
	}
	first, _ := utf8.DecodeRuneInString(text[at:])
	for _, tag := range markupNames[foldLetter(first)] {
		if hasPrefixFold(text[at:], tag) {
			return tokenSpan{begun: i + 1}
		}
	}
	return tokenSpan{}
}

// squareToken returns the token that begins with the [ or ［ at i.
func squareToken(text string, i int) tokenSpan {
	_, size := utf8.DecodeRuneInString(text[i:])
	begun := i + size
	at := begun
	if strings.HasPrefix(text[at:], "/") {
		at++
	}
	length := 0
	for _, name := range squareTokens {
		if hasPrefixFold(text[at:], name) {
			length = len(name)
		}
	}
	for _, name := range exactSquareTokens {
		if strings.HasPrefix(text[at:], name) {
			length = len(name)
		}
	}
	shut := at + length
	switch {
	case length > 0 && strings.HasPrefix(text[shut:], "]"):
		return tokenSpan{begun, shut, shut + 1}
	case length > 0 && strings.HasPrefix(text[shut:], "］"):
		return tokenSpan{begun, shut, shut + len("］")}
	case hasAnyPrefix(text[i:], oddTokens):
		return tokenSpan{begun: begun}
	}
	return tokenSpan{}
}

// controlEnd returns the place of the end of a token whose first bar is before at; 0 when there is
// none. Without a second bar, the closing bracket must follow a name directly.
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
			blank = true // a bar may still follow
		case isBar(r):
			bar = place
		default:
			bar = -1
		}
		runes++
	}
	return 0, 0
}

// hasSecondBar reports whether a text after a bar begins with a name and another bar, such as
// <｜DSML｜invoke name="look">.
func hasSecondBar(text string) bool {
	name := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	return name > 0 && name <= maxControlRunes && barAt(text[name:]) > 0
}

// skipBlanks returns the place of the next character that is not blank.
func skipBlanks(text string, at int) int {
	for at < len(text) && strings.IndexByte(" \t\n\r\f", text[at]) >= 0 {
		at++
	}
	return at
}

// barAt returns the length of the bar at the beginning of a text, 0 for none.
func barAt(text string) int {
	if r, size := utf8.DecodeRuneInString(text); isBar(r) {
		return size
	}
	return 0
}

// isBar reports whether the character is | or looks like it. DeepSeek uses U+FF5C.
func isBar(r rune) bool {
	return r == '|' || r >= 0x7F && strings.ContainsRune("｜￨∣│┃❘ǀ¦", r)
}
