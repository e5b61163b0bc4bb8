package live

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// maxQueuedEvents bounds what a socket may leave unread before it is cut off: some minutes of
// text deltas, and no more memory than a long answer needs.
const maxQueuedEvents = 8192

// joinTurns is how many turns an arriving socket reads, the newest: more than a client misses while
// it may come back, and no more however long the conversation is.
const joinTurns = 50

// Admission is a socket that may join; made by Admit, used once.
type Admission struct {
	// Session as it was when the socket was admitted.
	Session sessions.Session
	Channel sessions.Channel
	// HoldGreeting has the first_message wait for Greet, so that the client may say before what it
	// wants of it.
	HoldGreeting bool
}

// Admit checks a socket before the HTTP upgrade; it changes nothing. Errors: Unauthenticated
// session-token-invalid, Precondition session-closed, Forbidden session-modality, Unavailable
// unavailable.
func (s *Service) Admit(ctx context.Context, p AdmitParams) (Admission, error) {
	var session sessions.Session
	err := s.turns.Reach(ctx, func(ctx context.Context) (err error) {
		session, err = s.sessions.Verify(ctx, p.Token, p.SessionID)
		return err
	})
	if err != nil {
		return Admission{}, err
	}
	if err := sessions.CheckOpen(session); err != nil {
		return Admission{}, err
	}
	if !session.HasChannel(p.Channel) {
		return Admission{}, fault.New(fault.SessionModality, "The session's modality is %s, which has no %s socket. Use chat_url.", session.Modality, p.Channel)
	}
	return Admission{Session: session, Channel: p.Channel}, nil
}

// Join puts an upgraded socket on its conversation: pending becomes in_progress (with the
// greeting), and an older socket of the channel on any node gets Closed replaced. ctx bounds the
// joining only; the conversation ends with Leave.
// Errors: Precondition session-closed, Unavailable unavailable (this node is being stopped).
func (s *Service) Join(ctx context.Context, a Admission) (*Live, error) {
	if a.Session.Status == sessions.InProgress && s.engineOf(a.Session.ID) == nil { // its node may have ended
		s.turns.Settle(ctx, a.Session.ID)
	}
	e, err := s.engineFor(a.Session)
	if err != nil {
		return nil, err
	}
	arrival, err := s.arrive(ctx, a, e)
	arrival.noted = make(chan struct{})
	if e.send(arrival) {
		<-arrival.noted
	} else if err == nil {
		err = sessions.ClosedError(sessions.Session{Status: sessions.Completed, EndReason: "closed"})
	}
	if err != nil {
		return nil, err
	}
	return arrival.live, nil
}

