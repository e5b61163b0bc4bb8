package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/platform/stablejson"
	"parlance.dev/parlance/tools/template"
)

// origin returns the scheme and host that a tool calls.
func (p *plan) origin() string {
	origin, _, _ := template.SplitURL(p.want.GetWebhookUrl())
	return origin
}

// showPlans prints what is to be done, and what is left out.
func (a *adder) showPlans(plans []*plan) {
	about := strings.TrimSpace(a.doc.Title + " " + a.doc.Version)
	if about == "" {
		about = "A document without a title"
	}
	var rows, out [][]term.Cell
	var hosts []string
	for _, p := range plans {
		call := p.op.Method + " " + p.op.Path
		if p.want == nil {
			out = append(out, []term.Cell{{Text: p.op.Slug}, {Text: term.Clean(call)}, {Text: term.Clean(p.why)}})
			continue
		}
		if host := p.origin(); !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
		rows = append(rows, []term.Cell{{Text: p.op.Slug}, a.planCell(p), {Text: term.Clean(p.want.GetMethod() + " " + p.want.GetWebhookUrl())}})
	}
	a.Line("%s (OpenAPI %s): %s", about, a.doc.OpenAPI, term.Count(len(rows), "tool", "tools")+leftWords(len(out)))
	if len(rows) > 0 {
		a.Line("They call %s.", strings.Join(hosts, ", "))
		a.Screen.Line("")
		a.Screen.Draw(a.Screen.Table([]term.Column{{Title: "TOOL"}, {Title: "STATE"}, {Title: "CALLS", Shrinks: true}}, rows), nil)
	}
	a.showNotes(plans)
	if len(out) > 0 {
		a.Screen.Line("\n%s", a.Screen.Strong("Left out"))
		a.Screen.Draw(a.Screen.Table([]term.Column{{Title: "TOOL"}, {Title: "OPERATION"}, {Title: "WHY", Shrinks: true}}, out), nil)
	}
	a.showWants(plans)
	a.Screen.Line("")
}

func leftWords(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d left out", n)
}

// planCell says what becomes of a tool.
func (a *adder) planCell(p *plan) term.Cell {
	switch {
	case p.outcome == outcomeNew:
		return term.Cell{Text: "new", Paint: a.Screen.Good}
	case p.outcome == outcomeDiffers && a.o.update:
		return term.Cell{Text: "update " + strings.Join(p.changed, ", "), Paint: a.Screen.Busy}
	case p.outcome == outcomeDiffers:
		return term.Cell{Text: "there, but differs: " + strings.Join(p.changed, ", "), Paint: a.Screen.Bad}
	}
	return term.Cell{Text: "there already", Paint: a.Screen.Dim}
}

// showNotes prints what the tools leave out.
func (a *adder) showNotes(plans []*plan) {
	headed := false
	for _, p := range plans {
		if p.want == nil {
			continue
		}
		for _, note := range p.op.Notes {
			if !headed {
				a.Screen.Line("\n%s", a.Screen.Strong("Notes"))
				headed = true
			}
			for i, line := range term.Wrap(term.Clean(p.op.Slug+": "+note), max(a.Screen.Columns()-4, 40)) {
				a.Screen.Line("%s%s", map[bool]string{true: "  ", false: "    "}[i == 0], line)
			}
		}
	}
}

// showWants says how callers authenticate, and what to do about it.
func (a *adder) showWants(plans []*plan) {
	var said []string
	for _, p := range plans {
		wants := p.op.Wants
		if p.want == nil || wants.Words == "" {
			continue
		}
		words := fmt.Sprintf("The API wants %s (%s)", wants.Words, wants.Scheme)
		if wants.Scheme == "" {
			words = "The API wants " + wants.Words
		}
		if wants.Optional {
			words += ", or nothing"
		}
		switch {
		case len(p.op.Tool.Variables) > 0:
			words += ": conversations bring it as the variable " + strings.Join(p.op.Tool.Variables, ", ") +
				"; a run takes --var " + p.op.Tool.Variables[0] + "=@file."
		case a.o.auth == "" && !(a.person != nil && !a.o.yes):
			words += ": give --auth-header @file, or the calls go without."
		default:
			words += "."
		}
		if !slices.Contains(said, words) {
			said = append(said, words)
		}
	}
	for i, words := range said {
		if i == 0 {
			a.Screen.Line("")
		}
		for _, line := range term.Wrap(term.Clean(words), max(a.Screen.Columns(), 40)) {
			a.Screen.Line("%s", line)
		}
	}
}

