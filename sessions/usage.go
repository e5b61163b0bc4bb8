package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/usage"
)

// Place returns where the session uses something, at the time of its last activity.
func (s Session) Place() usage.Place {
	return usage.Place{Workspace: s.Ref(), AgentID: string(s.AgentID), At: s.LastActivityAt}
}

// UsageOfTurn returns what a turn that is over has used: itself unless it failed or was left to a
// person, its calls of tools that were made, and the tokens of the models in its receipt.
func UsageOfTurn(turn Turn, prices *usage.Prices) ([]usage.Record, error) {
	var records []usage.Record
	leftToPerson := turn.Metrics.Handover == HandoverOperator
	if !leftToPerson && (turn.Status == TurnCompleted || turn.Status == TurnCancelled) {
		records = append(records, usage.Record{Source: string(turn.ID), Meter: usage.Turns, Quantity: 1})
	}
	calls := int64(0)
	for _, call := range turn.ToolCalls() {
		if call.Made() {
			calls++
		}
	}
	records = append(records, usage.Record{Source: string(turn.ID), Meter: usage.ToolCalls, Quantity: calls})
	if turn.Receipt == nil {
		return records, nil
	}
	var receipt struct {
		ModelCalls []ReceiptModelCall `json:"model_calls"`
	}
	if err := json.Unmarshal(turn.Receipt, &receipt); err != nil {
		return nil, fmt.Errorf("reading a receipt: %w", err)
	}
	return append(records, UsageOfModels(string(turn.ID), receipt.ModelCalls, prices)...), nil
}

// UsageOfModels returns the tokens that calls of models have used, by model, with what each kind of
// token has cost.
func UsageOfModels(source string, calls []ReceiptModelCall, prices *usage.Prices) []usage.Record {
	var names []string
	byModel := map[string][2]int{}
	for _, call := range calls {
		name := call.Provider + "/" + call.Model
		if _, there := byModel[name]; !there {
			names = append(names, name)
		}
		tokens := byModel[name]
		byModel[name] = [2]int{tokens[0] + call.InputTokens, tokens[1] + call.OutputTokens}
	}
	var records []usage.Record
	for _, name := range names {
		tokens := byModel[name]
		records = append(records,
			usage.Record{
				Source: source, Meter: usage.InputTokens, Model: name, Quantity: int64(tokens[0]), Cost: prices.Cost(name, tokens[0], 0),
			},
			usage.Record{
				Source: source, Meter: usage.OutputTokens, Model: name, Quantity: int64(tokens[1]), Cost: prices.Cost(name, 0, tokens[1]),
			},
		)
	}
	return records
}

// MeterModels counts what calls of models beside the turns have used, in the session's cost too.
// source is unique for these calls.
func MeterModels(
	ctx context.Context, tx bun.IDB, session Session, source string, calls []ReceiptModelCall, prices *usage.Prices, at time.Time,
) error {
	place := session.Place()
	place.At = at
	records := UsageOfModels(source, calls, prices)
	if err := usage.Add(ctx, tx, place, records...); err != nil {
		return err
	}
	for _, record := range records {
		if record.Cost == "" {
			continue
		}
		_, err := tx.NewUpdate().Model((*Session)(nil)).Set("cost = coalesce(s.cost, 0) + ?::numeric", record.Cost).
			Where("s.tenant_id = ?", session.TenantID).Where("s.id = ?", session.ID).Exec(ctx)
		if err != nil {
			return fmt.Errorf("counting a session's cost: %w", err)
		}
	}
	return nil
}
