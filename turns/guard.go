package turns

import (
	"context"
	"slices"
	"strings"

	"parlance.dev/parlance/guards"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// recentMessages is how many of the user's earlier messages show what the user wants, beside those
// of this turn.
const recentMessages = 2

// blockInjected blocks the calls of a round that a document or a tool's answer may have dictated;
// see package guards.
func (r *Runner) blockInjected(ctx context.Context, round []*pendingCall) {
	var asking *guards.Request
	for _, p := range round {
		if p.needsApproval() || !p.known && !p.Call.Client {
			continue // a person decides about it, or there is no such tool
		}
		if asking == nil {
			made := r.guardRequest()
			asking = &made
		}
		rule := asking.Judge(
			guards.Call{Name: p.action(), Arguments: p.Call.Arguments, Changes: p.mayChange(), Harmless: p.system() && p.Call.Name != toolEndCall},
		)
		if rule == "" || r.confirmed(p) {
			continue
		}
		p.refusal, p.Call.Client = &tools.Error{Code: guards.CodeNotAsked, Message: guards.NotAsked}, false
		r.Receipt.Guards = append(
			r.Receipt.Guards,
			sessions.ReceiptGuard{Guard: "injection", Verdict: "withheld", Subject: p.Call.ID, Rule: rule},
		)
		r.S.log.WarnContext(
			ctx,
			"call blocked that the user had not asked for",
			"session_id",
			r.Session.ID,
			"turn_id",
			r.Turn.ID,
			"call_id",
			p.Call.ID,
			"rule",
			rule,
		)
	}
}

// mayChange reports whether the call may change something, judged by its kind, method and name.
func (p *pendingCall) mayChange() bool {
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

// action names what the call does. Forgetting has no tool of its own.
func (p *pendingCall) action() string {
	if p.known && p.entry.Tool.Bucket == tools.BucketMemory && forgets(p.Call.Arguments) {
		return "forget"
	}
	return p.Call.Name
}

// guardRequest collects what the user, the operator and others have said.
func (r *Runner) guardRequest() guards.Request {
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
	said := slices.Concat(r.before.uncut(), r.Turn.Messages) // uncut: JSON that was cut cannot be read
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

// isOurs reports whether the service wrote a result, and not a tool.
func isOurs(m sessions.Message) bool {
	return m.Result != nil &&
		slices.Contains(
			[]string{
				string(guards.CodeNotAsked),
				codeUnknownTool,
				sessions.CodeUnfinished,
				codeRounds,
				sessions.CodeUnknown,
				string(sessions.CodeNotApproved),
			},
			m.Result.ErrorCode,
		)
}

// inspect has the guards look at texts, once a turn for the same texts.
func (r *Runner) inspect(texts []guards.Text) guards.Findings {
	if r.inspected == nil || !slices.Equal(r.inspectedTexts, texts) {
		found := guards.Inspect(texts)
		r.inspected, r.inspectedTexts = &found, texts
	}
	return *r.inspected
}

// confirmed reports whether the user has just said yes to the same call, which was blocked in the
// turn before.
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
