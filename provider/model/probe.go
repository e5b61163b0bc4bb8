package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
)

// Step is one thing that [Probe] tried.
type Step struct {
	// Name is "stream" or "tool call".
	Name string
	OK   bool
	// Took is the duration of the step. FirstToken is the time to its first piece, or 0 if none came.
	Took       time.Duration
	FirstToken time.Duration
	// Detail describes the result in a sentence.
	Detail string
	// Advice says what to do. Empty when there is nothing to do.
	Advice string
}

const (
	probeTool   = "parlance_probe"
	probeWord   = "harbour"
	probeSystem = `When the user writes "/tool NAME JSON", call the tool NAME with these arguments. ` +
		`When a tool has answered, repeat its answer in one short sentence.`
)

// Probe makes one streamed call and one tool call with its second round, and describes what failed
// and what to do. It ends when the first step fails. now measures the durations.
func Probe(ctx context.Context, p Provider, now func() time.Time) []Step {
	stream := probeStream(ctx, p, now)
	if !stream.OK {
		return []Step{stream}
	}
	return []Step{stream, probeToolCall(ctx, p, now)}
}

func probeStream(ctx context.Context, p Provider, now func() time.Time) Step {
	step := Step{Name: "stream"}
	start, pieces := now(), 0
	result, err := p.Stream(ctx, Request{Messages: []Message{{Role: RoleUser, Text: "Say hello in one short sentence."}}}, func(Event) error {
		if pieces++; pieces == 1 {
			step.FirstToken = now().Sub(start)
		}
		return nil
	})
	step.Took = now().Sub(start)
	if err != nil {
		return step.failed(err)
	}
	if strings.TrimSpace(result.Text) == "" {
		step.Detail = fmt.Sprintf("%s answered without a word (model %q).", p.Name(), result.Model)
		step.Advice = "Check that the configured model is a chat model, not one for embeddings."
		return step
	}
	step.OK = true
	step.Detail = fmt.Sprintf("%s answered with model %q in %d pieces.", p.Name(), result.Model, pieces)
	if pieces == 1 {
		step.Advice = "The answer came in one piece: a proxy in between may be holding it back."
	}
	return step
}

func probeToolCall(ctx context.Context, p Provider, now func() time.Time) Step {
	step := Step{Name: "tool call"}
	start := now()
	req := Request{
		System:   probeSystem,
		Messages: []Message{{Role: RoleUser, Text: fmt.Sprintf(`/tool %s {"word":%q}`, probeTool, probeWord)}},
		Tools: []Tool{{
			Name:        probeTool,
			Description: "Tries out whether tools can be called.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}`),
		}},
	}
	noting := func(Event) error {
		if step.FirstToken == 0 {
			step.FirstToken = now().Sub(start)
		}
		return nil
	}
	asked, err := p.Stream(ctx, req, noting)
	if err != nil {
		step.Took = now().Sub(start)
		return step.failed(err)
	}
	if problem := probeCallProblem(asked.ToolCalls); problem != "" {
		step.Took = now().Sub(start)
		step.Detail = problem
		step.Advice = "Conversations work, tools will not: choose a model (or a server setting) that supports tool calls."
		return step
	}
	req.Messages = append(req.Messages, Message{Role: RoleAssistant, Text: asked.Text, ToolCalls: asked.ToolCalls})
	for _, call := range asked.ToolCalls {
		req.Messages = append(req.Messages, Message{Role: RoleTool, ToolCallID: call.ID, Text: `{"echo":"` + probeWord + `"}`})
	}
	told, err := p.Stream(ctx, req, noting)
	step.Took = now().Sub(start)
	if err != nil {
		return step.failed(err)
	}
	step.OK = true
	step.Detail = fmt.Sprintf("%s called the tool and read its answer.", p.Name())
	if strings.TrimSpace(told.Text) == "" {
		step.Advice = "It said nothing after the tool's answer; a larger model usually does."
	}
	return step
}

// probeCallProblem says what is wrong with the calls, or nothing.
func probeCallProblem(calls []ToolCall) string {
	if len(calls) == 0 {
		return "The model answered in words and called no tool."
	}
	call := calls[0]
	if call.Name != probeTool {
		return fmt.Sprintf("The model called %q, which does not exist.", call.Name)
	}
	if call.Malformed != "" {
		return "The model's arguments were not a JSON object."
	}
	var arguments struct {
		Word string `json:"word"`
	}
	if err := json.Unmarshal(call.Arguments, &arguments); err != nil || arguments.Word != probeWord {
		return "The model called the tool with other arguments than it was told to."
	}
	return ""
}

// failed describes an error of Stream.
func (s Step) failed(err error) Step {
	f := fault.From(err)
	s.Detail = f.Message
	switch f.Meta["status"] {
	case "401", "403":
		s.Advice = "Check the API key: PARLANCE_MODEL_API_KEY; PARLANCE_ANTHROPIC_API_KEY for Anthropic; " +
			"PARLANCE_AZURE_API_KEY for Azure, and that it is of the resource in PARLANCE_AZURE_BASE_URL."
	case "404":
		s.Advice = "Check PARLANCE_MODEL_NAME, and that PARLANCE_MODEL_BASE_URL ends where the server's API begins (mostly /v1); " +
			"for Azure PARLANCE_AZURE_DEPLOYMENT, _BASE_URL and _API_VERSION."
	case "400", "413", "422":
		s.Advice = "The log has the server's own words. Often the model takes no tools or no temperature: choose another one."
	case "429":
		s.Advice = "Wait, or raise the limit or the credit of this key with the provider."
	case "":
		s.Advice = "Check that the server runs and that PARLANCE_MODEL_BASE_URL is its address."
	default:
		s.Advice = "The server failed: look at its log, then try again."
	}
	return s
}
