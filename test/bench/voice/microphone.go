package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// microphone sends a frame every 20 ms: of what is said, or else of the room.
type microphone struct {
	conn   net.Conn
	losses *losses
	// done ends it, gone is closed when it has ended.
	done, gone chan struct{}

	// writing is held while a frame is written.
	writing sync.Mutex

	mu sync.Mutex
	// room is repeated from roomAt on.
	room   [][]byte
	roomAt int
	// saying are the frames that are still to be said; pad is of the last one.
	saying [][]byte
	pad    time.Duration
	begun  bool
	now    spoken
	said   chan spoken
	// kept is how many frames the service gets in all, startedAt how many before the newest sound.
	kept, startedAt int
	// lateness is how late frames were sent.
	lateness []time.Duration
}

// spoken is when something was said: when its first sample was, and when its last one was, at the
// caller.
type spoken struct{ began, ended time.Time }

// losses are the frames that a bad network loses, and those that come late.
type losses struct {
	chance *rand.Rand
	// share is how many of all frames are lost, and how many are late, 0 to 1.
	share float64
	// lost and late count them.
	lost, late int
}

// maxLateFrames is how many frames come together at most: the first of them 120 ms late, less than
// what the service takes for silence.
const maxLateFrames = 7

func newMicrophone(conn net.Conn, room [][]byte, l *losses) *microphone {
	return &microphone{
		conn: conn, room: room, losses: l, done: make(chan struct{}), gone: make(chan struct{}), said: make(chan spoken, 1),
	}
}

// start begins to send, so much later, so that callers do not all send at once. It may be called
// once.
func (m *microphone) start(later time.Duration) {
	go func() {
		defer close(m.gone)
		m.run(time.Now().Add(later))
	}()
}

// run sends frames until stop, or until the connection ends, whose reader says why.
func (m *microphone) run(first time.Time) {
	var held [][]byte // frames that come late
	wait := 0
	for n := 0; ; n++ {
		due := first.Add(time.Duration(n) * frameLength)
		time.Sleep(time.Until(due))
		select {
		case <-m.done:
			return
		default:
		}
		lost := m.losses.loses()
		frame := m.next(due, !lost)
		if lost {
			continue
		}
		held = append(held, frame)
		if wait == 0 {
			wait = m.losses.holds()
		}
		if wait = max(0, wait-1); wait > 0 {
			continue
		}
		for _, frame := range held {
			if m.send(frame) != nil {
				return
			}
		}
		held = held[:0]
		m.note(time.Since(due))
	}
}

// stop ends a microphone that was started.
func (m *microphone) stop() {
	close(m.done)
	<-m.gone
}

// next is the frame that is due, which the service gets if it is kept.
func (m *microphone) next(due time.Time, kept bool) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.kept
	if kept {
		m.kept++
	}
	if len(m.saying) == 0 {
		m.roomAt++
		return m.room[m.roomAt%len(m.room)]
	}
	if !m.begun {
		m.begun, m.now.began, m.startedAt = true, due.Add(-frameLength), at
	}
	frame := m.saying[0]
	if m.saying = m.saying[1:]; len(m.saying) == 0 {
		m.now.ended = due.Add(-m.pad)
		m.said <- m.now // there is room: say takes one for each sound
	}
	return frame
}

func (m *microphone) note(late time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lateness = append(m.lateness, late)
}

func (m *microphone) send(frame []byte) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	_, err := m.conn.Write(frame)
	return err
}

// say says a sound, and waits until it is said. After an error nothing more can be said.
func (m *microphone) say(ctx context.Context, s *sound) (spoken, error) {
	m.mu.Lock()
	m.saying, m.pad, m.begun = s.frames, s.pad, false
	m.mu.Unlock()
	select {
	case said := <-m.said:
		return said, nil
	case <-m.gone:
		return spoken{}, errors.New("the socket has ended")
	case <-ctx.Done():
		return spoken{}, ctx.Err()
	}
}

// loses reports whether the next frame is lost.
func (l *losses) loses() bool {
	if l == nil || l.chance.Float64() >= l.share {
		return false
	}
	l.lost++
	return true
}

// holds is how many frames the next one waits for; 0: none.
func (l *losses) holds() int {
	if l == nil || l.chance.Float64() >= l.share {
		return 0
	}
	l.late++
	return 2 + l.chance.IntN(maxLateFrames-1)
}
