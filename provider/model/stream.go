package model

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"parlance.dev/parlance/provider/internal/apiclient"
)

// Exchange calls a server that streams its answers. An adapter sets what differs between vendors.
type Exchange struct {
	Party    Party
	Timeouts Timeouts
	Caller   apiclient.Caller
	// Reasons are the vendor's words for FinishLength and FinishFiltered. Others are FinishStop.
	Reasons map[string]FinishReason
	// AddFunc adds the data of an event to the answer and returns the text in it. Its error ends the
	// answer, unless that was complete before.
	AddFunc func(answer *Answer, data []byte) (string, error)
}

// Stream sends the request, whose body is given, and reads the answer. Errors: those of
// Provider.Stream.
func (x Exchange) Stream(ctx context.Context, req Request, body []byte, emit func(Event) error) (Result, error) {
	watched, watch := x.Timeouts.Watch(ctx)
	defer watch.Stop()
	if req.Standby {
		x.Caller.MaxRetries = -1
	}
	answer := &Answer{Model: req.Model}
	res, err := x.Caller.Post(watched, body)
	if err != nil {
		return x.result(answer), x.Party.unanswered(watched, req, err)
	}
	defer func() { _ = res.Body.Close() }() // the answer has been read or given up, so an error changes nothing
	answer.opened = true
	events := apiclient.NewEvents(res.Body)
	if err := x.read(answer, events, watch, emit); err != nil {
		return x.result(answer), err
	}
	complete := answer.Done || answer.Reason != "" && ctx.Err() == nil
	switch err := events.Err(); {
	case complete || answer.full:
	case err == nil && !events.Streamed():
		return x.result(answer), x.Party.noStream(res.Header.Get("Content-Type"))
	default:
		return x.result(answer), x.Party.broken(watched, events.Streamed(), cmp.Or(err, io.ErrUnexpectedEOF))
	}
	watch.Pause()
	err = answer.finish(req, x.ended(answer), emit)
	result := x.result(answer)
	if err == nil && result.FinishReason == FinishFiltered && result.Text == "" {
		err = x.Party.filtered()
	}
	return result, err
}

// read reads events until the answer or the stream ends. Errors: that of emit, wrapped; one that
// the server reported.
func (x Exchange) read(answer *Answer, events *apiclient.Events, watch *Watch, emit func(Event) error) error {
	for !answer.Done && !answer.full && events.Next() {
		answer.Whole = !events.Streamed()
		text, err := x.AddFunc(answer, events.Data())
		if err != nil && answer.Reason != "" {
			return nil
		}
		if err != nil {
			return err
		}
		if text != "" {
			watch.Pause()
			if err := emit(TextDelta{Text: text}); err != nil {
				return fmt.Errorf("emit text: %w", err)
			}
		}
		switch {
		case answer.Reason != "":
			watch.Ended()
		case answer.Begun:
			watch.Token()
		}
	}
	return nil
}

// ended converts the reason that the server sent.
func (x Exchange) ended(answer *Answer) FinishReason {
	return cmp.Or(x.Reasons[answer.Reason], FinishStop)
}

// maxTokens is more than a call can use.
const maxTokens = 100_000_000

// result is the answer so far.
func (x Exchange) result(answer *Answer) Result {
	result := answer.result(x.ended(answer))
	result.Usage, result.Provider, result.Model = answer.Usage, x.Party.Name, answer.Model
	result.Usage.Incomplete = answer.opened && !answer.Counted
	if max(result.Usage.InputTokens, result.Usage.OutputTokens) > maxTokens || min(result.Usage.InputTokens, result.Usage.OutputTokens) < 0 {
		result.Usage = Usage{Incomplete: true} // no count of tokens
	}
	return result
}
