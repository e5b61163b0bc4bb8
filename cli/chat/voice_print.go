package chat

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// voicePrinter prints a spoken conversation as it goes on. Control characters are removed from what
// models and transcribers wrote.
type voicePrinter struct {
	out io.Writer
	// agent has no control characters.
	agent string
	json  bool

	// item is the message whose line is being written; empty between lines.
	item string
	// told are the words of each item of the user that were printed.
	told map[string]string
}

// event prints an event of the server as a line of JSON, sound without its samples.
func (p *voicePrinter) event(event voiceEvent) error {
	if !p.json {
		return nil
	}
	line := event.raw
	if event.Type == "response.output_audio.delta" {
		var members map[string]any
		if err := json.Unmarshal(line, &members); err != nil {
			return fmt.Errorf("print an event: %w", err)
		}
		delete(members, "delta")
		return p.printLine(members)
	}
	return p.printLine(json.RawMessage(line))
}

// printLine prints a value as one line of JSON.
func (p *voicePrinter) printLine(value any) error {
	line, err := json.Marshal(value) // on one line, whatever the spacing was
	if err != nil {
		return fmt.Errorf("print an event: %w", err)
	}
	_, err = fmt.Fprintf(p.out, "%s\n", line)
	return err
}

// breakOff ends the line that is being written.
func (p *voicePrinter) breakOff() {
	if p.item != "" {
		fmt.Fprintln(p.out)
	}
	p.item = ""
}

// say adds words to the line of an item, and begins it when it is another one's.
func (p *voicePrinter) say(who, item, text string) {
	if p.json || text == "" {
		return
	}
	if p.item != item {
		p.breakOff()
		p.item = item
		fmt.Fprintf(p.out, "\n%-5s ▸ ", who)
		text = strings.TrimLeft(text, " ")
	}
	fmt.Fprint(p.out, term.CleanText(text))
}

// user prints words of the user as they are understood.
func (p *voicePrinter) user(item, text string) {
	if p.told == nil {
		p.told = map[string]string{}
	}
	p.told[item] += text
	p.say("you", item, text)
}

// userWhole prints what the user said, or the rest of it. When the words became other ones, all are
// printed again.
func (p *voicePrinter) userWhole(item, transcript string) {
	told := p.told[item]
	delete(p.told, item)
	rest, continues := strings.CutPrefix(strings.TrimSpace(transcript), strings.TrimSpace(told))
	switch {
	case continues && (told == "" || p.item == item):
		p.say("you", item, rest)
	case strings.TrimSpace(transcript) != strings.TrimSpace(told):
		p.breakOff()
		p.say("you", item, transcript)
	}
	if p.item == item {
		p.breakOff()
	}
}

// agentSays prints words of the agent.
func (p *voicePrinter) agentSays(item, text string) { p.say(p.agent, item, text) }

// note prints a line about the conversation.
func (p *voicePrinter) note(text string) {
	if p.json {
		return
	}
	p.breakOff()
	fmt.Fprintf(p.out, "        %s\n", text)
}

// warn prints what is wrong, beside the conversation.
func (p *voicePrinter) warn(to io.Writer, text string) {
	p.breakOff()
	fmt.Fprintf(to, "parlance: %s\n", text)
}

// tool prints a call and its result.
func (p *voicePrinter) tool(event voiceEvent) {
	call := &parlancev1.ToolCall{Slug: event.Item.Name, InputJson: event.Item.Arguments, Output: event.Item.Output}
	if failed := string(event.Item.Error); failed != "" && failed != "null" {
		call.Error = &parlancev1.ToolError{Code: "failed", Message: failed}
	}
	p.note(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(toolLine(call)), "(0 ms)")))
}

// sources prints the passages that an answer was given.
func (p *voicePrinter) sources(turn *parlancev1.CreateTurnResponse) {
	if p.json || len(turn.GetCitations()) == 0 {
		return
	}
	p.breakOff()
	fmt.Fprint(p.out, sourceLines(turn))
}

// timing prints how long an answer took.
func (p *voicePrinter) timing(a *voiceAnswer) {
	steps := []struct {
		member, name string
		ms           int
		known        bool
	}{
		{member: "transcript_ms", name: "transcript"},
		{member: "first_token_ms", name: "first token"},
		{member: "first_audio_ms", name: "first audio"},
		{member: "heard_ms", name: "heard here"},
	}
	steps[0].ms, steps[0].known = a.since(a.server.TranscriptMS, a.transcribed)
	steps[1].ms, steps[1].known = a.since(a.server.FirstTokenMS, a.firstToken)
	steps[2].ms, steps[2].known = a.since(a.server.FirstAudioMS, a.firstAudio)
	steps[3].ms, steps[3].known = a.since(nil, a.heardAt)
	line := map[bool]string{true: "typed", false: "end of speech"}[a.typed]
	members := map[string]any{"type": "chat.timing", "response_id": a.response, "typed": a.typed, "interrupted": a.wasCut}
	for _, step := range steps {
		if step.known {
			line += fmt.Sprintf(" → %s %d ms", step.name, step.ms)
			members[step.member] = step.ms
		}
	}
	if p.json {
		_ = p.printLine(members) // the next event says that nothing can be printed
		return
	}
	p.note("timing  " + line)
}
