package chat

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/cli/sound"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/platform/audio"
)

const (
	// frameSamples is the most that one event carries: 40 ms.
	frameSamples = sound.RateHz / 25
	// maxDue is the most that one tick makes up for, after the machine slept.
	maxDue = sound.RateHz
	// greetingWithin is how long a file waits for the agent to greet first.
	greetingWithin = time.Second
	// quietFor is how long all must be quiet after a file until the conversation is over, and
	// answerWithin how long an answer may take.
	quietFor     = 3 * time.Second
	answerWithin = 30 * time.Second
)

// errOver says that the conversation has come to its end.
var errOver = errors.New("the conversation is over")

// voiceTalk is a spoken conversation. One goroutine has its state: run's.
type voiceTalk struct {
	voiceParts
	chat    *chat
	socket  *voiceSocket
	player  *sound.Player
	printer *voicePrinter
	turns   *voiceTurns

	// last is the last tick. Real time is counted in samples since begun: done of them have passed.
	begun, last time.Time
	done        int
	// sent is how many samples the server was sent. The first of them is of firstSent.
	sent      int
	firstSent time.Time
	// connected is when the session was created; zero before.
	connected time.Time
	// speaking reports that the source is being sent: from the beginning for a microphone, and
	// after the agent's greeting for a file. ended is when its end was sent; zero before.
	speaking bool
	ended    time.Time
	muted    bool
	// deaf reports that the server transcribes nothing, so that no sound is sent.
	deaf bool
	// responses are those in progress.
	responses map[string]bool
	// awaited reports that the user has said something that has no answer yet.
	awaited bool
	// busy is when something last happened, of what a file's conversation waits for.
	busy time.Time
	// closed reports that the server has closed the session; what it said last is still played.
	closed      bool
	soundFailed bool
}

func newVoiceTalk(c *chat, parts voiceParts, socket *voiceSocket) *voiceTalk {
	v := &voiceTalk{voiceParts: parts, chat: c, socket: socket, responses: map[string]bool{}}
	v.printer = &voicePrinter{out: c.out, agent: c.agent, json: c.options.json}
	v.turns = &voiceTurns{printer: v.printer}
	v.player = sound.NewPlayer(parts.sink, func(item string) { v.turns.heard(item, v.last.Add(parts.sink.Lag())) })
	v.speaking = c.options.voice == microphone
	return v
}

// run talks until the user or the server ends the conversation, a file is answered, or ctx ends.
func (v *voiceTalk) run(ctx context.Context) error {
	var lines <-chan typed
	if v.chat.options.voice != bareInput {
		lines = v.chat.lines(ctx)
	}
	err := v.start(ctx)
	for err == nil {
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case now := <-v.ticks:
			err = v.tick(ctx, now)
		case event := <-v.socket.events:
			err = v.handle(ctx, event)
		case reason := <-v.socket.closed:
			err = v.serverClosed(reason)
		case line, more := <-lines:
			if !more {
				lines = nil
				if v.chat.terminal { // Ctrl-D
					err = errOver
				}
				continue
			}
			err = v.typed(ctx, line)
		}
	}
	v.printer.breakOff()
	if errors.Is(err, errOver) {
		return nil
	}
	return err
}

// start asks for the format that this machine plays and records.
func (v *voiceTalk) start(ctx context.Context) error {
	v.begun = v.now()
	v.last, v.busy = v.begun, v.begun
	format := map[string]any{"type": "audio/pcm", "rate": sound.RateHz}
	return v.socket.send(ctx, map[string]any{"type": "session.update", "session": map[string]any{
		"type": "realtime", "output_modalities": []string{"audio"},
		"audio": map[string]any{"input": map[string]any{"format": format}, "output": map[string]any{"format": format}},
	}})
}

// tick plays and sends as much sound as time has passed.
func (v *voiceTalk) tick(ctx context.Context, now time.Time) error {
	due := audio.Samples(now.Sub(v.begun), sound.RateHz) - v.done
	v.done, v.last = v.done+max(due, 0), now
	due = min(max(due, 0), maxDue)
	v.player.Advance(due)
	v.turns.report()
	if err := v.sink.Err(); err != nil && !v.soundFailed {
		v.soundFailed = true
		v.printer.warn(v.chat.err, err.Error())
	}
	if v.closed {
		if v.player.Idle() {
			return errOver
		}
		return nil
	}
	if err := v.sendVoice(ctx, due); err != nil {
		return err
	}
	return v.fileDone()
}

