package realtime

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/server/realtime/websocket"
)

// flushTimeout is how long a socket that ends may take to pass on what it holds.
const flushTimeout = 5 * time.Second

// socket is one connection. Its reader takes the client's frames to the dialect and the resulting
// commands to the conversation. Its writer takes the conversation's events to the dialect and the
// resulting frames to the client, as many at once as there are.
type socket struct {
	conn   *websocket.Conn
	wire   wire
	live   conversation
	limits *Limits
	now    func() time.Time
	log    *slog.Logger
	// openedAt is when the client had asked for the socket.
	openedAt time.Time

	// wake has room for one signal, which makes the writer look for work.
	wake chan struct{}
	// passing keeps the order of commands: it is held while they are handed to the conversation.
	passing sync.Mutex
	// detach keeps the dialect recording without this socket; it does so once. detached is
	// set when it has.
	detach   func()
	detached bool
	// leaveEarly reports to the conversation that the socket is gone while the writer is still
	// busy.
	leaveEarly func()
	// calls are told how a telephone call goes; nil for other sockets.
	calls Calls
	// callEnding is set when the carrier has ended or lost the call, until the socket ends.
	callEnding bool
	// tasks are short goroutines that the socket started.
	tasks sync.WaitGroup

	mu sync.Mutex
	// What follows is guarded by mu.

	dialect *resumable
	// outbox is frames for the client, commands is what was not yet passed to the conversation.
	outbox   outbox
	commands []live.Command
	pause    pause
	// pongTimer ends the socket unless a pong comes first; nil: no pong is awaited.
	pongTimer *time.Timer
	// ended is set when the socket ends; end is how.
	ended bool
	end   ending
	// drained is how the socket ends once the client has played what it was sent; nil: it does not
	// wait for that.
	drained *ending
	// conversationClosed is set when the conversation has sent Closed: this Live cannot be resumed.
	conversationClosed bool
	// refusedAt is when the client last got the error that it sends too much.
	refusedAt time.Time
}

// pause is the time for which a dialect has the conversation's events wait.
type pause struct {
	active bool
	// pending is the length of a pause that has not begun, because frames are to be written first.
	pending time.Duration
	// number identifies the newest pause, which replaces the others.
	number int
	// ended is set when a pause is over, until the dialect is called.
	ended bool
}

// wakeWriter makes the writer look for work. It does not wait.
func (s *socket) wakeWriter() {
	select {
	case s.wake <- struct{}{}:
	default: // the writer is about to look
	}
}

// apply queues the result of a step. A client that lets more than the limit pile up is cut off. mu
// is held.
func (s *socket) apply(step dialect.Step) {
	if step.Err != nil {
		s.log.Error("frame not encoded", telemetry.KeyError, step.Err)
		s.finishLocked(endInternal)
		return
	}
	s.commands = append(s.commands, step.Commands...)
	if step.FramesBeforePause > 0 {
		s.outbox.add(step.Frames[:step.FramesBeforePause])
		s.outbox.hold()
	}
	s.outbox.add(step.Frames[step.FramesBeforePause:])
	if step.Pause > 0 {
		s.pause.number++
		s.pause.active, s.pause.pending = true, step.Pause
		s.beginPause()
	}
	if s.outbox.bytes > s.limits.MaxUnwrittenBytes {
		s.finishLocked(endSlowReader)
	}
	if step.HungUp {
		s.finishLocked(endHungUp)
	}
	if step.Transfer {
		s.transfer()
	}
}

// beginPause starts a pending pause, unless frames are to be written before it. mu is held.
func (s *socket) beginPause() {
	if s.pause.pending == 0 || s.outbox.holding && len(s.outbox.ready) > 0 {
		return
	}
	number := s.pause.number
	time.AfterFunc(s.pause.pending, func() { s.endPause(number) })
	s.pause.pending = 0
}

// endPause ends a pause, unless another has replaced it.
func (s *socket) endPause(number int) {
	s.mu.Lock()
	if number == s.pause.number {
		s.pause.active, s.pause.ended = false, true
		s.outbox.release()
	}
	s.mu.Unlock()
	s.wakeWriter()
}

// passCommands hands the commands to the conversation, which may take a moment over each.
func (s *socket) passCommands(ctx context.Context) {
	s.passing.Lock()
	defer s.passing.Unlock()
	for {
		s.mu.Lock()
		commands := s.commands
		s.commands = nil
		s.mu.Unlock()
		if len(commands) == 0 {
			return
		}
		for len(commands) > 0 {
			var command live.Command
			command, commands = nextCommand(commands)
			_ = s.live.Do(ctx, command) // session-closed: Closed is on its way
		}
	}
}

// nextCommand takes the first command. A message and the Respond behind it become one Ask.
func nextCommand(commands []live.Command) (first live.Command, rest []live.Command) {
	if message, ok := commands[0].(live.UserMessage); ok && len(commands) > 1 {
		if respond, ok := commands[1].(live.Respond); ok {
			return live.Ask{Message: message, Respond: respond}, commands[2:]
		}
	}
	return commands[0], commands[1:]
}

// finish ends the socket; the first end counts.
func (s *socket) finish(end ending) {
	s.mu.Lock()
	s.finishLocked(end)
	s.mu.Unlock()
	s.wakeWriter()
}

// finishLocked is finish with mu held. It queues what the protocol sends before the close frame.
func (s *socket) finishLocked(end ending) {
	if s.wire.isCall && !end.decided && !s.ended {
		s.callEnded(end)
		return
	}
	if s.ended {
		s.end.silent = s.end.silent || end.silent
		return
	}
	s.ended, s.end = true, end
	if end.discards {
		s.tasks.Go(s.leaveEarly) // the writer is busy with a client that does not read
	}
	if end.silent || end.discards {
		return
	}
	s.outbox.release()
	s.outbox.add(s.dialect.Close(end.code, end.reason).Frames)
	time.AfterFunc(flushTimeout, func() {
		s.mu.Lock()
		s.end.discards = true
		s.mu.Unlock()
		s.wakeWriter()
	})
}

// leave reports to the conversation that the socket is gone, after the client's last commands.
// stop ends the calls for that when they take too long.
func (s *socket) leave(ctx context.Context, stop context.CancelFunc) ending {
	late := time.AfterFunc(flushTimeout, stop)
	s.passCommands(ctx)
	late.Stop()
	s.mu.Lock()
	end := s.end
	resumes := end.maySurvive() && !s.conversationClosed && !s.wire.isCall
	s.mu.Unlock()
	if resumes {
		s.live.Detach()
		s.detach()
	}
	s.live.Leave(end.leaving)
	return end
}

// recoverPanic ends the socket instead of the process when one of its goroutines panics.
func (s *socket) recoverPanic() {
	if cause := recover(); cause != nil {
		s.log.Error("socket panicked", telemetry.KeyError, cause, telemetry.KeyStack, string(debug.Stack()))
		s.finish(endInternal)
	}
}