// arrive writes a socket's arrival down. The message it returns is sent to the engine in any
// case, which waits for it; without a live when there was an error.
func (s *Service) arrive(ctx context.Context, a Admission, e *engine) (joined, error) {
	now := s.sessions.Now()
	live := &Live{engine: e, channel: a.Channel, origin: telemetry.OriginOf(ctx), wake: make(chan struct{}, 1), bequest: make(chan any, 1)}
	var (
		refused    error
		greeting   *sessions.Turn
		turns      []sessions.Turn
		unanswered []sessions.Turn
	)
	err := s.sessions.Locked(ctx, a.Session.TenantID, a.Session.ID, func(ctx context.Context, tx bun.Tx, row *sessions.Session) (err error) {
		refused, live.resumed = nil, row.Status == sessions.InProgress
		first := row.Config.FirstMessage
		if a.HoldGreeting {
			row.Config.FirstMessage = ""
		}
		greeting, err = s.sessions.StartTx(ctx, tx, row, now)
		row.Config.FirstMessage = first
		if err != nil {
			return err
		}
		if refused = sessions.CheckOpen(*row); refused != nil {
			return nil
		}
		if turns, unanswered = nil, nil; greeting != nil {
			turns = []sessions.Turn{*greeting}
		}
		if live.resumed {
			if turns, err = sessions.NewestTurns(ctx, tx, *row, joinTurns); err != nil {
				return err
			}
			if unanswered, err = sessions.UnansweredTurns(ctx, tx, *row); err != nil {
				return err
			}
		}
		live.session = *row
		return s.connectTx(ctx, tx, live)
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return joined{}, err
	}
	var items []sessions.Item
	if live.resumed {
		for _, turn := range turns {
			there := sessions.VisibleItems(turn, live.session.ItemEdits)
			all := sessions.ItemsOf(turn)
			if turn.Status == sessions.TurnInProgress && (turn.Losses == 0 || turn.ID == live.session.RunningTurnID) { // what the agent says in it is told when it is said, or at its end
				there, all = slices.DeleteFunc(there, ofAgent), slices.DeleteFunc(all, ofAgent)
			}
			items = append(items, all...)
			live.history = append(live.history, there...)
		}
		items, live.history = sessions.LatestItems(items), sessions.LatestItems(live.history)
	}
	return joined{live: live, turns: turns, greeting: greeting, unanswered: unanswered, open: sessions.OpenCalls(turns), items: items, running: running(turns, live.session)}, nil
}

// ofAgent says that the item is part of an answer.
func ofAgent(item sessions.Item) bool {
	return !item.Inserted && (item.Kind == sessions.AssistantItem || item.Kind == sessions.ToolItem || item.Kind == sessions.ClientToolCallItem)
}

// connectTx stores the socket as its channel's one and tells the node of the one before.
func (s *Service) connectTx(ctx context.Context, tx bun.Tx, live *Live) (err error) {
	now := s.sessions.Now()
	if live.number, err = sessions.NextNumber(ctx, tx); err != nil {
		return err
	}
	row := &live.session
	err = sessions.UpsertConnection(ctx, tx, sessions.Connection{
		SessionID: row.ID, Channel: live.channel, TenantID: row.TenantID, Number: live.number, NodeID: s.node, JoinedAt: now, SeenAt: now,
	})
	if err != nil {
		return err
	}
	row.DroppedAt, row.LastActivityAt = row.EndedAt, now // no drop any more
	if err := sessions.Update(ctx, tx, *row, "dropped_at", "last_activity_at"); err != nil {
		return err
	}
	return sessions.Notify(ctx, tx, sessions.Notice{Kind: sessions.NoticeJoined, Session: row.ID, Channel: live.channel, Number: live.number, From: s.node})
}

// Live is one socket's end of a conversation. Do, Next and Leave may be called from different
// goroutines; Next from one at a time.
type Live struct {
	engine  *engine
	channel sessions.Channel
	number  int64
	session sessions.Session
	resumed bool
	// origin is the request that opened the socket.
	origin  telemetry.Origin
	history []sessions.Item
	left    sync.Once

	// known is the engine's: the items this socket has been told of, by their keys.
	known map[string]bool
	// did is the engine's: the last command that was carried out.
	did Command
	// clientTools is the engine's: the tools that this socket runs itself.
	clientTools []model.Tool
	// toolChoice and maxOutputTokens are the engine's: those of Configure.
	toolChoice      turns.ToolChoice
	maxOutputTokens int
	// lost is the engine's: the answer of a lost node that this socket was told of last.
	lost string
	// elsewhere is the engine's: another node gave an answer when the socket joined.
	elsewhere bool
	// audio is the engine's: what waits to be committed.
	audio heardAudio
	// handed is the engine's: what is still said is said for another socket, or for nobody.
	handed bool
	// fading is the engine's: it ends an away Live.
	fading *time.Timer
	// before is the socket whose place this one took on this node.
	before  *Live
	bequest chan any // at most one value

	mu     sync.Mutex
	queue  []turns.Event
	closed bool // Closed is queued or taken
	wake   chan struct{}
	onWake atomic.Pointer[func()]
	// lastDelta is when the socket was last woken for pieces of text. wakeTimer wakes it for those
	// that came since, if wakeScheduled.
	lastDelta     time.Time
	wakeTimer     *time.Timer
	wakeScheduled bool
	// onClosed is called when Closed is queued; may be nil.
	onClosed func()
}

// Session is the session as it was when the socket joined, its Config what is in force.
func (l *Live) Session() sessions.Session { return l.session }

// Number orders the sockets of all sessions: one that joined later has a greater number.
func (l *Live) Number() int64 { return l.number }

// Resumed says that the session was in progress already: the greeting is not repeated.
func (l *Live) Resumed() bool { return l.resumed }

// Elsewhere says that another node was giving an answer when the socket joined: AnswerEnded
// follows.
func (l *Live) Elsewhere() bool { return l.elsewhere }

// History is the items of the session's newest turns (joinTurns) when the socket joined, oldest
// first; empty unless Resumed.
func (l *Live) History() []sessions.Item { return l.history }

// Do hands a command to the conversation. It waits only while the conversation is busy taking
// others; what comes of the command arrives as events.
// Errors: Precondition session-closed after Closed; ctx's.
func (l *Live) Do(ctx context.Context, c Command) error {
	err := l.engine.put(ctx, commanded{live: l, command: c})
	if errors.Is(err, errEnded) {
		return fault.New(fault.SessionClosed, "The conversation has ended.")
	}
	return err
}

// Next waits for the next event. Errors: io.EOF after Closed, ctx's.
func (l *Live) Next(ctx context.Context) (turns.Event, error) {
	for {
		l.mu.Lock()
		if len(l.queue) > 0 {
			e := l.shift()
			l.mu.Unlock()
			return e, nil
		}
		over := l.closed
		l.mu.Unlock()
		if over {
			return nil, io.EOF
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Poll is the next event, when there is one; it does not wait. Whoever uses it is told by
// [Live.OnWake].
func (l *Live) Poll() (turns.Event, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return nil, false
	}
	return l.shift(), true
}

// OnWake has f called whenever events are there that were not taken, from now on; nil: no more. f
// must not wait, nor call the Live.
func (l *Live) OnWake(f func()) {
	l.onWake.Store(&f)
	l.wakeUp()
}

// wakeUp tells whoever takes events that there are some.
func (l *Live) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default: // Next has been woken already
	}
	if f := l.onWake.Load(); f != nil && *f != nil {
		(*f)()
	}
}

// OnClosed has f called once Closed is there for Next and Poll, at once if it is already. f must
// not wait.
func (l *Live) OnClosed(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.onClosed = f; l.closed {
		f()
	}
}

// Leave says that the socket is gone, and returns when the conversation has taken note. It is
// the last call; the second and later do nothing, and so does one after Closed.
func (l *Live) Leave(how Leaving) { l.leave(left{live: l, how: how}) }

func (l *Live) leave(m left) {
	l.left.Do(func() {
		m.noted = make(chan struct{})
		if l.engine.send(m) {
			<-m.noted
		}
	})
}

// push queues an event. Nothing comes after Closed; a socket that does not read is cut off.
func (l *Live) push(e turns.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if _, last := e.(Closed); !last && len(l.queue) >= maxQueuedEvents {
		e = Closed{Code: CloseSlow, Reason: "slow_reader"}
		l.queue = nil
	}
	_, l.closed = e.(Closed)
	l.queue = append(l.queue, e)
	if l.closed && l.onClosed != nil {
		l.onClosed()
	}
	switch e.(type) {
	case turns.TextDelta, turns.MessageDone:
		l.scheduleWake()
	case turns.MessageStarted: // its first piece is next
	default:
		if l.wakeScheduled && l.wakeTimer.Stop() {
			l.wakeScheduled = false
		}
		l.wakeUp()
	}
	return true
}

// shut has nothing more come: the socket is gone.
func (l *Live) shut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.queue = true, nil
}
