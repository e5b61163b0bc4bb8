package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/figures"
)

const (
	// attached is how many chunks the agent of the sessions has.
	attached = 10_000
	// overheadP50 and overheadP99 are what the runtime may add to the model's own time, in ms.
	overheadP50 = 5
	overheadP99 = 25
	// soloTurns is how many turns are taken one after the other, chatCount how many conversations
	// find the maximum and are held at half of it.
	soloTurns = 200
	chatCount = 100
	// busy is how long these last.
	busy = 15 * time.Second
)

// quick is a model that does not keep a core waiting.
var quick = pace{first: 50 * time.Millisecond, between: time.Millisecond}

// meet makes the place of the sessions: an agent with its chunks.
func (w *world) meet(ctx context.Context) (place, error) {
	if w.hall != nil {
		return *w.hall, nil
	}
	p, err := w.newPlace(ctx, "hall")
	if err != nil {
		return place{}, err
	}
	ids, err := w.stock(ctx, p, attached)
	if err != nil {
		return place{}, err
	}
	w.hall = &p
	return p, w.attach(ctx, p, p.agent, ids)
}

// openChats makes sessions of the place's agent and opens their sockets, some at a time.
func (w *world) openChats(ctx context.Context, p place, count int) ([]*chatter, error) {
	chats := make([]*chatter, count)
	group, opening := errgroup.WithContext(ctx)
	group.SetLimit(2 * callers)
	for i := range chats {
		group.Go(func() error {
			var made struct {
				ID      string `json:"id"`
				ChatURL string `json:"chat_url"`
			}
			if err := w.at(p).Post(opening, "/sessions", map[string]string{
				"agent_id": p.agent,
				"user_id":  fmt.Sprint("user-", i), "modality": "text",
			}, &made); err != nil {
				return err
			}
			c, err := dialChat(opening, made.ChatURL)
			if err != nil {
				return err
			}
			c.session, chats[i] = made.ID, c
			select {
			case <-c.opened:
				return nil
			case <-c.ended:
				return fmt.Errorf("a socket ended: %w", c.err)
			case <-opening.Done():
				return opening.Err()
			}
		})
	}
	err := group.Wait()
	if err != nil {
		closeAll(chats)
	}
	return chats, err
}

func closeAll(chats []*chatter) {
	for _, c := range chats {
		if c != nil {
			c.close()
		}
	}
}

// part ends conversations and waits until what follows them is done: it would be counted with the
// next figures.
func (w *world) part(ctx context.Context, p place, chats []*chatter) error {
	for _, c := range chats {
		if err := w.at(p).Post(ctx, "/sessions/"+c.session+"/end", map[string]string{"status": "completed"}, nil); err != nil {
			return err
		}
	}
	return w.await(ctx, answerPatience, "what follows the conversations", func() (bool, error) {
		var left int
		err := w.db.Pool.QueryRow(ctx, "SELECT count(*) FROM session_analyses WHERE status = 'pending'").Scan(&left)
		return left == 0, err
	})
}

// tally is what came of conversations.
type tally struct {
	// whole and first are the runtime's own part of the answers' times, in ms: to the end, and to
	// the first piece.
	whole, first []float64
	took         time.Duration
}

func (t tally) perSecond() float64 { return float64(len(t.whole)) / t.took.Seconds() }

// marks numbers everything that is said.
var marks atomic.Int64

// askChat has one turn on a socket and says what of its time was not the model's.
func (w *world) askChat(ctx context.Context, c *chatter, text string) (whole, first float64, err error) {
	mark := int(marks.Add(1))
	h, err := c.say(ctx, fmt.Sprintf("%s %s%d.", text, marker, mark))
	if err != nil {
		return 0, 0, err
	}
	model := w.paced.timesOf(mark)
	return millis(h.whole - model.whole), millis(h.first - model.first), nil
}

