package chat

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/stablejson"
	"parlance.dev/parlance/provider/model/extractive"
)

// shownBytes limits how much of a tool's arguments and answer is shown.
const shownBytes = 160

// answerPrinter prints the answer to one turn as it arrives, then its sources. Control characters
// are removed from what models, tools and sources wrote.
type answerPrinter struct {
	out io.Writer
	// agent has no control characters.
	agent string
	json  bool

	// started reports that an answer has begun before.
	started, speaking bool
}

func (p *answerPrinter) print(event *parlancev1.StreamTurnResponse) error {
	if p.json {
		return p.printJSON(event)
	}
	var err error
	switch event.GetType() {
	case "turn.started":
		if p.started {
			p.breakOff()
			_, err = io.WriteString(p.out, "        (the server that answered was lost: another answer follows)\n")
		}
		p.started = true
	case "turn.delta":
		if !p.speaking {
			p.speaking = true
			fmt.Fprintf(p.out, "\n%-5s ▸ ", p.agent)
		}
		_, err = io.WriteString(p.out, term.CleanText(event.GetDelta()))
	case "turn.tool_call":
		p.breakOff()
		_, err = io.WriteString(p.out, toolLine(event.GetToolCall()))
	case "turn.done":
		p.breakOff()
		_, err = io.WriteString(p.out, sourceLines(event.GetTurn()))
	}
	return err
}

// breakOff ends the line that the agent is writing.
func (p *answerPrinter) breakOff() {
	if p.speaking {
		fmt.Fprintln(p.out)
	}
	p.speaking = false
}

// printJSON prints a whole turn as one line. Its spacing is always the same.
func (p *answerPrinter) printJSON(event *parlancev1.StreamTurnResponse) error {
	if event.GetType() != "turn.done" {
		return nil
	}
	line, err := stablejson.Marshal(event.GetTurn())
	if err != nil {
		return fmt.Errorf("print the turn: %w", err)
	}
	_, err = fmt.Fprintf(p.out, "%s\n", line)
	return err
}

// toolLine formats a call and its result.
func toolLine(call *parlancev1.ToolCall) string {
	arguments := cmp.Or(call.GetInputJson(), "{}")
	came := "ok"
	if call.GetStatusCode() != 0 {
		came = fmt.Sprintf("HTTP %d", call.GetStatusCode())
	}
	if failure := call.GetError(); failure != nil {
		came = term.Clean(failure.GetCode()) + ": " + shorten(failure.GetMessage())
	} else if call.GetOutput() != "" {
		came += " " + shorten(call.GetOutput())
	}
	return fmt.Sprintf("        tool    %s %s → %s (%d ms)\n", term.Clean(call.GetSlug()), shorten(arguments),
		came, call.GetLatencyMs())
}

// sourceLines lists the passages that the answer quotes, if the model reports them, and otherwise
// all passages that the model was given.
func sourceLines(turn *parlancev1.CreateTurnResponse) string {
	shown := turn.GetCitations()
	if turn.GetUsage().GetModel() == extractive.Name {
		shown = slices.DeleteFunc(slices.Clone(shown), func(c *parlancev1.Citation) bool { return !c.GetQuoted() })
	}
	var lines strings.Builder
	for _, citation := range shown {
		place := citation.GetSourceName()
		if citation.GetHeading() != "" {
			place += " > " + citation.GetHeading()
		}
		if at := client.Place("", citation.GetPageStart(), citation.GetPageEnd()); at != "" {
			place += ", " + at
		}
		fmt.Fprintf(&lines, "        source  %s (similarity %.2f)\n", term.Clean(place), citation.GetSimilarity())
	}
	return lines.String()
}

// shorten returns the beginning of a text, on one line and without control characters.
func shorten(text string) string {
	text = strings.Join(strings.Fields(term.CleanText(text)), " ")
	if len(text) <= shownBytes {
		return text
	}
	return strings.ToValidUTF8(text[:shownBytes], "") + "…"
}
