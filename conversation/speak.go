package conversation

import (
	"context"
	"errors"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
)

// speak lets the model answer once and returns the calls it wants. What was said before an error
// is kept in the turn.
func (r *runner) speak(ctx context.Context, provider model.Provider, req model.Request) ([]model.ToolCall, error) {
	queued := r.s.moment()
	leave, err := r.s.gate.Enter(ctx, string(r.session.TenantID))
	if err != nil {
		return nil, err // too many wait, or the caller has gone
	}
	defer leave()
	asked, first := r.s.moment(), time.Time{}
	if asked.Sub(queued) >= time.Millisecond {
		r.making.stage(stageModelQueue, queued, asked)
	}
	said := Message{Role: roleAssistant, ItemID: idgen.New(idgen.Item)}
	open := false
	var words strings.Builder
	result, err := provider.Stream(ctx, req, func(e model.Event) error {
		if first.IsZero() {
			first = r.s.moment()
		}
		if r.turn.Metrics.ModelFirstTokenMS == 0 {
			r.turn.Metrics.ModelFirstTokenMS = max(1, milliseconds(r.s.moment().Sub(asked)))
		}
		delta, ok := e.(model.TextDelta)
		if !ok {
			return ctx.Err()
		}
		if r.firstToken == 0 {
			r.firstToken = max(1, r.s.moment().Sub(r.begun))
		}
		text := keepable(delta.Text)
		if text == "" {
			return ctx.Err()
		}
		if !open {
			open = true
			words.Grow(answerRoom) // most answers need no more
			said.At = milliseconds(r.s.moment().Sub(r.begun))
			if err := r.tell(MessageStarted{ResponseID: r.responseID, ItemID: said.ItemID}); err != nil {
				return err
			}
		}
		words.WriteString(text)
		if err := r.tell(TextDelta{ResponseID: r.responseID, ItemID: said.ItemID, Text: text}); err != nil {
			return err
		}
		return ctx.Err()
	})
	r.making.modelCall(provider.Name(), req, result, err, asked, first, r.s.moment())
	r.turn.InputTokens += result.Usage.InputTokens
	r.turn.OutputTokens += result.Usage.OutputTokens
	r.finish = result.FinishReason
	if result.Model != "" {
		r.turn.Model = result.Model
	}
	for _, i := range result.Citations {
		if i >= 0 && i < len(r.turn.Citations) {
			r.turn.Citations[i].Quoted = true
		}
	}
	said.BrokenOff = err != nil || r.finish == model.FinishLength || r.finish == model.FinishFiltered
	if said.Text = words.String(); open {
		r.turn.Messages = append(r.turn.Messages, said)
		_ = r.emit(MessageDone{ResponseID: r.responseID, ItemID: said.ItemID, Text: said.Text, Cut: said.BrokenOff}) // the next event tells
	}
	if err != nil {
		return nil, r.modelError(ctx, err)
	}
	return result.ToolCalls, nil
}

// modelError tells the model's failures from those of the caller.
func (r *runner) modelError(ctx context.Context, err error) error {
	if _, gone := errors.AsType[goneError](err); gone || ctx.Err() != nil {
		return err
	}
	return upstream(err)
}

// upstream is the fault for a model that could not answer.
func upstream(err error) error {
	decided := postgres.Decide(err)
	message := "The model could not answer. Try again."
	if decided.Reason == fault.UpstreamFailed || decided.Reason == fault.ServiceUnavailable {
		message = decided.Message
	}
	failed := fault.Wrap(err, fault.UpstreamFailed, "%s", message)
	failed.Meta, failed.RetryAfter = decided.Meta, decided.RetryAfter
	return failed
}
