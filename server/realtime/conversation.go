package realtime

import (
	"context"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/voice"
)

// conversation is a socket's end of its session: a live.Live, or the voice.Call before one.
type conversation interface {
	Session() sessions.Session
	History() []sessions.Item
	Number() int64
	Resumed() bool
	AnsweredElsewhere() bool

	Do(ctx context.Context, c live.Command) error
	Poll() (turns.Event, bool)
	Next(ctx context.Context) (turns.Event, error)
	Inject(value any) bool
	OnWake(f func())
	OnClosed(f func())
	Leave(how live.Leaving)
	Detach()
	LeaveHandover(value any)
	AwaitHandover(ctx context.Context) any
}

var (
	_ conversation = (*live.Live)(nil)
	_ conversation = (*voice.Call)(nil)
)

// join adds a socket to its conversation. On a voice socket a call is before it, and speaks says
// that answers can be spoken.
func (h *Handler) join(ctx context.Context, wire wire, a live.Admission) (joined conversation, speaks bool, err error) {
	own, err := h.deps.Sessions.Join(ctx, a)
	if err != nil || a.Channel != sessions.VoiceChannel || h.deps.Voice == nil {
		return own, false, err
	}
	call := h.deps.Voice.StartWith(ctx, own, wire.settings)
	return call, call.Speaks(), nil
}
