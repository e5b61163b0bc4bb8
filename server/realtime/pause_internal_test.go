package realtime

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/server/realtime/convai"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/server/realtime/openai"
	"parlance.dev/parlance/sessions"
)

// writeBatch returns the frames that would be written now, and counts them as written.
func (s *socket) writeBatch() []string {
	s.mu.Lock()
	batch := s.outbox.batch()
	s.mu.Unlock()
	var sent []string
	for _, data := range batch {
		sent = append(sent, string(data))
	}
	s.written(len(batch))
	return sent
}

func framesOf(texts ...string) []dialect.Frame {
	var frames []dialect.Frame
	for _, text := range texts {
		frames = append(frames, dialect.Frame{Data: []byte(text)})
	}
	return frames
}

// newPausingSocket is a socket without a connection, whose dialect has sent one frame before a
// pause and others behind it.
func newPausingSocket() *socket {
	limits := Limits{}.withDefaults()
	s := &socket{
		limits: &limits, wake: make(chan struct{}, 1),
		dialect: &resumable{dialect: convai.New(dialect.Params{}), buffer: newReplayBuffer(nil)},
	}
	s.apply(dialect.Step{Frames: framesOf("hello", "missed"), FramesBeforePause: 1, Pause: time.Hour})
	s.apply(dialect.Step{Frames: framesOf("refused")})
	return s
}

// TestPause: the pause begins when the frames before it are written. Until it is over no other
// frame goes out, of the same step or of another. Then the others come in their order.
func TestPause(t *testing.T) {
	t.Parallel()
	s := newPausingSocket()
	if s.pause.pending == 0 {
		t.Error("the pause has begun before anything is written")
	}
	if diff := cmp.Diff([]string{"hello"}, s.writeBatch()); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	if s.pause.pending != 0 {
		t.Error("the pause has not begun")
	}
	s.apply(dialect.Step{Pause: time.Hour}) // replaces the first pause
	s.endPause(1)
	if sent := s.writeBatch(); sent != nil || s.outbox.bytes != len("missedrefused") {
		t.Errorf("in the pause: %v", sent)
	}
	s.endPause(2)
	s.apply(dialect.Step{Frames: framesOf("ping")})
	want := []string{"missed", "refused", "ping"}
	if diff := cmp.Diff(want, s.writeBatch()); diff != "" || s.outbox.bytes != 0 {
		t.Errorf("behind the pause (-want +got):\n%s", diff)
	}
}

// TestEndInAPause: a client that is closed in a pause gets what was held before the last frame.
func TestEndInAPause(t *testing.T) {
	t.Parallel()
	s := newPausingSocket()
	s.finishLocked(endRestart)
	sent := s.writeBatch()
	if len(sent) != 4 {
		t.Fatalf("sent %v", sent)
	}
	if diff := cmp.Diff([]string{"hello", "missed", "refused"}, sent[:3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOneFrameBeforeThePause: the greeting, and what a returning client missed, follow the pause
// behind the first frame. Clients of both protocols lose what comes together with it.
func TestOneFrameBeforeThePause(t *testing.T) {
	t.Parallel()
	p := dialect.Params{Session: sessions.Session{ID: "ses_1"}}
	elevenlabs, realtime := convai.New(p), openai.New(p)
	for name, step := range map[string]dialect.Step{
		"elevenlabs, first": elevenlabs.Open(), "elevenlabs, reopened": elevenlabs.Reopen(nil),
		"openai, first": realtime.Open(), "openai, reopened": realtime.Reopen(nil),
	} {
		if step.FramesBeforePause != 1 || len(step.Frames) != 1 || step.Pause <= 0 {
			t.Errorf("%s: %d of %d frames before the pause of %s",
				name, step.FramesBeforePause, len(step.Frames), step.Pause)
		}
	}
}
