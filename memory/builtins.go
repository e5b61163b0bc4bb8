package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/tools"
)

// The names of the tools. Source: interface, Glossary.
const (
	ToolSearch    = "search_memory"
	ToolNote      = "add_memory_note"
	ToolStatement = "record_persona_statement"
)

// All stands for all memories of the user in a list of ids.
const All = "all"

// The statuses in the answers of the tools.
const (
	StatusRemembered   = "remembered"
	StatusKnown        = "already_known"
	StatusReplaced     = "replaced"
	StatusNeedsConsent = "needs_confirmation"
	StatusConfirmed    = "confirmed"
	StatusForgotten    = "forgotten"
	StatusNothing      = "nothing_to_forget"
)

// SetAgreed sets the function that says whether a user has agreed. Without it tools confirm
// nothing.
func (s *Service) SetAgreed(fn AgreedFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agreed = fn
}

// Builtins are the implementations of the memory tools. The user is that of the session, never an
// argument.
func (s *Service) Builtins() map[string]tools.Builtin {
	return map[string]tools.Builtin{
		ToolSearch:    tools.BuiltinFunc(s.runSearch),
		ToolNote:      tools.BuiltinFunc(s.runNote),
		ToolStatement: tools.BuiltinFunc(s.runStatement),
	}
}

// Answer is the answer of the tools to the model, as JSON. Package conversation reads its ids for
// the receipt of the turn.
type Answer struct {
	// Status is empty for a search.
	Status string `json:"status,omitempty"`
	// ID and Text are those of the new memory.
	ID   ID     `json:"id,omitempty"`
	Text string `json:"text,omitempty"`
	// Replaces is the text of the superseded memory.
	Replaces string `json:"replaces,omitempty"`
	// IDs are those of the confirmed or deleted memories, superseded ones included.
	IDs []ID `json:"ids,omitempty"`
	// Memories are the results of a search.
	Memories []AnswerMemory `json:"memories,omitempty"`
	// Advice tells the model what to do.
	Advice string `json:"advice,omitempty"`
}

// AnswerMemory is one memory that was found.
type AnswerMemory struct {
	ID       ID     `json:"id"`
	Kind     Kind   `json:"kind"`
	Category string `json:"category,omitempty"`
	Text     string `json:"text"`
	NotedOn  string `json:"noted_on"`
}

// encoded is the answer as JSON.
func (a Answer) encoded() (string, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("encode answer: %w", err)
	}
	return string(text), nil
}

// userOf is the user of a call.
func userOf(call tools.BuiltinCall) (string, error) {
	id := call.Variables["system__user_id"]
	if call.SessionID == "" || !validUser(id) {
		return "", fault.New(fault.InvalidRequest, "There is no user here whose memory it could be.")
	}
	return id, nil
}

func (s *Service) runSearch(ctx context.Context, call tools.BuiltinCall) (string, error) {
	var asked struct {
		Query string `json:"query"`
		TopK  int    `json:"top_k"`
	}
	user, err := userOf(call)
	if err != nil {
		return "", err
	}
	if err := decode(call, &asked); err != nil {
		return "", err
	}
	found, err := s.Search(ctx, call.Ref, user, asked.Query, asked.TopK)
	if err != nil {
		return "", err
	}
	answer := Answer{Memories: make([]AnswerMemory, len(found))}
	for i, one := range found {
		answer.Memories[i] = AnswerMemory{
			ID: one.ID, Kind: one.Kind, Category: one.Category, Text: one.Text, NotedOn: one.UpdatedAt.Format(time.DateOnly),
		}
	}
	if len(found) == 0 {
		answer.Advice = "Nothing is remembered of the user that bears on this."
	}
	return answer.encoded()
}

// writeArguments are the arguments that both writing tools take.
type writeArguments struct {
	Forget  []string `json:"forget"`
	Confirm []string `json:"confirm"`
}

func (s *Service) runNote(ctx context.Context, call tools.BuiltinCall) (string, error) {
	var asked struct {
		writeArguments
		Text string   `json:"text"`
		Tags []string `json:"tags"`
	}
	if err := decode(call, &asked); err != nil {
		return "", err
	}
	return s.write(ctx, call, asked.writeArguments, AddParams{Kind: Note, Text: asked.Text, Tags: asked.Tags}, "text")
}

func (s *Service) runStatement(ctx context.Context, call tools.BuiltinCall) (string, error) {
	var asked struct {
		writeArguments
		Statement string `json:"statement"`
		Category  string `json:"category"`
		Attribute string `json:"attribute"`
	}
	if err := decode(call, &asked); err != nil {
		return "", err
	}
	p := AddParams{Kind: Statement, Text: asked.Statement, Category: asked.Category, Attribute: asked.Attribute}
	return s.write(ctx, call, asked.writeArguments, p, "statement")
}

func decode(call tools.BuiltinCall, into any) error {
	if err := json.Unmarshal(call.Arguments, into); err != nil {
		return fault.Wrap(err, fault.ToolArgumentsInvalid, "The arguments do not match the tool's schema.")
	}
	return nil
}

