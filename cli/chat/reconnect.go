package chat

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"connectrpc.com/connect"

	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/server/problem"
)

const (
	// reconnectFor is how long a chat tries to come back: as long as a session waits for a lost client.
	reconnectFor = 2 * time.Minute
	// The pauses between two tries double from the first to the longest, each half of it by chance, so that
	// those who lost the same server do not come back at once.
	firstPause   = 100 * time.Millisecond
	longestPause = 3 * time.Second
)

// errUnheard says that the connection was lost before it was known whether the words had arrived.
var errUnheard = errors.New("the connection was lost, and the words may not have arrived. Look into the session's transcript")

// hearing is a turn that is listened to, over as many connections as it takes.
type hearing struct {
	text   string
	answer *answerPrinter
	// turn and last name what has been heard; empty before anything was.
	turn, last string
	// lost is when the connection was lost; zero while there is one.
	lost time.Time
	done bool
}

// turn says one thing and prints the answer as it comes. When the connection is lost it comes back and
// goes on where it was.
func (c *chat) turn(ctx context.Context, text string) error {
	h := &hearing{text: text, answer: &answerPrinter{out: c.out, agent: c.agent, json: c.options.json}}
	for told, pause := false, firstPause; ; pause = min(2*pause, longestPause) {
		err := c.listen(ctx, h)
		switch {
		case h.done:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !mayComeBack(err):
			h.answer.breakOff()
			return c.lastWord(err)
		case h.lost.IsZero(): // it was well until now
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
		if !told {
			told = true
			h.answer.breakOff()
			fmt.Fprintln(c.err, "connection lost, reconnecting …")
		}
		wait(ctx, pause/2+rand.N(pause/2))
	}
}

// refusedTurn is the server's last word on one turn of a session that goes on.
type refusedTurn struct{ error }

// lastWord says why a turn has no answer, harmless on a terminal: the word may be a model's. It is a refusedTurn
// unless the next turn would be refused as this one was.
func (c *chat) lastWord(err error) error {
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

// wait waits until d is over or ctx is.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// mayComeBack says whether an error is a lost connection or a server that goes, and not the server's last
// word on the turn.
func mayComeBack(err error) bool {
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

// listen hears the turn over one connection.
func (c *chat) listen(ctx context.Context, h *hearing) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream, also when printing fails
	stream, err := c.stream(ctx, h)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }() // the turn is over
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

// stream takes the turn, or follows it when that has been done.
func (c *chat) stream(ctx context.Context, h *hearing) (*connect.ServerStreamForClient[parlancev1.StreamTurnResponse], error) {
	if h.turn == "" && !h.lost.IsZero() {
		taken, err := c.taken(ctx, h.text)
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

// taken looks for a turn with these words that this chat has not heard of: the connection was lost before
// its first event came. Empty: the words have not arrived.
func (c *chat) taken(ctx context.Context, text string) (string, error) {
	if c.unsure {
		return "", errUnheard
	}
	found := ""
	err := c.eachTurn(ctx, func(turn *parlancev1.Turn) {
		if !c.turns[turn.GetId()] && turn.GetUserText() == text {
			found = turn.GetId()
		}
	})
	return found, err
}

// remember notes the turns of a session that is there, which are not this chat's.
func (c *chat) remember(ctx context.Context) error {
	return c.eachTurn(ctx, func(turn *parlancev1.Turn) { c.turns[turn.GetId()] = true })
}

func (c *chat) eachTurn(ctx context.Context, do func(*parlancev1.Turn)) error {
	for token, more := "", true; more; more = token != "" {
		page, err := c.sessions.GetTranscript(ctx, &parlancev1.GetTranscriptRequest{
			SessionId: c.session,
			PageSize:  postgres.MaxPageSize, PageToken: token,
		})
		if err != nil {
			return err
		}
		for _, turn := range page.GetTurns() {
			do(turn)
		}
		token = page.GetNextPageToken()
	}
	return nil
}
