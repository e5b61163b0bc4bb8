package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// Live is one socket's end of a conversation. Do, Next and Leave may be called from different
// goroutines; Next from one at a time.
type Live struct {
	inbox   *inbox
	now     func() time.Time
	channel sessions.Channel
	number  int64
	session sessions.Session
	resumed bool
	// origin is the request that opened the socket.
	origin  telemetry.Origin
	history []sessions.Item
	left    sync.Once
	// speaks is SpeakAnswers's.
	speaks atomic.Bool
	// onCommand carries out a command, and onLeave records that the socket is gone: functions of
	// the engine, for its inbox.
	onCommand func(Command)
	onLeave   func(how Leaving, keepsEvents bool)
	// onCut is CutHeard's. onFeedback stores feedback when the engine has left the node.
	onCut      func(ctx context.Context, c Truncate) error
	onFeedback func(ctx context.Context, c Feedback) error

	// The engine's, which nothing else reads or writes.

	// known are the items that the socket has been sent, by their keys.
	known map[string]bool
	// lastCommand is the last command that was carried out.
	lastCommand Command
	// clientTools are the tools that the socket runs itself.
	clientTools []model.Tool
	// toolChoice and maxOutputTokens are those of Configure.
	toolChoice      turns.ToolChoice
	maxOutputTokens int
	// lostResponse is the last answer of a lost node whose end this socket was sent.
	lostResponse string
	// answeredElsewhere says that another node was giving an answer when the socket joined.
	answeredElsewhere bool
	// dropWhenIdle says that no socket will return for the Live, which ends with its last answer.
	dropWhenIdle bool
	// awayTimer ends an away Live after DropGrace.
	awayTimer *time.Timer
	// predecessor is the socket whose place this one took on this node.
	predecessor *Live
	handover    chan any // at most one value

	mu     sync.Mutex
	queue  []turns.Event
	closed bool // Closed is queued or was read
	wake   chan struct{}
	onWake atomic.Pointer[func()]
	// lastDelta is when the socket was last woken for text. When wakeScheduled, wakeTimer wakes it
	// for the text that came since.
	lastDelta     time.Time
	wakeTimer     *time.Timer
	wakeScheduled bool
	// onClosed, unless nil, is called when Closed is queued.
	onClosed func()
}

// Session returns the session as it was when the socket joined, with the Config in force.
func (l *Live) Session() sessions.Session { return l.session }

// Number orders the sockets of all sessions: a later socket has a greater number.
func (l *Live) Number() int64 { return l.number }

// Resumed reports whether the session was in progress before, so that the greeting is not repeated.
func (l *Live) Resumed() bool { return l.resumed }

// AnsweredElsewhere reports whether another node was giving an answer when the socket joined.
// AnswerEnded follows.
func (l *Live) AnsweredElsewhere() bool { return l.answeredElsewhere }

// History returns the items of the session's newest turns (joinTurns) when the socket joined,
// oldest first; empty unless Resumed.
func (l *Live) History() []sessions.Item { return l.history }

// Do has the engine carry out a command, and waits only while the engine is busy. What the command
// does arrives as events.
// Feedback is stored also when the conversation has left this node.
// Errors: Precondition session-closed after Closed; ctx's; of feedback then those of storing it.
func (l *Live) Do(ctx context.Context, c Command) error {
	err := l.inbox.put(ctx, func() { l.onCommand(c) })
	if errors.Is(err, errEnded) {
		if feedback, is := c.(Feedback); is {
			return l.onFeedback(ctx, feedback)
		}
		return fault.New(fault.SessionClosed, "The conversation has ended.")
	}
	return err
}

// CutHeard notes what was heard of an item when the conversation has left this node. After an error
// it was not noted, and may be called again.
func (l *Live) CutHeard(ctx context.Context, c Truncate) error { return l.onCut(ctx, c) }

// SpeakAnswers says whether answers that no Respond of the socket asks for, such as those to a
// tool's result, will be spoken. They are not at first.
func (l *Live) SpeakAnswers(on bool) { l.speaks.Store(on) }

// Leave says that the socket is gone, and returns when the engine has recorded it. It is the last
// call. Later calls do nothing, nor does one after Closed.
func (l *Live) Leave(how Leaving) { l.leave(how, false) }

// Detach says that the connection was lost, and returns when the engine has recorded it. Events
// continue: Next must be called until Closed. Of Leave and Detach only the first call counts.
func (l *Live) Detach() { l.leave(Dropped, true) }

func (l *Live) leave(how Leaving, keepsEvents bool) {
	l.left.Do(func() {
		l.inbox.call(func() { l.onLeave(how, keepsEvents) })
	})
}

// LeaveHandover leaves a value for the socket that takes this one's place on this node. Only the
// first call counts. It must be called after Closed, and whenever the socket ends.
func (l *Live) LeaveHandover(value any) {
	select {
	case l.handover <- value:
	default: // an earlier call left one
	}
}

// AwaitHandover waits for the value that the predecessor leaves; nil when there was none on this
// node, or when ctx ends before. Only the first call returns it.
func (l *Live) AwaitHandover(ctx context.Context) any {
	before := l.predecessor
	l.predecessor = nil
	if before == nil {
		return nil
	}
	select {
	case value := <-before.handover:
		return value
	case <-ctx.Done():
		return nil
	}
}
