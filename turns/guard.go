package turns

import (
	"context"
	"slices"
	"strings"

	"parlance.dev/parlance/guards"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// recentMessages is how many of the user's messages before this turn say what the user wants.
const recentMessages = 2

// blockInjected looks at the calls of a round before they are noted: see injection.go.
func (r *Runner) blockInjected(ctx context.Context, round []*pendingCall) {
	var asking *guards.Request
	for _, p := range round {
		if p.needsApproval() || !p.known && !p.Call.Client {
			continue // the client decides, or there is no such tool
		}
		if asking == nil {
			made := r.asking()
			asking = &made
		}
		rule := asking.Judge(guards.Call{Name: p.wanted(), Arguments: p.Call.Arguments, Changes: p.changes(), Harmless: p.system() && p.Call.Name != toolEndCall})
		if rule == "" || r.confirmed(p) {
			continue
		}
		p.refusal, p.Call.Client = &tools.Error{Code: guards.CodeNotAsked, Message: guards.NotAsked}, false
		r.Receipt.Guards = append(r.Receipt.Guards, sessions.ReceiptGuard{Guard: "injection", Verdict: "withheld", Subject: p.Call.ID, Rule: rule})
		r.S.log.WarnContext(ctx, "call blocked that the user had not asked for", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "call_id", p.Call.ID, "rule", rule)
	}
}

// changes says whether the call may change something, as far as can be told from outside.
func (p *pendingCall) changes() bool {
	if p.known && p.entry.Tool.Bucket == tools.BucketMemory {
		return forgets(p.Call.Arguments)
	}
	if p.known && p.entry.Tool.Kind == tools.KindHTTP && p.entry.Tool.Config.Method == "GET" {
		return false
	}
	name := p.Call.Name
	if _, remote, found := strings.Cut(name, "__"); found { // a tool of an MCP server
		name = remote
	}
	return name != "" && guards.Changes(name)
}

// wanted is the name of what the call does: forgetting has no tool of its own.
func (p *pendingCall) wanted() string {
	if p.known && p.entry.Tool.Bucket == tools.BucketMemory && forgets(p.Call.Arguments) {
		return "forget"
	}
	return p.Call.Name
}

// asking collects who said what.
func (r *Runner) asking() guards.Request {
	a := guards.Request{User: []string{r.Turn.UserText}, Instructions: []string{r.Session.Config.Instructions}}
	if r.Instructions != nil {
		a.Instructions = append(a.Instructions, *r.Instructions)
	}
	for _, value := range r.values.Public {
		a.Own = append(a.Own, value)
	}
	var texts []guards.Text
	tool := map[string]string{}
	for _, p := range r.passages {
		texts = append(texts, guards.Text{Text: p.SourceName + "\n" + p.Heading + "\n" + p.Text})
	}
	for _, item := range r.recalled {
		texts = append(texts, guards.Text{Text: item.Text})
	}
	if r.summary.Text != "" {
		texts = append(texts, guards.Text{Text: r.summary.Text})
	}
	recent := recentMessages
	said := slices.Concat(r.before.whole(), r.Turn.Messages) // what was cut had its effect already, and JSON that was cut is none
	for _, m := range said {
		for _, call := range m.Calls {
			tool[call.ID] = call.Name
		}
	}
	for _, m := range slices.Backward(said) {
		switch {
		case m.Role == sessions.RoleTool && !isOurs(m):
			texts = append(texts, guards.Text{Tool: tool[m.CallID], Text: m.Text})
		case m.Role == sessions.RoleSystem:
			a.Own = append(a.Own, m.Text)
		case m.Role == sessions.RoleUser && m.Text != r.Turn.UserText && recent > 0:
			a.User = append(a.User, m.Text)
			recent--
		}
	}
	a.Outside = r.inspect(texts)
	return a
}

// isOurs says that a result is in our own words.
func isOurs(m sessions.Message) bool {
	return m.Result != nil && slices.Contains([]string{string(guards.CodeNotAsked), codeUnknownTool, sessions.CodeUnfinished, codeRounds, sessions.CodeUnknown, string(sessions.CodeNotApproved)}, m.Result.ErrorCode)
}

// inspect looks at texts, at each set of them once a turn.
func (r *Runner) inspect(texts []guards.Text) guards.Findings {
	if r.inspected == nil || !slices.Equal(r.inspectedTexts, texts) {
		found := guards.Inspect(texts)
		r.inspected, r.inspectedTexts = &found, texts
	}
	return *r.inspected
}

// confirmed says whether the user has just said yes to the same call, which was blocked in the turn
// before.
func (r *Runner) confirmed(p *pendingCall) bool {
	before := r.before.turns
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1].messages
	refused := map[string]bool{}
	for _, m := range last {
		if m.Role == sessions.RoleTool && m.Result != nil && m.Result.ErrorCode == string(guards.CodeNotAsked) {
			refused[m.CallID] = true
		}
	}
	for _, m := range last {
		for _, call := range m.Calls {
			if refused[call.ID] && call.Name == p.Call.Name && guards.SameJSON(call.Arguments, p.Call.Arguments) {
				return guards.Agreed(r.Turn.UserText, sessions.AgentText(last), call.Name)
			}
		}
	}
	return false
}