// write adds, forgets or confirms.
func (s *Service) write(ctx context.Context, call tools.BuiltinCall, asked writeArguments, p AddParams, field string) (string, error) {
	user, err := userOf(call)
	if err != nil {
		return "", err
	}
	given := 0
	for _, present := range []bool{p.Text != "", len(asked.Forget) > 0, len(asked.Confirm) > 0} {
		if present {
			given++
		}
	}
	if given != 1 {
		return "", fault.New(fault.ToolArgumentsInvalid, "Give exactly one of %s, forget and confirm.", field)
	}
	switch {
	case len(asked.Forget) > 0:
		return s.forget(ctx, call, user, asked.Forget)
	case len(asked.Confirm) > 0:
		return s.confirm(ctx, call, user, asked.Confirm)
	}
	p.UserID, p.Confidence, p.CreatedBy = user, 1, ByModel
	p.id = ID(idgen.New(idgen.Memory)) // a turn with an Idempotency-Key may write several memories
	p.AgentID, p.SessionID, p.TurnID = call.Variables["system__agent_id"], call.SessionID, call.TurnID
	if p.Pending, err = s.needsConsent(ctx, call, p); err != nil {
		return "", err
	}
	kept, err := s.Add(ctx, call.Ref, p)
	if err != nil {
		return "", err
	}
	answer := Answer{ID: kept.ID, Text: kept.Text, Status: StatusRemembered}
	switch {
	case kept.Status == Pending:
		answer.Status = StatusNeedsConsent
		answer.Advice = "It is not remembered yet. Ask the user whether you may remember it; " +
			"when they say yes, call this tool with confirm and the id."
	case kept.Outcome == Renewed:
		answer.Status = StatusKnown
	case kept.Outcome == Replaced:
		answer.Status, answer.Replaces = StatusReplaced, kept.Before
	}
	return answer.encoded()
}

// needsConsent says whether the user has to confirm a memory.
func (s *Service) needsConsent(ctx context.Context, call tools.BuiltinCall, p AddParams) (bool, error) {
	if s.agents == nil {
		return false, nil
	}
	agent, err := s.agents.Get(ctx, call.Ref, agents.ID(call.Variables["system__agent_id"]))
	if fault.IsReason(err, fault.ResourceNotFound) {
		return false, nil // deleted concurrently
	}
	if err != nil {
		return false, err
	}
	return NeedsConsent(agent.Config.Memory.ConfirmCategories, p), nil
}

// NeedsConsent says whether the category or a tag of a memory is among those that have to be
// confirmed.
func NeedsConsent(categories []string, p AddParams) bool {
	if len(categories) == 0 {
		return false
	}
	_, attribute := slotOf(p.Kind, p.Text, p.Category, p.Attribute)
	about := append([]string{p.Category, attribute}, p.Tags...)
	if p.Category == "" && p.Kind == Statement {
		about = append(about, categoryOf(attribute, p.Text))
	}
	return slices.ContainsFunc(categories, func(category string) bool {
		return category == "*" || slices.ContainsFunc(about, func(one string) bool {
			return one != "" && singularOf(foldName(one)) == singularOf(foldName(category))
		})
	})
}

func (s *Service) forget(ctx context.Context, call tools.BuiltinCall, user string, requested []string) (string, error) {
	if slices.ContainsFunc(requested, func(one string) bool { return strings.EqualFold(one, All) }) {
		ids, err := s.allIDs(ctx, call.Ref, user)
		if err != nil {
			return "", err
		}
		count, err := s.DeleteAll(ctx, call.Ref, user)
		if err != nil {
			return "", err
		}
		answer := Answer{Status: StatusForgotten, IDs: ids}
		if count == 0 {
			answer.Status = StatusNothing
		}
		return answer.encoded()
	}
	ids := make([]ID, len(requested))
	for i, one := range requested {
		ids[i] = ID(one)
	}
	deleted, err := s.Delete(ctx, call.Ref, user, ids...)
	if err != nil {
		return "", err
	}
	answer := Answer{Status: StatusForgotten, IDs: deleted}
	if len(deleted) == 0 {
		answer.Status, answer.Advice = StatusNothing, "Nothing of this user has these ids. Find the ids with search_memory."
	}
	return answer.encoded()
}

func (s *Service) confirm(ctx context.Context, call tools.BuiltinCall, user string, requested []string) (string, error) {
	s.mu.Lock()
	agreed := s.agreed
	s.mu.Unlock()
	said := false
	if agreed != nil {
		var err error
		if said, err = agreed(ctx, call.Ref, call.SessionID, call.TurnID); err != nil {
			return "", err
		}
	}
	if !said {
		return Answer{
			Status: StatusNeedsConsent,
			Advice: "The user has not said yes. Ask whether you may remember it, wait for the answer, and call again.",
		}.encoded()
	}
	answer := Answer{Status: StatusConfirmed}
	for _, one := range requested {
		item, err := s.Approve(ctx, call.Ref, user, ID(one))
		if err != nil {
			return "", err
		}
		answer.IDs, answer.Text = append(answer.IDs, item.ID), item.Text
	}
	return answer.encoded()
}