// sendVoice sends what the user says, or silence.
func (v *voiceTalk) sendVoice(ctx context.Context, due int) error {
	if v.connected.IsZero() || v.deaf {
		if v.speaking { // a microphone, whose sound is lost
			_, err := v.source.Read(0)
			return err
		}
		return nil
	}
	if !v.speaking && v.last.Sub(v.connected) >= greetingWithin && len(v.responses) == 0 && v.player.Idle() {
		v.speaking = true
	}
	samples := make([]int16, due)
	if v.speaking && v.ended.IsZero() {
		said, err := v.source.Read(due)
		switch {
		case errors.Is(err, io.EOF):
			v.ended, v.busy = v.last, v.last
		case err != nil:
			return err
		case v.muted:
			clear(samples)
		default:
			samples = said
		}
	}
	for frame := range slices.Chunk(samples, frameSamples) {
		if v.sent == 0 {
			v.firstSent = v.last.Add(-audio.Duration(len(samples), sound.RateHz))
		}
		v.sent += len(frame)
		encoded := base64.StdEncoding.EncodeToString(audio.Default.AppendEncode(nil, frame))
		if err := v.socket.send(ctx, map[string]any{"type": "input_audio_buffer.append", "audio": encoded}); err != nil {
			return v.sendFailed(err)
		}
	}
	return nil
}

// sendFailed prefers the reason for which the server has closed the socket.
func (v *voiceTalk) sendFailed(err error) error {
	for {
		select {
		case <-v.socket.events: // of a conversation that is over
		case reason := <-v.socket.closed:
			return v.serverClosed(reason)
		case <-time.After(socketTimeout):
			return err
		}
	}
}

// fileDone ends the conversation once a file's last utterance is answered and the answer was
// played.
func (v *voiceTalk) fileDone() error {
	if v.ended.IsZero() {
		return nil
	}
	switch {
	case len(v.responses) > 0 || !v.player.Idle():
		v.busy = v.last
	case v.awaited && v.last.Sub(v.busy) >= answerWithin:
		return fmt.Errorf("no answer has come within %s", answerWithin)
	case !v.awaited && v.last.Sub(v.busy) >= quietFor:
		if !v.turns.any {
			v.printer.warn(v.chat.err, "nothing was understood in "+term.Clean(v.chat.options.voice))
		}
		return errOver
	}
	return nil
}

// typed takes a line of the keyboard: a command, or a turn.
func (v *voiceTalk) typed(ctx context.Context, line typed) error {
	switch {
	case line.err != nil:
		return line.err
	case line.text == "/quit":
		return errOver
	case line.text == "/mute":
		v.muted = !v.muted
		v.printer.note(map[bool]string{true: "muted   /mute again lets the agent hear you", false: "heard   the agent hears you again"}[v.muted])
		return nil
	case line.text == "" || v.closed:
		return nil
	}
	if err := v.cut(ctx); err != nil {
		return err
	}
	if len(v.responses) > 0 {
		if err := v.socket.send(ctx, map[string]any{"type": "response.cancel"}); err != nil {
			return v.sendFailed(err)
		}
	}
	v.awaited, v.busy = true, v.last
	v.turns.userTyped(v.now())
	err := v.socket.send(ctx, map[string]any{"type": "conversation.item.create", "item": map[string]any{
		"type": "message", "role": "user", "content": []map[string]any{{"type": "input_text", "text": line.text}},
	}})
	if err == nil {
		err = v.socket.send(ctx, map[string]any{"type": "response.create"})
	}
	if err != nil {
		return v.sendFailed(err)
	}
	return nil
}

// cut stops what the agent is saying, and tells the server how much of it was heard.
func (v *voiceTalk) cut(ctx context.Context) error {
	item, heard := v.player.Playing()
	if item == "" || v.player.Idle() && !v.turns.mayGoOn(item) {
		return nil // all was heard
	}
	v.player.Cut()
	v.turns.cut(item, heard)
	err := v.socket.send(ctx, map[string]any{
		"type": "conversation.item.truncate", "item_id": item, "content_index": 0, "audio_end_ms": heard.Milliseconds(),
	})
	if err != nil {
		return v.sendFailed(err)
	}
	return nil
}

// serverClosed decides what the end of the socket means. What the agent said before is played.
func (v *voiceTalk) serverClosed(reason error) error {
	v.closed = true
	closed, ok := errors.AsType[websocket.CloseError](reason)
	switch {
	case !ok:
		return errors.New("the connection to the server was lost")
	case closed.Code != websocket.StatusNormalClosure:
		return fmt.Errorf("the server closed the session: %s (%d)", term.Clean(closed.Reason), closed.Code)
	}
	v.printer.note("ended   " + term.Clean(closed.Reason))
	return nil
}
