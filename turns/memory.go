package turns

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/guards"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// What memory says of the user stands in the prompt, in a fence like everything from outside. What
// tools read and write of it goes into the receipt.

const (
	// maxRelevantMemories bounds the memories that are searched for the first question of a session,
	// beside the newest ones.
	maxRelevantMemories = 5
	// firstTurns is the last index that a session's first question may have: a greeting may come
	// before it.
	firstTurns = 1
)

// remembers reports whether the session's agent has memory.
func (s *Service) remembers(session sessions.Session) bool {
	return s.memory != nil && session.Config.Memory.Enabled
}

// readMemory reads what the model is told of the user. A turn whose memory cannot be read goes on
// without it.
func (r *Runner) readMemory(ctx context.Context) {
	if !r.S.remembers(r.Session) || r.Aside {
		return
	}
	begun := r.S.sessions.Now()
	defer func() { r.Receipt.Stage(sessions.StageMemory, begun, r.S.sessions.Now()) }()
	recalled, err := r.S.memory.Recall(ctx, r.Session.Ref(), r.Session.UserID, r.Session.Config.Memory.MaxTokens)
	if err == nil && recalled.More && r.Turn.Index <= firstTurns && r.Turn.UserText != "" && !strings.HasPrefix(r.Turn.UserText, "/tool ") {
		var found []memory.Found
		found, err = r.S.memory.Search(ctx, r.Session.Ref(), r.Session.UserID, r.Turn.UserText, maxRelevantMemories)
		for _, one := range found {
			if !slices.ContainsFunc(recalled.Items, func(item memory.Item) bool { return item.ID == one.ID }) {
				recalled.Items = append(recalled.Items, one.Item)
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		r.S.log.WarnContext(ctx, "turn without memory", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
	}
	r.recalled = recalled.Items
	for _, item := range recalled.Items {
		r.Receipt.Read(string(item.ID))
	}
}

// memoryLines are the memories as the prompt has them.
func memoryLines(items []memory.Item) []string {
	lines := make([]string, len(items))
	for i, item := range items {
		about := string(item.Kind)
		if item.Category != "" {
			about = item.Category
		}
		lines[i] = "- " + item.UpdatedAt.Format("2006-01-02") + ", " + sessions.OneLine(about) + ": " + sessions.OneLine(item.Text)
	}
	return lines
}

// modelMemories are the memories as the extractive responder takes them.
func modelMemories(items []memory.Item) []model.Memory {
	converted := make([]model.Memory, len(items))
	for i, item := range items {
		converted[i] = model.Memory{ID: string(item.ID), Text: item.Text}
	}
	return converted
}

// recordMemory puts into the receipt what a call of a memory tool has read or written.
func recordMemory(m *sessions.ReceiptBuilder, entry tools.Entry, result sessions.Message) {
	if entry.Tool.Bucket != tools.BucketMemory || result.Result == nil || result.Result.ErrorCode != "" {
		return
	}
	var answer memory.Answer
	if json.Unmarshal([]byte(result.Text), &answer) != nil {
		return // the answer was cut; the trace of the call has its ids
	}
	for _, found := range answer.Memories {
		m.Read(string(found.ID))
	}
	if answer.ID != "" {
		m.Wrote(string(answer.ID))
	}
	for _, id := range answer.IDs {
		m.Wrote(string(id))
	}
}

// Agreed reports whether the user has said yes, in the running turn, to a question that the agent
// asked in the turn before. It implements memory.AgreedFunc.
func (s *Service) Agreed(ctx context.Context, ref workspaces.Ref, sessionID, turnID string) (bool, error) {
	session, err := sessions.Find(ctx, s.db, ref.TenantID, sessions.ID(sessionID), "")
	if err != nil || session.WorkspaceID != ref.ID {
		return false, err
	}
	turn, err := sessions.FindTurn(ctx, s.db, session, sessions.TurnID(turnID))
	if fault.IsReason(err, fault.ResourceNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	before, err := s.store.History(ctx, session, HistoryParams{Below: turn.Index, Limit: 1})
	if err != nil || len(before) == 0 {
		return false, err
	}
	return guards.Agreed(turn.UserText, sessions.AgentText(before[0].Messages), memoryQuestion...), nil
}

// memoryQuestion are words of which a question for consent about memory has one.
var memoryQuestion = []string{"remember", "note", "keep", "store", "save", "memor", "record", "know"}
