package chat

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"connectrpc.com/connect"

	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	parlance "parlance.dev/parlance/sdk/go"
	"parlance.dev/parlance/server/problem"
)

// reconnectFor is how long a session waits for a client that lost its connection.
const reconnectFor = 2 * time.Minute

// turn sends a text and prints the answer as it arrives, over as many connections as it takes.
func (c *chat) turn(ctx context.Context, text string) error {
	if !utf8.ValidString(text) {
		return refusedTurn{errors.New("the words are not UTF-8. Set the terminal, or convert the file, to UTF-8")}
	}
	c.answer, c.announced = &answerPrinter{out: c.out, agent: c.agent, json: c.options.json}, false
	for event, err := range c.client.StreamTurn(ctx, &parlancev1.StreamTurnRequest{SessionId: c.session, Text: text}) {
		if err != nil {
			return c.broken(ctx, err)
		}
		if err := c.answer.print(event); err != nil {
			return err
		}
	}
	return nil
}

// lost says, once in a turn, that the connection is made again.
func (c *chat) lost(error) {
	if !c.announced && c.answer != nil {
		c.announced = true
		c.answer.breakOff()
		fmt.Fprintln(c.err, "connection lost, reconnecting …")
	}
}

// broken explains why an answer has no end.
func (c *chat) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.answer.breakOff()
	if !parlance.IsReason(err, parlance.ReasonUnavailable) {
		return c.refusal(err)
	}
	if c.options.reconnectFor <= 0 {
		return c.installation.Explain("take the turn", err)
	}
	return fmt.Errorf("%s does not answer for %s. The session may still be there: `parlance chat --session %s` goes on with it",
		c.installation.Base, c.options.reconnectFor, c.session)
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
