package tools

import (
	"context"
	"encoding/json"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/workspaces"
)

// ClientPrefix begins the tool id in the trace of a call that a connected client ran: such a tool
// is in no catalog.
const ClientPrefix = "client:"

// ClientCall is a call that a connected client ran, or did not.
type ClientCall struct {
	Ref       workspaces.Ref
	AgentID   agents.ID
	SessionID string
	TurnID    string
	CallID    string
	// Name is the tool's, as the client declared it.
	Name      string
	Arguments json.RawMessage
	// Output is what the model gets.
	Output    string
	Error     *Error
	StartedAt time.Time
	Latency   time.Duration
	// Untracked has nothing written: the database is away.
	Untracked bool
}

// TraceClient writes down a client's call as Call does its own. It returns the trace when it is not written down; nil
// when it is.
func (s *Service) TraceClient(ctx context.Context, p ClientCall) *Call {
	if !idgen.Valid(idgen.ToolCall, p.CallID) {
		return nil
	}
	c := call{CallParams: CallParams{
		Ref: p.Ref, SessionID: p.SessionID, TurnID: p.TurnID, CallID: p.CallID, Arguments: p.Arguments, Untracked: p.Untracked,
		Entry: Entry{Name: p.Name, AgentID: p.AgentID, Tool: Tool{ID: ID(ClientPrefix + p.Name)}},
	}, redact: newRedactor(nil)}
	return s.trace(ctx, c, Outcome{CallID: p.CallID, Output: p.Output, Latency: p.Latency, Attempts: 1, Error: p.Error, StartedAt: p.StartedAt})
}

// CutForModel is as much of a text as a model gets of an answer, with a marker where it was cut.
func CutForModel(text string) string { return cutText(text, ModelMaxBytes) }

// AgentConfig is the agent's configuration, for what it says of clients' tools. Errors: NotFound.
func (s *Service) AgentConfig(ctx context.Context, ref workspaces.Ref, agentID agents.ID) (agents.Config, error) {
	agent, err := s.agents.Get(ctx, ref, agentID)
	return agent.Config, err
}
