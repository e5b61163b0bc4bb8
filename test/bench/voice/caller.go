package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance.dev/parlance/test/bench/rig"
)

// patience bounds waiting for an event of the server.
const patience = 20 * time.Second

// caller is one who calls: a bare client of a voice socket, which sends prepared frames and reads
// the beginnings of events, so that hundreds of them cost the measured machine little.
type caller struct {
	conn net.Conn
	mic  *microphone
	// session is the id of its session; tape, when set, records its events.
	session string
	tape    *tape
	// ended is closed when the socket is, and err says why.
	ended chan struct{}
	err   error
	// opened, firsts, starts and dones say when session.created, the first sound of an answer,
	// speech_started and response.done came; size 1: what nobody waits for is dropped.
	opened, firsts, starts, dones chan time.Time

	mu sync.Mutex
	// fresh is set until the first sound of an answer comes.
	fresh bool
	pace  pace
	// lastSound is when the newest sound came, soundBefore when the newest one before speech_started
	// did.
	lastSound, soundBefore time.Time
	timing                 timing
	// startMS is where the newest speech began, in the audio that the server got.
	startMS int
	// recent are the types of the last events, for errors.
	recent []string
}

// timing is parlance.timing: the stages of a turn as the server measured them, in ms.
type timing struct {
	EndpointMS   int `json:"endpoint_ms"`
	TranscriptMS int `json:"transcript_ms"`
	FirstTokenMS int `json:"first_token_ms"`
	FirstAudioMS int `json:"first_audio_ms"`
}

// call makes a session and opens its voice socket, and begins to send. A nil tape records nothing.
func (w *world) call(ctx context.Context, number int, losses *losses, tape *tape) (*caller, error) {
	var made struct {
		ID       string `json:"id"`
		VoiceURL string `json:"ws_url"`
	}
	if err := w.Post(ctx, "/sessions", map[string]string{
		"agent_id": w.Agent, "user_id": fmt.Sprint("user-", number), "modality": "voice",
	}, &made); err != nil {
		return nil, err
	}
	conn, reader, err := rig.Dial(ctx, made.VoiceURL, 8192)
	if err != nil {
		return nil, err
	}
	c := &caller{
		conn: conn, session: made.ID, tape: tape, ended: make(chan struct{}),
		opened: make(chan time.Time, 1), firsts: make(chan time.Time, 1), starts: make(chan time.Time, 1), dones: make(chan time.Time, 1),
	}
	c.mic = newMicrophone(conn, w.sounds.room, losses)
	c.mic.roomAt = 7 * number // so that they are not all the same
	go func() {
		c.err = c.read(reader)
		close(c.ended)
	}()
	c.mic.start(time.Duration(number%20) * time.Millisecond)
	if _, err := c.await(ctx, c.opened, "session.created"); err != nil {
		c.hangUp()
		return nil, err
	}
	return c, nil
}

// callAll opens so many calls.
func (w *world) callAll(ctx context.Context, count int) ([]*caller, error) {
	callers := make([]*caller, count)
	group, opening := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i := range callers {
		group.Go(func() (err error) {
			callers[i], err = w.call(opening, i, nil, nil)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		hangUpAll(callers)
		return nil, err
	}
	return callers, nil
}

func hangUpAll(callers []*caller) {
	for _, c := range callers {
		if c != nil {
			c.hangUp()
		}
	}
}

// hangUp closes the socket.
func (c *caller) hangUp() {
	c.mic.stop()
	_, _ = c.conn.Write(rig.Frame(rig.OpClose, []byte{0x03, 0xE8})) // 1000, if it is still open
	_ = c.conn.Close()                                              // as above
	<-c.ended
}

// read takes frames until the connection ends.
func (c *caller) read(reader *bufio.Reader) error {
	for {
		op, payload, err := rig.ReadFrame(reader)
		switch {
		case err != nil:
			return err
		case op == rig.OpPing:
			if err := c.mic.send(rig.Frame(rig.OpPong, payload)); err != nil {
				return fmt.Errorf("answering a ping: %w", err)
			}
		case op == rig.OpClose:
			return fmt.Errorf("closed: %q", payload)
		case op == rig.OpText:
			if err := c.take(payload, time.Now()); err != nil {
				return err
			}
		}
	}
}

// typePrefix begins every event.
var typePrefix = []byte(`{"type":"`)

// take takes an event.
func (c *caller) take(payload []byte, now time.Time) error {
	kind, _, _ := bytes.Cut(bytes.TrimPrefix(payload, typePrefix), []byte(`"`))
	c.tape.noteEvent(string(kind), payload, now)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch string(kind) {
	case "session.created":
		notify(c.opened, now)
	case "response.created":
		c.fresh, c.pace.silent = true, true
	case "response.output_audio.delta":
		c.pace.took(soundIn(payload), now)
		if c.lastSound = now; c.fresh {
			c.fresh = false
			notify(c.firsts, now)
		}
		return nil
	case "input_audio_buffer.speech_started":
		var e struct {
			StartMS int `json:"audio_start_ms"`
		}
		if err := json.Unmarshal(payload, &e); err != nil {
			return fmt.Errorf("reading an event: %w", err)
		}
		c.startMS, c.soundBefore = e.StartMS, c.lastSound
		notify(c.starts, now)
	case "parlance.timing":
		if err := json.Unmarshal(payload, &c.timing); err != nil {
			return fmt.Errorf("reading an event: %w", err)
		}
	case "response.done":
		notify(c.dones, now)
	case "error":
		return fmt.Errorf("an error came: %s", payload)
	}
	c.recent = append(c.recent[max(0, len(c.recent)-19):], string(kind))
	return nil
}

// soundIn is how much sound an event has: its last member is the sound, in Base64.
func soundIn(payload []byte) time.Duration {
	const bytesPerMS = 48
	_, data, _ := bytes.Cut(payload, []byte(`"delta":"`))
	return time.Duration(len(data)*3/4/bytesPerMS) * time.Millisecond
}

// notify sends a value to a receiver that waits, or will; one that was not taken stays.
func notify(to chan time.Time, value time.Time) {
	select {
	case to <- value:
	default:
	}
}

// await waits for an event.
func (c *caller) await(ctx context.Context, from chan time.Time, what string) (time.Time, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case at := <-from:
		return at, nil
	case <-c.ended:
		return time.Time{}, fmt.Errorf("waiting for %s: %w", what, c.err)
	case <-timer.C:
		c.mu.Lock()
		defer c.mu.Unlock()
		return time.Time{}, fmt.Errorf("no %s came; the last events: %s", what, strings.Join(c.recent, " "))
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

// forget drops what came before.
func (c *caller) forget() {
	for _, events := range []chan time.Time{c.firsts, c.starts, c.dones} {
		select {
		case <-events:
		default:
		}
	}
}
