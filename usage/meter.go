package usage

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/workspaces"
)

// Meter names something that is counted.
type Meter string

// The meters. InputTokens and OutputTokens have records; Tokens is their sum, in months only.
const (
	Sessions         Meter = "sessions"
	Turns            Meter = "turns"
	InputTokens      Meter = "input_tokens"
	OutputTokens     Meter = "output_tokens"
	Tokens           Meter = "tokens"
	ToolCalls        Meter = "tool_calls"
	Deliveries       Meter = "deliveries"
	KBBytes          Meter = "kb_bytes"
	VoiceMinutes     Meter = "voice_minutes"
	PSTNMinutes      Meter = "pstn_minutes"
	SpeechSeconds    Meter = "speech_seconds"
	SpeechCharacters Meter = "speech_characters"
)

// Meters are all meters, in the order in which they are shown.
var Meters = []Meter{
	Sessions, Turns, Tokens, InputTokens, OutputTokens, ToolCalls, Deliveries, KBBytes, VoiceMinutes, PSTNMinutes, SpeechSeconds,
	SpeechCharacters,
}

// Known reports whether there is such a meter.
func (m Meter) Known() bool { return slices.Contains(Meters, m) }

// Place is where something was used, and when.
type Place struct {
	Workspace workspaces.Ref
	// AgentID is empty for what belongs to no agent.
	AgentID string
	// At is when it was used; zero is now by the clock of Postgres.
	At time.Time
}

// Record is what something has used of one meter.
type Record struct {
	// Source is the id of what was used: a turn, a session. It is unique with Meter and Model.
	Source string `json:"source"`
	Meter  Meter  `json:"meter"`
	// Model is provider/model; empty for what no model did.
	Model    string `json:"model"`
	Quantity int64  `json:"quantity"`
	// Cost is a decimal number in the currency of the prices; empty when it is not known.
	Cost string `json:"cost,omitempty"`
}

// InsertFrom is the SQL that inserts records when a table or CTE has a row. The other parameters
// are the SQL of the record's tenant, workspace, agent and time, and of records as Encode returns
// them.
func InsertFrom(from, tenant, workspace, agent, at, records string) string {
	return `
	INSERT INTO usage_records (tenant_id, workspace_id, agent_id, source, meter, model, quantity, cost, at)
	SELECT ` + strings.Join([]string{tenant, workspace, agent}, ", ") + `, m.source, m.meter, m.model, m.quantity, m.cost, ` + at + `
	FROM ` + from + `, json_to_recordset(` + records + `) AS m (source text, meter text, model text, quantity bigint, cost numeric)
	ON CONFLICT (tenant_id, source, meter, model) DO NOTHING`
}

// Encode returns records as JSON for InsertFrom, without those of nothing.
func Encode(records []Record) ([]byte, error) {
	some := slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return r.Quantity == 0 })
	if some == nil {
		some = []Record{}
	}
	encoded, err := json.Marshal(some)
	if err != nil {
		return nil, fmt.Errorf("encode usage: %w", err)
	}
	return encoded, nil
}

// Add inserts records in the caller's transaction. What was inserted before is not inserted again.
func Add(ctx context.Context, tx bun.IDB, place Place, records ...Record) error {
	encoded, err := Encode(records)
	if err != nil || string(encoded) == "[]" {
		return err
	}
	var at any // nil is NULL
	if !place.At.IsZero() {
		at = place.At
	}
	_, err = tx.NewRaw(InsertFrom("(SELECT) AS once", "?", "?", "?", "coalesce(?::timestamptz, now())", "?::json"),
		place.Workspace.TenantID, place.Workspace.ID, place.AgentID, at, string(encoded)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("count usage: %w", err)
	}
	return nil
}
