package tools

import (
	"context"
	"encoding/json"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/pii"
	"parlance.dev/parlance/workspaces"
)

// ClientPrefix begins the tool id in the trace of a call that a connected client ran. Such a tool
// is in no catalog.
const ClientPrefix = "client:"

// ClientCall is a call that a connected client ran, or refused.
type ClientCall struct {
	Ref       workspaces.Ref
	AgentID   agents.ID
	SessionID string
	TurnID    string
	CallID    string
	// Name is the name of the tool, as the client declared it.
	Name      string
	Arguments json.RawMessage
	// Output is the text that the model gets.
	Output    string
	Error     *Error
	StartedAt time.Time
	Latency   time.Duration
	// Untracked says that the database is unavailable: the trace is not stored but returned.
	Untracked bool
	// PII replaces personal data in the trace.
	PII pii.Redactor
}

// TraceClient stores the trace of a call that a client ran. It returns the trace if it is not
// stored.
func (s *Service) TraceClient(ctx context.Context, p ClientCall) *Call {
	if !idgen.Valid(idgen.ToolCall, p.CallID) {
		return nil
	}
	e := &execution{CallParams: CallParams{
		Ref: p.Ref, SessionID: p.SessionID, TurnID: p.TurnID, CallID: p.CallID, Arguments: p.Arguments, Untracked: p.Untracked, PII: p.PII,
		Entry: Entry{Name: p.Name, AgentID: p.AgentID, Tool: Tool{ID: ID(ClientPrefix + p.Name)}},
	}}
	return s.trace(ctx, e, Outcome{
		CallID: p.CallID, Output: p.Output, Latency: p.Latency, Attempts: 1, Error: p.Error, StartedAt: p.StartedAt,
	})
}

// AgentConfig is the configuration of an agent, which decides about tools of clients. Errors:
// NotFound.
func (s *Service) AgentConfig(ctx context.Context, ref workspaces.Ref, agentID agents.ID) (agents.Config, error) {
	agent, err := s.agents.Get(ctx, ref, agentID)
	return agent.Config, err
}
