package analysis

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/sessions"
)

const (
	// maxTranscriptBytes bounds the transcript, to about 20,000 tokens. The middle is left out,
	// because requests are at the beginning and outcomes at the end.
	maxTranscriptBytes = 80_000
	// maxLineRunes bounds one utterance, maxOutputRunes one answer of a tool.
	maxLineRunes   = 4000
	maxOutputRunes = 500
)

// transcriptLine is one line of a transcript. Besides Turn only the members of one speaker are set.
type transcriptLine struct {
	Turn      int             `json:"turn,omitempty"`
	User      string          `json:"user,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Operator  string          `json:"human_operator,omitempty"`
	Outcome   string          `json:"the_answer_was,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    string          `json:"result,omitempty"`
	LeftOut   int             `json:"lines_left_out_here,omitempty"`
}

// transcriptOf returns what was said and done, one JSON object a line. A transcript that is too
// long loses its middle.
func transcriptOf(turns []sessions.Turn, edits sessions.ItemEdits) string {
	var lines []string
	size := 0
	add := func(l transcriptLine) {
		encoded, err := json.Marshal(l)
		if err != nil { // the arguments are not JSON
			l.Arguments = nil
			encoded, _ = json.Marshal(l)
		}
		lines = append(lines, string(encoded)+"\n")
		size += len(encoded) + 1
	}
	for _, turn := range turns {
		n := turn.Index + 1
		if turn.UserText != "" {
			add(transcriptLine{Turn: n, User: shortenMiddle(turn.UserText, maxLineRunes)})
		}
		for _, call := range turn.ToolCalls() {
			arguments := call.Arguments
			if len(arguments) > maxLineRunes {
				arguments = nil
			}
			add(transcriptLine{Turn: n, Tool: call.Name, Arguments: arguments, Result: shortenMiddle(call.Output, maxOutputRunes)})
		}
		if text := sessions.OperatorText(turn.Messages); text != "" {
			add(transcriptLine{Turn: n, Operator: shortenMiddle(text, maxLineRunes)})
		}
		outcome := ""
		if turn.Status != sessions.TurnCompleted {
			outcome = string(turn.Status)
		}
		if heard, _ := sessions.HeardText(turn, edits); heard != "" || outcome != "" {
			add(transcriptLine{Turn: n, Agent: shortenMiddle(heard, maxLineRunes), Outcome: outcome})
		}
	}
	return strings.Join(dropMiddle(lines, size, maxTranscriptBytes), "")
}

// dropMiddle removes lines from the middle until the rest has at most maxBytes; size is the size of
// all lines.
func dropMiddle(lines []string, size, maxBytes int) []string {
	if size <= maxBytes {
		return lines
	}
	head, tail, used := 0, len(lines), 0
	for head < tail {
		next := lines[head]
		fromHead := head <= len(lines)-tail
		if !fromHead {
			next = lines[tail-1]
		}
		if used+len(next) > maxBytes {
			break
		}
		used += len(next)
		if fromHead {
			head++
		} else {
			tail--
		}
	}
	mark, _ := json.Marshal(transcriptLine{LeftOut: tail - head})
	return slices.Replace(lines, head, tail, string(mark)+"\n")
}

// shortenMiddle returns a text of at most maxRunes characters, without the middle of a longer one.
func shortenMiddle(text string, maxRunes int) string {
	if utf8.RuneCountInString(text) <= maxRunes {
		return text
	}
	runes := []rune(text)
	return string(runes[:maxRunes/2]) + " […] " + string(runes[len(runes)-maxRunes/2:])
}

// quote returns a text as JSON.
func quote(text string) string {
	encoded, _ := json.Marshal(text) // strings always marshal
	return string(encoded)
}
