package turns

import (
	"context"
	"encoding/json"
	"fmt"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

// ClientTools reads the tools that the caller of a turn runs itself.
func (s *Service) ClientTools(ctx context.Context, session sessions.Session, id sessions.TurnID) ([]model.Tool, error) {
	var text []byte
	err := s.db.NewSelect().Model((*sessions.Turn)(nil)).ColumnExpr("t.client_tools").
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.id = ?", id).Scan(ctx, &text)
	if postgres.NoRows(err) || err == nil && len(text) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the tools that a caller offered: %w", err)
	}
	var sealed string
	if json.Unmarshal(text, &sealed) == nil { // of a session that keeps nothing
		opened, err := s.sessions.OpenText(ctx, session, sealed)
		if err != nil {
			return nil, err
		}
		text = []byte(opened)
	}
	var kept []clientTool
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, fmt.Errorf("decoding the tools that a caller offered: %w", err)
	}
	offered := make([]model.Tool, len(kept))
	for i, tool := range kept {
		offered[i] = model.Tool(tool)
	}
	return offered, nil
}

// DropClientTools deletes the caller's tools of a turn that has ended.
func (s *Service) DropClientTools(ctx context.Context, start Start) {
	session := start.Session
	if start.ClientTools == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.WriteTimeout)
	defer cancel()
	err := s.ReachSession(ctx, session.ID, func(ctx context.Context) error {
		_, err := s.db.NewUpdate().Model((*sessions.Turn)(nil)).Set("client_tools = NULL").
			Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.id = ?", start.Turn).
			Where("t.status <> ?", sessions.TurnInProgress).Exec(ctx) // another node may have resumed the turn
		return err
	})
	if err != nil { // they stay, which only takes space
		s.log.WarnContext(ctx, "tools of a turn kept", "session_id", session.ID, "turn_id", start.Turn, "error", err)
	}
}

// clientTool is a tool that the caller runs itself, as it is stored with the turn while it runs,
// for a node that resumes the turn.
type clientTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
}

// EncodeClientTools encodes the tools that a caller runs itself, as they are stored with its turn;
// nil for none.
func EncodeClientTools(offered []model.Tool) json.RawMessage {
	if len(offered) == 0 {
		return nil
	}
	kept := make([]clientTool, len(offered))
	for i, tool := range offered {
		kept[i] = clientTool(tool)
	}
	text, err := json.Marshal(kept)
	if err != nil { // a schema that is no JSON, which no API lets in: the turn is resumed without the tools
		return nil
	}
	return text
}
