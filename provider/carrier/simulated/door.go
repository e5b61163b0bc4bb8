package simulated

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

const (
	// maxDoorBytes bounds a message of a terminal: some seconds of sound.
	maxDoorBytes = 64 << 10
	// maxUnread is how many messages wait for a terminal; more are left out: 10 s of sound.
	maxUnread   = 512
	doorTimeout = 10 * time.Second
)

// toTerminal is a message for a terminal.
type toTerminal struct {
	kind websocket.MessageType
	data []byte
}

// ServePhone is a telephone for a terminal: GET …/{number}. Text messages are events in JSON,
// binary ones µ-law at 8,000 Hz, both ways. The phone is registered for as long as the socket is
// open. Who may open it is for the caller to check.
//
// To the terminal: the events of [Event]. From it: {"event":"answer"}, "reject", "busy", "hang_up",
// "machine", {"event":"dtmf","digit":"1"} and {"event":"dial","to":"+49…"}.
func (s *Switchboard) ServePhone(w http.ResponseWriter, r *http.Request) {
	number := r.PathValue("number")
	if !e164.MatchString(number) {
		http.Error(w, "the number of the phone is E.164, such as +491701234567", http.StatusBadRequest)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it is answered
	}
	conn.SetReadLimit(maxDoorBytes)
	unread := make(chan toTerminal, maxUnread) // a terminal that does not read hears less
	send := func(m toTerminal) {
		select {
		case unread <- m:
		default:
		}
	}
	p := s.Register(number, Listener{
		EventFunc: func(e Event) {
			data, _ := json.Marshal(e) // it encodes
			send(toTerminal{websocket.MessageText, data})
		},
		SoundFunc: func(sound []byte) { send(toTerminal{websocket.MessageBinary, sound}) },
	})
	defer p.Unregister()
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(s.life, cancel)
	defer stop()
	defer func() { _ = conn.CloseNow() }() // the terminal has gone
	done := make(chan struct{})
	go func() { // ends with ctx
		defer close(done)
		defer cancel()
		writeTerminal(ctx, conn, unread)
	}()
	readTerminal(ctx, conn, p)
	cancel()
	<-done
}

// writeTerminal sends a terminal its messages.
func writeTerminal(ctx context.Context, conn *websocket.Conn, unread <-chan toTerminal) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-unread:
			writing, cancel := context.WithTimeout(ctx, doorTimeout)
			err := conn.Write(writing, m.kind, m.data)
			cancel()
			if err != nil {
				return
			}
		}
	}
}

// readTerminal does what a terminal wants until it has gone.
func readTerminal(ctx context.Context, conn *websocket.Conn, p *Phone) {
	for {
		kind, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if kind == websocket.MessageBinary {
			p.Speak(data)
			continue
		}
		var want struct {
			Event string `json:"event"`
			Digit string `json:"digit"`
			To    string `json:"to"`
		}
		if json.Unmarshal(data, &want) != nil {
			continue
		}
		switch want.Event {
		case "answer":
			p.Answer()
		case "reject":
			p.Reject()
		case "busy":
			p.Busy()
		case "hang_up":
			p.HangUp()
		case "machine":
			p.Machine()
		case "dtmf":
			p.Press(want.Digit)
		case "dial":
			p.Dial(want.To)
		}
	}
}