// showChoices prints the numbered operations.
func (a *adder) showChoices(plans []*plan) {
	rows := make([][]term.Cell, len(plans))
	for i, p := range plans {
		about := term.Clean(p.op.Summary)
		if p.op.Deprecated {
			about = strings.TrimSpace("deprecated. " + about)
		}
		if p.want == nil {
			about = "cannot be a tool: " + term.Clean(p.why)
		} else if p.have != nil {
			about = strings.TrimSpace("there already. " + about)
		}
		rows[i] = []term.Cell{
			{Text: fmt.Sprint(i + 1)}, {Text: p.op.Slug}, {Text: term.Clean(p.op.Method + " " + p.op.Path)}, {Text: about, Paint: a.Screen.Dim},
		}
	}
	a.Screen.Draw(a.Screen.Table([]term.Column{
		{Title: "", Right: true},
		{Title: "TOOL"},
		{Title: "OPERATION"},
		{Title: "", Shrinks: true},
	}, rows), nil)
}

// printSummary counts the outcomes, and says what to do next.
func (a *adder) printSummary(plans []*plan) {
	count := map[outcome]int{}
	attached, example := 0, ""
	for _, p := range plans {
		count[p.outcome]++
		if p.attached {
			attached++
		}
		switch p.outcome {
		case outcomeFailed:
			a.Screen.Line("%s %s: %s", a.Screen.Bad("✗"), p.op.Slug, term.Clean(p.why))
		case outcomeMade, outcomeUpdated:
			a.Screen.Line("%s %s  %s", a.Screen.Good("✓"), p.op.Slug, a.Screen.Dim(p.have.GetId()))
			example = p.op.Slug
		case outcomeNew, outcomeSame, outcomeDiffers, outcomeLeftOut:
		}
	}
	var parts []string
	for _, one := range []struct {
		outcome outcome
		words   string
	}{
		{outcomeNew, "to be made"},
		{outcomeMade, "made"},
		{outcomeUpdated, "updated"},
		{outcomeSame, "there already"},
		{outcomeDiffers, "there, but different"},
		{outcomeFailed, "failed"},
		{outcomeLeftOut, "left out"},
	} {
		if n := count[one.outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one.words))
		}
	}
	if attached > 0 {
		parts = append(parts, fmt.Sprintf("%d attached to %s", attached, a.o.attach))
	}
	a.Line("%s", strings.Join(parts, ", "))
	if count[outcomeDiffers] > 0 && !a.o.update {
		a.Line("Those that differ are changed with --update; another --prefix makes new ones.")
	}
	switch {
	case example == "":
	case attached == 0:
		a.Line("\nTry one: parlance tools run %s. An agent uses it when it is attached: parlance tools attach %s", example, example)
	default:
		a.Line("\nTry one: parlance tools run %s, or talk: parlance chat --agent %s", example, a.o.attach)
	}
}

// printPlan prints the outcome of an operation as one line of JSON.
func (a *adder) printPlan(p *plan) error {
	line := struct {
		Operation   string          `json:"operation"`
		OperationID string          `json:"operation_id,omitempty"`
		Slug        string          `json:"slug"`
		Outcome     outcome         `json:"outcome"`
		ToolID      string          `json:"tool_id,omitempty"`
		Attached    bool            `json:"attached,omitempty"`
		Why         string          `json:"why,omitempty"`
		Changed     []string        `json:"changed,omitempty"`
		Notes       []string        `json:"notes,omitempty"`
		Wants       string          `json:"wants,omitempty"`
		Variables   []string        `json:"variables,omitempty"`
		Tool        json.RawMessage `json:"tool,omitempty"`
	}{
		Operation: p.op.Method + " " + p.op.Path, OperationID: p.op.ID, Slug: p.op.Slug, Outcome: p.outcome, ToolID: p.have.GetId(),
		Attached: p.attached, Why: p.why, Changed: p.changed, Notes: p.op.Notes, Wants: p.op.Wants.Words,
	}
	if p.want != nil && a.o.dryRun {
		tool, err := stablejson.Marshal(p.want)
		if err != nil {
			return err
		}
		line.Tool, line.Variables = tool, p.op.Tool.Variables
	}
	return json.NewEncoder(a.Screen.Out).Encode(line)
}
