package simulated

import (
	"slices"
	"sync"
)

// The kinds of events of phones.
const (
	// EventRing: somebody calls, From.
	EventRing = "ring"
	// EventAnswered: the other side is on the line.
	EventAnswered = "answered"
	// EventHungUp: the call is over, for Reason.
	EventHungUp = "hung_up"
	// EventDTMF: the other side has pressed Digit.
	EventDTMF = "dtmf"
	// EventSay: the carrier's own voice says Text.
	EventSay = "say"
)

// Event is something that a phone notices.
type Event struct {
	Kind   string `json:"event"`
	From   string `json:"from,omitempty"`
	Reason string `json:"reason,omitempty"`
	Digit  string `json:"digit,omitempty"`
	Text   string `json:"text,omitempty"`
}

// Listener is told what a phone notices. Neither function may wait.
type Listener struct {
	EventFunc func(e Event)
	// SoundFunc gets 20 ms of µ-law; nil: nobody listens.
	SoundFunc func(sound []byte)
}

const (
	// frameBytes is 20 ms of µ-law at 8,000 Hz.
	frameBytes = 160
	// silence is the quietest sample of µ-law.
	silence = 0xff
	// maxSpokenBytes bounds what was said into a phone and is still to be sent: a minute.
	maxSpokenBytes = 60 * 8000
)

// Phone is a telephone. It has one call at a time. It is safe for concurrent use.
type Phone struct {
	s        *Switchboard
	number   string
	listener Listener

	mu      sync.Mutex
	leg     *leg
	machine bool
}

// Register connects a phone with a number, in place of one that has it.
func (s *Switchboard) Register(number string, l Listener) *Phone {
	p := &Phone{s: s, number: number, listener: l}
	s.mu.Lock()
	replaced := s.phones[number]
	s.phones[number] = p
	s.mu.Unlock()
	if replaced != nil {
		replaced.HangUp()
	}
	return p
}

// Unregister takes the phone off its number, and hangs up.
func (p *Phone) Unregister() {
	p.s.mu.Lock()
	if p.s.phones[p.number] == p {
		delete(p.s.phones, p.number)
	}
	p.s.mu.Unlock()
	p.HangUp()
}

// leg is a call as one phone has it. Its channels are closed once.
type leg struct {
	from string
	// answered is closed when the phone answers, gone when the call is over.
	answered, gone chan struct{}

	mu sync.Mutex
	// status is how it ended, in Twilio's word; sip the code of the network.
	status, sip string
	// spoken was said into the phone and not sent yet, keys were pressed.
	spoken []byte
	keys   []string
	phone  *Phone // nil: nobody is there
}

func newLeg(p *Phone, from string) *leg {
	return &leg{phone: p, from: from, answered: make(chan struct{}), gone: make(chan struct{})}
}

// ring rings the phone of a number; one that is busy says so at once.
func (s *Switchboard) ring(number, from string) *leg {
	s.mu.Lock()
	p := s.phones[number]
	s.mu.Unlock()
	l := newLeg(p, from)
	if p == nil {
		return l
	}
	if !p.take(l) {
		l.end(statusBusy, sipBusy, "")
		return l
	}
	p.notice(Event{Kind: EventRing, From: from})
	return l
}

// take has the phone have a call, unless it has one.
func (p *Phone) take(l *leg) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	free := p.leg == nil
	if free {
		p.leg = l
	}
	return free
}

func (p *Phone) notice(e Event) {
	if p != nil && p.listener.EventFunc != nil {
		p.listener.EventFunc(e)
	}
}

// current is the phone's call; nil: it has none.
func (p *Phone) current() *leg {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leg
}

// Answer answers a call that rings.
func (p *Phone) Answer() {
	if l := p.current(); l != nil {
		l.answer()
	}
}

// Reject does not take a call that rings.
func (p *Phone) Reject() { p.refuse(sipDecline) }

// Busy has a caller hear the busy tone.
func (p *Phone) Busy() { p.refuse(sipBusy) }

func (p *Phone) refuse(sip string) {
	if l := p.current(); l != nil && !l.isAnswered() {
		l.end(statusBusy, sip, "rejected")
	}
}

// HangUp ends the phone's call.
func (p *Phone) HangUp() {
	if l := p.current(); l != nil {
		l.end(statusCompleted, "", "you have hung up")
	}
}

// Machine has the phone pretend that answering machines answer it, from now on.
func (p *Phone) Machine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.machine = true
}

func (p *Phone) isMachine() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.machine
}

// Press presses keys.
func (p *Phone) Press(digits string) {
	if l := p.current(); l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, digit := range digits {
			l.keys = append(l.keys, string(digit))
		}
	}
}

// Speak says sound, µ-law at 8,000 Hz, into the phone: it is sent in real time. What is longer than
// a minute is left out.
func (p *Phone) Speak(sound []byte) {
	if l := p.current(); l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.spoken = append(l.spoken, sound[:min(len(sound), maxSpokenBytes-len(l.spoken))]...)
	}
}

// Dial calls a number of the account. It is no error that nobody is there: the phone is told.
func (p *Phone) Dial(number string) {
	l := newLeg(p, p.number)
	if !p.take(l) {
		return
	}
	if !p.s.incoming(l, number) {
		l.end(statusFailed, "", "no such number")
	}
}

func (l *leg) answer() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status == "" && !isClosed(l.answered) {
		close(l.answered)
	}
}

func (l *leg) isAnswered() bool { return isClosed(l.answered) }

// end ends the leg; the first end counts.
func (l *leg) end(status, sip, reason string) {
	l.mu.Lock()
	if l.status != "" {
		l.mu.Unlock()
		return
	}
	l.status, l.sip = status, sip
	close(l.gone)
	l.mu.Unlock()
	if p := l.phone; p != nil {
		p.mu.Lock()
		had := p.leg == l
		if had {
			p.leg = nil
		}
		p.mu.Unlock()
		if had {
			p.notice(Event{Kind: EventHungUp, Reason: reason})
		}
	}
}

// ended is how the leg ended; empty: it has not.
func (l *leg) ended() (status, sip string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status, l.sip
}

// listen takes the next 20 ms of what is said into the phone, and the keys that were pressed.
func (l *leg) listen() (frame []byte, keys []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(frameBytes, len(l.spoken))
	frame = append(slices.Clone(l.spoken[:n]), slices.Repeat([]byte{silence}, frameBytes-n)...)
	l.spoken, keys = l.spoken[n:], l.keys
	l.keys = nil
	return frame, keys
}

// play plays sound to the phone.
func (l *leg) play(sound []byte) {
	if p := l.phone; p != nil && p.listener.SoundFunc != nil && len(sound) > 0 {
		p.listener.SoundFunc(sound)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
