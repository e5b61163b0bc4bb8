package realtime

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/server/realtime/convai"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
)

// batched are the frames that would be written now; they count as written then.
func (s *socket) batched() []string {
	s.mu.Lock()
	batch := s.next(nil)
	s.mu.Unlock()
	var sent []string
	for _, data := range batch {
		sent = append(sent, string(data))
	}
	s.written(batch)
	return sent
}

func framesOf(texts ...string) []dialect.Frame {
	var frames []dialect.Frame
	for _, text := range texts {
		frames = append(frames, dialect.Frame{Data: []byte(text)})
	}
	return frames
}

// opened is a socket with no connection, whose dialect has said something alone and what follows it.
func opened() *socket {
	limits := Limits{}.withDefaults()
	s := &socket{limits: &limits, dialect: &recorder{dialect: convai.New(dialect.Params{}), journal: newJournal(nil)}}
	s.writer.Store(writerGone)
	s.take(dialect.Step{Frames: framesOf("hello", "missed"), Alone: 1, Pause: time.Hour})
	s.take(dialect.Step{Frames: framesOf("refused")})
	return s
}

// TestAlone: what a dialect says alone has nothing behind it, of the same step or of another, until the pause is
// over; then the rest comes in its order.
func TestAlone(t *testing.T) {
	t.Parallel()
	s := opened()
	if s.pause == 0 {
		t.Error("the pause has begun before anything is written")
	}
	if diff := cmp.Diff([]string{"hello"}, s.batched()); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	if s.pause != 0 {
		t.Error("the pause has not begun")
	}
	s.take(dialect.Step{Pause: time.Hour}) // as for the client's own data: the pause begins anew
	s.goOn(1)
	if sent := s.batched(); sent != nil || s.unwrittenBytes != len("missedrefused") {
		t.Errorf("in the pause: %v", sent)
	}
	s.goOn(2)
	s.take(dialect.Step{Frames: framesOf("ping")})
	if diff := cmp.Diff([]string{"missed", "refused", "ping"}, s.batched()); diff != "" || s.unwrittenBytes != 0 {
		t.Errorf("behind the pause (-want +got):\n%s", diff)
	}
}

// TestAloneUntilTheEnd: who is closed in the pause gets what was held before the last word.
func TestAloneUntilTheEnd(t *testing.T) {
	t.Parallel()
	s := opened()
	s.finishLocked(endRestart)
	sent := s.batched()
	if len(sent) != 4 {
		t.Fatalf("sent %v", sent)
	}
	if diff := cmp.Diff([]string{"hello", "missed", "refused"}, sent[:3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOnlyTheMetadataIsAlone: what a returning client missed stands behind the metadata in the same step.
func TestOnlyTheMetadataIsAlone(t *testing.T) {
	t.Parallel()
	d := convai.New(dialect.Params{Session: sessions.Session{ID: "ses_1"}})
	for name, step := range map[string]dialect.Step{"first": d.Open(), "again": d.Again(nil)} {
		if step.Alone != 1 || len(step.Frames) != 1 || step.Pause <= 0 {
			t.Errorf("%s: %d of %d frames alone, for %s", name, step.Alone, len(step.Frames), step.Pause)
		}
	}
}
