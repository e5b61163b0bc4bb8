package chat

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
	"unicode/utf8"

	"connectrpc.com/connect"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/pii"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/server/problem"
)

const (
	// reconnectFor is how long a session waits for a client that lost its connection.
	reconnectFor = 2 * time.Minute
	// The pause between two attempts doubles from firstPause to longestPause. Half of each pause is
	// random, so that clients of one lost server do not return all at once.
	firstPause   = 100 * time.Millisecond
	longestPause = 3 * time.Second
)

// errOutcomeUnknown says that the connection was lost before the server confirmed the turn.
var errOutcomeUnknown = errors.New("the connection was lost, and the words may not have arrived. Look into the session's transcript")

// exchange is one turn and its answer, over as many connections as it takes.
type exchange struct {
	text   string
	answer *answerPrinter
	// turn and last are the ids of the turn and of the last event received; empty before the first.
	turn, last string
	// lost is when the connection was lost; zero while it is open.
	lost time.Time
	done bool
}

// turn sends a text and prints the answer as it arrives. It reconnects when the connection is lost,
// and continues after the last event.
func (c *chat) turn(ctx context.Context, text string) error {
	if !utf8.ValidString(text) {
		return refusedTurn{errors.New("the words are not UTF-8. Set the terminal, or convert the file, to UTF-8")}
	}
	h := &exchange{text: text, answer: &answerPrinter{out: c.out, agent: c.agent, json: c.options.json}}
	for announced, pause := false, firstPause; ; pause = min(2*pause, longestPause) {
		err := c.receive(ctx, h)
		switch {
		case h.done:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !canReconnect(err):
			h.answer.breakOff()
			return c.refusal(err)
		case h.lost.IsZero(): // the connection was open until now
			h.lost, pause = time.Now(), firstPause
		}
		if c.options.reconnectFor <= 0 {
			h.answer.breakOff()
			return c.installation.Explain("take the turn", err)
		}
		if time.Since(h.lost) >= c.options.reconnectFor {
			return fmt.Errorf("%s does not answer for %s. The session may still be there: `parlance chat --session %s` goes on "+
				"with it", c.installation.Base, c.options.reconnectFor, c.session)
		}
		if !announced {
			announced = true
			h.answer.breakOff()
			fmt.Fprintln(c.err, "connection lost, reconnecting …")
		}
		if err := ticker.Wait(ctx, pause/2+rand.N(pause/2)); err != nil { //nolint:gosec // spreads reconnects
			return err
		}
	}
}

// refusedTurn is the server's final answer to a turn, in a session that goes on.
type refusedTurn struct{ error }

// refusal explains why a turn has no answer, without control characters: a model may have written
// the reason. It returns a refusedTurn unless the next turn would be refused as well.
func (c *chat) refusal(err error) error {
	explained := c.installation.Explain("take the turn", err)
	if !connect.IsWireError(err) {
		return explained
	}
	decided := problem.FromConnect(err)
	switch {
	case decided.Kind() == fault.Canceled:
		return refusedTurn{errors.New("take the turn: the answer was stopped")}
	case decided.Kind() == fault.Unauthenticated, decided.Kind() == fault.Forbidden, decided.Kind() == fault.NotFound,
		decided.Kind() == fault.Unimplemented, decided.Reason == fault.SessionClosed:
		return errors.New(term.Clean(explained.Error()))
	}
	return refusedTurn{errors.New(term.Clean(explained.Error()))}
}

// canReconnect reports whether an error is a lost connection or a server that is stopping, and not
// the server's final answer.
func canReconnect(err error) bool {
	if err == nil {
		return true // the stream ended before the turn did
	}
	refused, ok := errors.AsType[*connect.Error](err)
	if !ok {
		return false // the answer could not be printed
	}
	if !connect.IsWireError(err) {
		return true
	}
	return problem.FromConnect(refused).Reason == fault.ServiceUnavailable
}

// receive reads the events of the turn from one connection.
func (c *chat) receive(ctx context.Context, h *exchange) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream, also when printing fails
	stream, err := c.stream(ctx, h)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }() // the stream has ended
	for stream.Receive() {
		event := stream.Msg()
		h.turn, h.last, h.lost = event.GetTurnId(), event.GetEventId(), time.Time{}
		c.turns[h.turn] = true
		h.done = event.GetType() == "turn.done"
		if err := h.answer.print(event); err != nil {
			return err
		}
	}
	return stream.Err()
}

// stream sends the turn, or follows it when the server has it already.
func (c *chat) stream(ctx context.Context, h *exchange) (*connect.ServerStreamForClient[parlancev1.StreamTurnResponse], error) {
	if h.turn == "" && !h.lost.IsZero() {
		taken, err := c.accepted(ctx, h.text)
		if err != nil {
			return nil, err
		}
		h.turn = taken
	}
	if h.turn == "" {
		return c.sessions.StreamTurn(ctx, &parlancev1.StreamTurnRequest{SessionId: c.session, Text: h.text})
	}
	return c.sessions.FollowTurn(ctx, &parlancev1.FollowTurnRequest{SessionId: c.session, TurnId: h.turn, LastEventId: h.last})
}

// accepted returns the id of a turn with this text that the chat has not received. It is called
// when the connection was lost before the first event. It returns "" when the server did not accept
// the turn. The transcript of an agent that keeps nothing shows no texts; its new turn is this one.
func (c *chat) accepted(ctx context.Context, text string) (string, error) {
	if c.earlierUnknown {
		return "", errOutcomeUnknown
	}
	found := ""
	err := c.eachTurn(ctx, func(turn *parlancev1.Turn) {
		if !c.turns[turn.GetId()] && (turn.GetUserText() == text || turn.GetUserText() == pii.Withheld) {
			found = turn.GetId()
		}
	})
	return found, err
}

// readEarlierTurns records the turns that the session had before this chat.
func (c *chat) readEarlierTurns(ctx context.Context) error {
	return c.eachTurn(ctx, func(turn *parlancev1.Turn) { c.turns[turn.GetId()] = true })
}

func (c *chat) eachTurn(ctx context.Context, visit func(*parlancev1.Turn)) error {
	_, _, err := command.Each(0, func(token string) ([]*parlancev1.Turn, string, error) {
		page, err := c.sessions.GetTranscript(ctx, &parlancev1.GetTranscriptRequest{
			SessionId: c.session, PageSize: postgres.MaxPageSize, PageToken: token,
		})
		return page.GetTurns(), page.GetNextPageToken(), err
	}, func(turn *parlancev1.Turn) error {
		visit(turn)
		return nil
	})
	return err
}
