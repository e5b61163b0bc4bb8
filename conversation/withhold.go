package conversation

import (
	"context"
	"slices"
	"strings"

	"parlance.dev/parlance/tools"
)

// recentWords is how many of the user's messages before this turn say what the user wants.
const recentWords = 2

// holdBack looks at the calls of a round before they are noted: see injection.go.
func (r *runner) holdBack(ctx context.Context, round []*pendingCall) {
	var asking *asking
	for _, p := range round {
		if p.needsApproval() || !p.known && !p.call.Client {
			continue // the client decides, or there is no such tool
		}
		if asking == nil {
			made := r.asking()
			asking = &made
		}
		rule := asking.withheld(wish{name: p.wanted(), arguments: p.call.Arguments, changes: p.changes(), harmless: p.system() && p.call.Name != toolEndCall})
		if rule == "" || r.agreedTo(p) {
			continue
		}
		p.withheld, p.call.Client = &tools.Error{Code: codeNotAsked, Message: notAsked}, false
		r.making.guards = append(r.making.guards, ReceiptGuard{Guard: "injection", Verdict: "withheld", Subject: p.call.ID, Rule: rule})
		r.s.log.WarnContext(ctx, "call withheld that the user had not asked for", "session_id", r.session.ID, "turn_id", r.turn.ID, "call_id", p.call.ID, "rule", rule)
	}
}

// changes says whether the call may change something, as far as can be told from outside.
func (p *pendingCall) changes() bool {
	if p.known && p.entry.Tool.Bucket == tools.BucketMemory {
		return forgets(p.call.Arguments)
	}
	if p.known && p.entry.Tool.Kind == tools.KindHTTP && p.entry.Tool.Config.Method == "GET" {
		return false
	}
	name := p.call.Name
	if _, remote, found := strings.Cut(name, "__"); found { // a tool of an MCP server
		name = remote
	}
	return name != "" && changes(name)
}

// wanted is the name of what the call does: forgetting has no tool of its own.
func (p *pendingCall) wanted() string {
	if p.known && p.entry.Tool.Bucket == tools.BucketMemory && forgets(p.call.Arguments) {
		return "forget"
	}
	return p.call.Name
}

// asking collects who said what.
func (r *runner) asking() asking {
	a := asking{user: []string{r.turn.UserText}, instructions: []string{r.session.Config.Instructions}}
	if r.instructions != nil {
		a.instructions = append(a.instructions, *r.instructions)
	}
	for _, value := range r.values.Public {
		a.own = append(a.own, value)
	}
	var texts []piece
	tool := map[string]string{}
	for _, p := range r.passages {
		texts = append(texts, piece{text: p.SourceName + "\n" + p.Heading + "\n" + p.Text})
	}
	for _, item := range r.recalled {
		texts = append(texts, piece{text: item.Text})
	}
	if r.summary.Text != "" {
		texts = append(texts, piece{text: r.summary.Text})
	}
	recent := recentWords
	said := slices.Concat(r.before.whole(), r.turn.Messages) // what was cut had its effect already, and JSON that was cut is none
	for _, m := range said {
		for _, call := range m.Calls {
			tool[call.ID] = call.Name
		}
	}
	for _, m := range slices.Backward(said) {
		switch {
		case m.Role == roleTool && !ours(m):
			texts = append(texts, piece{tool: tool[m.CallID], text: m.Text})
		case m.Role == roleSystem:
			a.own = append(a.own, m.Text)
		case m.Role == roleUser && m.Text != r.turn.UserText && recent > 0:
			a.user = append(a.user, m.Text)
			recent--
		}
	}
	a.outside = r.lookAt(texts)
	return a
}

// ours says that a result is in our own words.
func ours(m Message) bool {
	return m.Result != nil && slices.Contains([]string{string(codeNotAsked), codeUnknownTool, codeUnfinished, codeRounds, codeUnknown, string(codeNotApproved)}, m.Result.ErrorCode)
}

// lookAt looks at texts, at each set of them once a turn.
func (r *runner) lookAt(texts []piece) outside {
	if r.looked == nil || !slices.Equal(r.lookedAt, texts) {
		found := lookAt(texts)
		r.looked, r.lookedAt = &found, texts
	}
	return *r.looked
}

// agreedTo says whether the user has just said yes to the same call, which was withheld the turn before.
func (r *runner) agreedTo(p *pendingCall) bool {
	before := r.before.turns
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1].messages
	refused := map[string]bool{}
	for _, m := range last {
		if m.Role == roleTool && m.Result != nil && m.Result.ErrorCode == string(codeNotAsked) {
			refused[m.CallID] = true
		}
	}
	for _, m := range last {
		for _, call := range m.Calls {
			if refused[call.ID] && call.Name == p.call.Name && sameJSON(call.Arguments, p.call.Arguments) {
				return agreed(r.turn.UserText, agentText(last), call.Name)
			}
		}
	}
	return false
}
