package turns

import (
	"context"
	"errors"
	"strings"
	"time"

	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

// speak lets the model answer once and returns the calls it wants. What was said before an error
// is kept in the turn.
func (r *Runner) Speak(ctx context.Context, provider model.Provider, req model.Request) ([]model.ToolCall, error) {
	queued := r.S.sessions.Now()
	leave, err := r.S.gate.Enter(ctx, string(r.Session.TenantID))
	if err != nil {
		return nil, err // too many wait, or the caller has gone
	}
	defer leave()
	asked, first := r.S.sessions.Now(), time.Time{}
	if asked.Sub(queued) >= time.Millisecond {
		r.Receipt.Stage(sessions.StageModelQueue, queued, asked)
	}
	said := sessions.Message{Role: sessions.RoleAssistant, ItemID: idgen.New(idgen.Item)}
	open := false
	var words strings.Builder
	result, err := provider.Stream(ctx, req, func(e model.Event) error {
		if first.IsZero() {
			first = r.S.sessions.Now()
		}
		if r.Turn.Metrics.ModelFirstTokenMS == 0 {
			r.Turn.Metrics.ModelFirstTokenMS = max(1, sessions.Milliseconds(r.S.sessions.Now().Sub(asked)))
		}
		delta, ok := e.(model.TextDelta)
		if !ok {
			return ctx.Err()
		}
		if r.firstToken == 0 {
			r.firstToken = max(1, r.S.sessions.Now().Sub(r.Begun))
		}
		text := sessions.StorableText(delta.Text)
		if text == "" {
			return ctx.Err()
		}
		if !open {
			open = true
			words.Grow(answerRoom) // most answers need no more
			said.At = sessions.Milliseconds(r.S.sessions.Now().Sub(r.Begun))
			if err := r.Tell(MessageStarted{ResponseID: r.ResponseID, ItemID: said.ItemID}); err != nil {
				return err
			}
		}
		words.WriteString(text)
		if err := r.Tell(TextDelta{ResponseID: r.ResponseID, ItemID: said.ItemID, Text: text}); err != nil {
			return err
		}
		return ctx.Err()
	})
	r.Receipt.ModelCall(provider.Name(), req, result, err, asked, first, r.S.sessions.Now())
	r.Turn.InputTokens += result.Usage.InputTokens
	r.Turn.OutputTokens += result.Usage.OutputTokens
	r.finish = result.FinishReason
	if result.Model != "" {
		r.Turn.Model = result.Model
	}
	for _, i := range result.Citations {
		if i >= 0 && i < len(r.Turn.Citations) {
			r.Turn.Citations[i].Quoted = true
		}
	}
	said.BrokenOff = err != nil || r.finish == model.FinishLength || r.finish == model.FinishFiltered
	if said.Text = words.String(); open {
		r.Turn.Messages = append(r.Turn.Messages, said)
		_ = r.Emit(MessageDone{ResponseID: r.ResponseID, ItemID: said.ItemID, Text: said.Text, Cut: said.BrokenOff}) // the next event tells
	}
	if err != nil {
		return nil, r.modelError(ctx, err)
	}
	return result.ToolCalls, nil
}

// modelError tells the model's failures from those of the caller.
func (r *Runner) modelError(ctx context.Context, err error) error {
	if _, gone := errors.AsType[goneError](err); gone || ctx.Err() != nil {
		return err
	}
	return sessions.UpstreamFault(err)
}
