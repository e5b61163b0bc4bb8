package calls

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/stablejson"
	"parlance.dev/parlance/platform/ticker"
)

const (
	// lookEvery is how often a callback or a call is looked at until it is over.
	lookEvery = 500 * time.Millisecond
	// recordedWithin is how long a call that is over on the line may take to be over in the
	// service: of one that was hung up before its sound came, nobody tells it, and it asks after 30
	// s.
	recordedWithin = time.Minute
	// cancelTimeout limits the call that cancels the callback.
	cancelTimeout = 5 * time.Second
)

// beCalled has an agent call the phone, and says how that ended.
func (h *handset) beCalled(ctx context.Context) error {
	agent, err := h.chooseAgent(ctx, h.o.agent)
	if err != nil {
		return err
	}
	user := h.o.user
	if user == "" {
		user = h.number
	}
	made, err := h.callbacks.CreateCallback(ctx, &parlancev1.CreateCallbackRequest{
		WorkspaceId: h.WorkspaceID, AgentId: agent, UserId: user, PhoneNumber: h.number, At: "now", Reason: h.o.reason, IgnoreLimits: true,
	})
	if err != nil {
		return h.Explain("have the agent call", err)
	}
	h.show(event{Event: "planned"}, "planned", made.GetId()+": "+agent+" calls "+h.number)
	h.over = func(context.Context, string) error { return nil }
	watching, stop := context.WithCancel(ctx)
	updates := make(chan outcome)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		h.watch(watching, made, updates)
	}()
	h.updates = updates
	err = h.run(ctx)
	stop()
	<-watched
	if err != nil {
		if h.answeredAt.IsZero() && h.ended == nil { // nobody is there who could answer
			h.cancel(ctx, made.GetId())
		}
		if errors.Is(err, errQuit) {
			return fmt.Errorf("you have put the phone away before the end of %s", made.GetId())
		}
		return err
	}
	return h.callbackEnded(ctx, h.ended.callback)
}

// watch sends each change of a callback, until it is settled or ctx ends.
func (h *handset) watch(ctx context.Context, before *parlancev1.Callback, updates chan<- outcome) {
	for {
		if ticker.Wait(ctx, lookEvery) != nil {
			return
		}
		now, err := h.callbacks.GetCallback(ctx, &parlancev1.GetCallbackRequest{WorkspaceId: h.WorkspaceID, CallbackId: before.GetId()})
		u := outcome{callback: now}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && client.IsFinal(err):
			u.err = h.Explain("look at the callback", err)
		case err != nil:
			continue // it may be a moment's trouble
		default:
			u.settled = isSettled(now)
		}
		if u.err == nil && !u.settled && now.GetWaitsFor() == before.GetWaitsFor() {
			continue
		}
		before = now
		select {
		case updates <- u:
		case <-ctx.Done():
			return
		}
		if u.settled || u.err != nil {
			return
		}
	}
}

// isSettled reports whether a callback is over, or its next attempt is planned.
func isSettled(one *parlancev1.Callback) bool {
	switch one.GetStatus() {
	case "completed", "no_answer", "failed", "canceled":
		return true
	case "scheduled":
		return len(one.GetAttempts()) > 0
	}
	return false
}

// cancel cancels a callback that nobody would answer.
func (h *handset) cancel(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	_, err := h.callbacks.CancelCallback(ctx, &parlancev1.CancelCallbackRequest{WorkspaceId: h.WorkspaceID, CallbackId: id})
	if err != nil {
		h.note("", fmt.Sprintf("%s is not canceled: %s", id, h.Reason(err)))
	}
}

// callbackEnded prints what was said and how the callback ended. One that was not completed is an
// error.
func (h *handset) callbackEnded(ctx context.Context, one *parlancev1.Callback) error {
	h.transcript(ctx, one.GetSessionId())
	if h.o.json {
		if err := h.result("callback", one); err != nil {
			return err
		}
	}
	switch {
	case one.GetStatus() == "completed" && h.o.json:
		return nil
	case one.GetStatus() == "completed":
		h.Line("completed %s (%s)", one.GetId(), one.GetEndReason())
		return nil
	case one.GetStatus() == "scheduled":
		attempt := one.GetAttempts()[len(one.GetAttempts())-1]
		return fmt.Errorf("%s %s: attempt %d of %d; the agent calls again at %s, unless you say parlance callbacks cancel %s",
			attempt.GetStatus(), one.GetId(), attempt.GetNumber(), one.GetMaxAttempts(), client.Moment(one.GetNextAttemptAt()), one.GetId())
	}
	return fmt.Errorf("%s %s: %s", one.GetStatus(), one.GetId(), one.GetEndReason())
}

// dial calls a number, and says how that ended.
func (h *handset) dial(ctx context.Context, to string) error {
	seen, err := h.seen(ctx)
	if err != nil {
		return err
	}
	reason := ""
	h.over = func(_ context.Context, why string) error {
		reason = why
		h.ended = &outcome{settled: true}
		return nil
	}
	h.show(event{Event: "dials", To: to}, "dials", to)
	if err := h.line.send(ctx, event{Event: "dial", To: to}); err != nil {
		return err
	}
	if err := h.run(ctx); err != nil {
		return err
	}
	var one *parlancev1.PhoneCall
	if !h.answeredAt.IsZero() || reason != noSuchNumber {
		one = h.recorded(ctx, seen)
	}
	if one == nil {
		return fmt.Errorf("nobody answers at %s: %s. `parlance numbers ls` lists the numbers that agents answer", to, reason)
	}
	h.transcript(ctx, one.GetSessionId())
	if h.o.json {
		if err := h.result("call", one); err != nil {
			return err
		}
	}
	if one.GetStatus() != "completed" {
		return fmt.Errorf("%s %s: %s", one.GetStatus(), one.GetId(), one.GetEndReason())
	}
	if !h.o.json {
		h.Line("completed %s (%s)", one.GetId(), one.GetEndReason())
	}
	return nil
}

