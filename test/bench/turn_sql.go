package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"parlance.dev/parlance/test/figures"
)

// roundTripsPerTurn is what a turn over a chat socket may send to the database, counted in round
// trips.
const roundTripsPerTurn = 8

// turnStatements counts what the turns of one chat socket send to the database.
func turnStatements(ctx context.Context, w *world) (_ []figures.Row, err error) {
	p, err := w.meet(ctx)
	if err != nil {
		return nil, err
	}
	tap, err := newTap(ctx, w.Stack.DatabaseURL)
	if err != nil {
		return nil, err
	}
	defer tap.close()
	w, err = w.withServer(ctx, tap.url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.server.Stop()) }()
	w.paced.set(quick)
	chats, err := w.openChats(ctx, p, 1)
	if err != nil {
		return nil, err
	}
	defer closeAll(chats)
	_, questions, err := questionsToAsk(ctx)
	if err != nil {
		return nil, err
	}
	take := func(count int) error {
		for i := range count {
			if _, _, err := w.askChat(ctx, chats[0], questions[i%len(questions)].text); err != nil {
				return err
			}
		}
		return nil
	}
	if err := take(watched / 10); err != nil { // the first ones learn what does not change
		return nil, err
	}
	tap.reset()
	if err := take(watched); err != nil {
		return nil, err
	}
	traffic := tap.reset()
	if err := w.part(ctx, p, chats); err != nil {
		return nil, err
	}
	statements := 0
	for _, s := range traffic.shapes {
		// A server has work of its own beside; its statements are not those of each turn.
		if s.count < watched/2 {
			continue
		}
		statements += s.count
		if os.Getenv("BENCH_STATEMENTS") != "" {
			fmt.Fprintf(os.Stderr, "%.2f a turn, %d bytes: %.300s\n", float64(s.count)/watched, len(s.text),
				strings.Join(strings.Fields(s.blank), " "))
		}
	}
	return []figures.Row{figures.Row{
		Name:  "Turn over a chat socket: round trips to the database",
		Value: figures.Round(float64(traffic.trips) / watched), Better: "lower",
		Note: fmt.Sprintf("counted on the wire over %d turns with retrieval, %.1f statements each; what the server does beside "+
			"is in it", watched, float64(statements)/watched),
	}.To(roundTripsPerTurn)}, nil
}
