package turns

import (
	"context"
	"slices"
	"strings"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns/extratools"
	"parlance.dev/parlance/turns/prompt"
)

// modelRequest is the next request to the model.
func (r *Runner) modelRequest(withTools bool) model.Request {
	config := r.Session.Config
	instructions := config.Instructions
	if r.Instructions != nil {
		instructions = *r.Instructions
	}
	// The messages of earlier turns and of this one are arranged together, so that a client's result
	// in this turn finds its call in an earlier one.
	p := prompt.Prompt{
		Instructions: instructions, Session: r.Session, FenceKey: r.S.fenceKey, Turn: r.Turn.ID, Values: r.values.Public,
		Memory: memoryLines(r.recalled), Summary: r.summary.Text, Passages: r.passages,
		Said: r.visible(), GoOn: r.goOn(), Unreachable: r.unreachable,
	}
	p.Now = extratools.Clock(r.tools, r.S.sessions.Now())
	req := model.Request{
		Model: config.Model.Name, System: p.System(),
		Messages: p.Messages(), Temperature: config.Model.Temperature, MaxOutputTokens: config.Model.MaxOutputTokens,
		Passages: modelPassages(r.passages), Memories: modelMemories(r.recalled), Unreachable: r.unreachable,
		Metadata: map[string]string{"session_id": string(r.Session.ID), "turn_id": string(r.Turn.ID)},
	}
	if !withTools {
		req.System = strings.TrimSpace(req.System + "\n\n" + sessions.NoMoreTools)
		r.apply(&req, false)
		return req
	}
	for tool := range r.tools.Offered() {
		if r.usedUp[tool.Tool.ID] {
			continue
		}
		req.Tools = append(req.Tools, model.Tool{Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema})
	}
	for _, tool := range r.ClientTools {
		if _, taken := r.tools.Find(tool.Name); !taken {
			req.Tools = append(req.Tools, tool)
		}
	}
	r.apply(&req, r.Turn.Metrics.ToolRounds == 0)
	return req
}

// readUsedUp reads which tools may not be called any more in the session. If that fails, they are
// offered, and their calls refused.
func (r *Runner) readUsedUp(ctx context.Context) {
	if r.offline || r.S.Offline() {
		return
	}
	usedUp, err := r.S.tools.UsedUp(ctx, r.Session.Ref(), string(r.Session.ID), r.tools)
	if err != nil && ctx.Err() == nil {
		r.S.log.WarnContext(ctx, "tools offered whose calls may be used up", "session_id", r.Session.ID, "error", err)
	}
	if err == nil {
		r.usedUp = usedUp
	}
}

func (r *Runner) goOn() string {
	if r.Input != nil && len(r.Input) == 0 {
		return prompt.NoConversation
	}
	return prompt.GoOn
}

// visible are the messages that the model sees of the conversation and of the turn.
func (r *Runner) visible() []sessions.Message {
	if r.Input != nil {
		return slices.Concat(r.Input, r.Turn.Messages[r.initialMessages:])
	}
	return sessions.ArrangeMessages(slices.Concat(r.Earlier, r.Turn.Messages), r.Session.ItemEdits)
}

// modelPassages are the passages as the extractive responder gets them.
func modelPassages(passages []sessions.Passage) []model.Passage {
	converted := make([]model.Passage, len(passages))
	for i, p := range passages {
		converted[i] = model.Passage{
			Source:     p.SourceName,
			Heading:    p.Heading,
			Text:       p.Text,
			PageStart:  p.PageStart,
			PageEnd:    p.PageEnd,
			Similarity: p.Similarity,
		}
	}
	return converted
}