// noSuchNumber is the reason of a call to a number that the line does not have. Source:
// provider/carrier/simulated.
const noSuchNumber = "no such number"

// wait is the phone until ctx ends, or for so many calls.
func (h *handset) wait(ctx context.Context) error {
	seen, err := h.seen(ctx)
	if err != nil {
		return err
	}
	left := h.o.calls
	h.over = func(ctx context.Context, _ string) error {
		if one := h.recorded(ctx, seen); one != nil {
			h.transcript(ctx, one.GetSessionId())
			if h.o.json {
				if err := h.result("call", one); err != nil {
					return err
				}
			} else {
				h.Line("%s %s (%s)", one.GetStatus(), one.GetId(), one.GetEndReason())
			}
		}
		if left--; left == 0 {
			h.ended = &outcome{settled: true}
		}
		return nil
	}
	h.note("wait", h.number+" is there; Ctrl-C ends it")
	if err := h.run(ctx); !errors.Is(err, errQuit) {
		return err
	}
	return nil
}

// latest lists the latest calls with the phone.
func (h *handset) latest(ctx context.Context) ([]*parlancev1.PhoneCall, error) {
	page, err := h.telephony.ListCalls(ctx, &parlancev1.ListCallsRequest{WorkspaceId: h.WorkspaceID, PageSize: client.PageSize})
	if err != nil {
		return nil, h.Explain("list the calls", err)
	}
	var own []*parlancev1.PhoneCall
	for _, one := range page.GetCalls() {
		other := one.GetTo()
		if one.GetDirection() == "inbound" {
			other = one.GetFrom()
		}
		if other == h.number {
			own = append(own, one)
		}
	}
	return own, nil
}

// seen are the ids of the calls that the phone had before.
func (h *handset) seen(ctx context.Context) (map[string]bool, error) {
	before, err := h.latest(ctx)
	ids := map[string]bool{}
	for _, one := range before {
		ids[one.GetId()] = true
	}
	return ids, err
}

// recorded is the call that has just ended, once the service has it as ended; nil: it does not have
// it.
func (h *handset) recorded(ctx context.Context, seen map[string]bool) *parlancev1.PhoneCall {
	ctx, cancel := context.WithTimeout(ctx, recordedWithin)
	defer cancel()
	for {
		list, err := h.latest(ctx)
		for _, one := range list {
			if !seen[one.GetId()] && one.GetEndedAt() != nil {
				seen[one.GetId()] = true
				return one
			}
		}
		if ticker.Wait(ctx, lookEvery) != nil {
			if err != nil {
				h.note("", err.Error())
			}
			return nil
		}
	}
}

// transcript prints what was said in a session. A key that may not read it is no error.
func (h *handset) transcript(ctx context.Context, session string) {
	if session == "" {
		return
	}
	if !h.o.json {
		h.Screen.Line("%s", h.Screen.Dim("what was said in "+term.Clean(session)))
	}
	_, _, err := command.Each(0, func(token string) ([]*parlancev1.Turn, string, error) {
		page, err := h.sessions.GetTranscript(ctx, &parlancev1.GetTranscriptRequest{
			SessionId: session, PageSize: client.PageSize, PageToken: token,
		})
		return page.GetTurns(), page.GetNextPageToken(), err
	}, func(turn *parlancev1.Turn) error {
		if h.o.json {
			return h.result("turn", turn)
		}
		for _, one := range [][2]string{{"user", turn.GetUserText()}, {"agent", turn.GetAgentText()}, {"operator", turn.GetOperatorText()}} {
			if one[1] == "" {
				continue
			}
			for _, line := range term.CleanLines(one[1]) {
				h.Screen.Line("  %s %s", h.Screen.Dim(term.Pad(one[0], 8)), line)
				one[0] = ""
			}
		}
		return nil
	})
	if err != nil {
		h.note("", h.Explain("read the transcript", err).Error())
	}
}

// show prints a line for an event.
func (h *handset) show(e event, word, text string) {
	if h.o.json {
		_ = json.NewEncoder(h.Screen.Out).Encode(struct { // the output may be closed
			At string `json:"at"`
			event
		}{h.Now().UTC().Format(time.RFC3339Nano), e})
		return
	}
	h.note(word, text)
}

// note prints a line for a person.
func (h *handset) note(word, text string) {
	if !h.o.json {
		at := h.Screen.Dim(h.Now().Local().Format(time.TimeOnly))
		h.Screen.Line("%s", strings.TrimRight(fmt.Sprintf("%s  %s  %s", at, term.Pad(word, 8), term.Clean(text)), " "))
	}
}

// result prints a line of JSON with a message.
func (h *handset) result(name string, m proto.Message) error {
	encoded, err := stablejson.Marshal(m)
	if err != nil {
		return err
	}
	return json.NewEncoder(h.Screen.Out).Encode(map[string]any{"event": name, name: json.RawMessage(encoded)})
}

// keyboard reads lines until the input or ctx ends. A read from a terminal cannot be cancelled, so
// the goroutine may live until the process ends.
func (h *handset) keyboard(ctx context.Context) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(h.In); scanner.Scan(); {
			select {
			case lines <- strings.TrimSpace(scanner.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