// converse lets each socket have a turn in every period, the sockets spread over it, until the
// time is over; period 0 is without a pause.
func (w *world) converse(ctx context.Context, chats []*chatter, period, length time.Duration) (tally, error) {
	_, questions, err := questionsToAsk(ctx)
	if err != nil {
		return tally{}, err
	}
	var (
		mu    sync.Mutex
		t     tally
		began = time.Now()
	)
	group, talking := errgroup.WithContext(ctx)
	for i, c := range chats {
		group.Go(func() error {
			due := began.Add(period * time.Duration(i) / time.Duration(len(chats)))
			for n := 0; ; n++ {
				if due.Sub(began) >= length || time.Since(began) >= length {
					return nil
				}
				select {
				case <-time.After(time.Until(due)):
				case <-talking.Done():
					return talking.Err()
				}
				whole, first, err := w.askChat(talking, c, questions[(i+n)%len(questions)].text)
				if err != nil {
					return fmt.Errorf("conversation %d, turn %d: %w", i, n+1, err)
				}
				mu.Lock()
				t.whole, t.first = append(t.whole, whole), append(t.first, first)
				mu.Unlock()
				due = due.Add(period)
			}
		})
	}
	err = group.Wait()
	t.took = time.Since(began)
	return t, err
}

// overheads measures what the runtime adds to the model's time over a chat socket.
func overheads(ctx context.Context, w *world) ([]figures.Row, error) {
	p, err := w.meet(ctx)
	if err != nil {
		return nil, err
	}
	w.paced.set(quick)
	chats, err := w.openChats(ctx, p, chatCount)
	if err != nil {
		return nil, err
	}
	defer closeAll(chats)
	if _, err := w.converse(ctx, chats[:callers], 0, time.Second); err != nil { // to warm up
		return nil, err
	}
	_, questions, err := questionsToAsk(ctx)
	if err != nil {
		return nil, err
	}
	var idle tally
	before, err := ownCPU(w.server)
	if err != nil {
		return nil, err
	}
	for i := range soloTurns {
		whole, first, err := w.askChat(ctx, chats[i%chatCount], questions[i%len(questions)].text)
		if err != nil {
			return nil, err
		}
		idle.whole, idle.first = append(idle.whole, whole), append(idle.first, first)
	}
	after, err := ownCPU(w.server)
	if err != nil {
		return nil, err
	}
	most, err := w.converse(ctx, chats, 0, busy)
	if err != nil {
		return nil, err
	}
	halves, err := w.openChats(ctx, p, chatCount) // whose conversations are short
	if err != nil {
		return nil, err
	}
	defer closeAll(halves)
	if err := w.part(ctx, p, chats); err != nil {
		return nil, err
	}
	rate := most.perSecond() / 2
	half, err := w.converse(ctx, halves, time.Duration(chatCount/rate*float64(time.Second)), busy)
	if err != nil {
		return nil, err
	}
	if err := w.part(ctx, p, halves); err != nil {
		return nil, err
	}
	rows := append(bounded("idle", idle, fmt.Sprintf("%d turns one after the other; server CPU of one: %.2f ms",
		len(idle.whole), millis(after-before)/float64(len(idle.whole)))),
		bounded("at half the maximum", half, fmt.Sprintf("%d conversations, %.0f turns a second; the most is %.0f",
			chatCount, half.perSecond(), most.perSecond()))...)
	return append(rows, figures.Row{
		Name: "Turns a second over chat sockets, at most", Value: figures.Round(most.perSecond()), Unit: "1/s", Better: "higher",
		Note: fmt.Sprintf("%d conversations without a pause; the model takes %s and %d pieces in %s steps", chatCount,
			quick.first, deltas, quick.between),
	}), nil
}

// bounded are overheadRows with their targets.
func bounded(when string, t tally, note string) []figures.Row {
	rows := overheadRows(when, t, note)
	rows[0], rows[1] = rows[0].To(overheadP50), rows[1].To(overheadP99)
	return rows
}

// overheadRows are the figures of one tally: the 50th and the 99th percentile to the end, and the
// 50th to the first piece.
func overheadRows(when string, t tally, note string) []figures.Row {
	row := func(what string, times []float64, q float64) figures.Row {
		return figures.Row{
			Name:  fmt.Sprintf("Turn over a chat socket, %s: %s, p%g", when, what, 100*q),
			Value: figures.Round(quantile(times, q)), Unit: "ms", Better: "lower",
		}
	}
	whole := "time beside the model's"
	first := row("time to the first piece beside the model's", t.first, 0.5)
	first.Note = fmt.Sprintf("p99 %.3g ms", quantile(t.first, 0.99))
	p50, p99 := row(whole, t.whole, 0.5), row(whole, t.whole, 0.99)
	p50.Note = note
	p99.Note = "the same turns: from what the user says to response.done, less the time between the model's request and its last piece"
	return []figures.Row{p50, p99, first}
}
