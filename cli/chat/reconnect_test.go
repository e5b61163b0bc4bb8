package chat_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/test/clitest"
)

type turnStream = *connect.ServerStream[parlancev1.StreamTurnResponse]

// breaking is a talker whose connections break: say is its n-th taking of a turn, follow its n-th following.
type breaking struct {
	*talker
	server *httptest.Server
	// taken are the turns that the transcript has.
	taken       []*parlancev1.Turn
	say, follow []func(turnStream) error

	mu       sync.Mutex
	followed []string
}

func (b *breaking) StreamTurn(_ context.Context, req *parlancev1.StreamTurnRequest, stream turnStream) error {
	b.talker.mu.Lock()
	b.turns = append(b.turns, req.GetText())
	n := len(b.turns)
	b.talker.mu.Unlock()
	return b.say[n-1](stream)
}

func (b *breaking) FollowTurn(_ context.Context, req *parlancev1.FollowTurnRequest, stream turnStream) error {
	b.mu.Lock()
	b.followed = append(b.followed, req.GetTurnId()+" after "+req.GetLastEventId())
	n := len(b.followed)
	b.mu.Unlock()
	return b.follow[n-1](stream)
}

func (b *breaking) GetTranscript(context.Context, *parlancev1.GetTranscriptRequest) (*parlancev1.GetTranscriptResponse, error) {
	return &parlancev1.GetTranscriptResponse{Turns: b.taken}, nil
}

// sendEvents sends them, "delta" and a text or a type alone; the n-th has the id "n".
func sendEvents(t *testing.T, stream turnStream, sent ...string) {
	t.Helper()
	for i, one := range sent {
		kind, delta, _ := strings.Cut(one, " ")
		event := &parlancev1.StreamTurnResponse{Type: "turn." + kind, TurnId: "turn_1", EventId: string(rune('1' + i)), Delta: delta}
		if kind == "done" {
			event.Turn = &parlancev1.CreateTurnResponse{TurnId: "turn_1"}
		}
		if err := stream.Send(event); err != nil {
			t.Error(err)
		}
	}
}

func startBreaking(t *testing.T) (*breaking, string) {
	t.Helper()
	b := &breaking{talker: &talker{}}
	server, dir := serveTalker(t, b, b.talker)
	b.server = server
	return b, dir
}

// TestChatComesBack cuts the connection in the middle of an answer, has the first server that is reached then
// be on its way out, and the next one answer again: one line says so, and no word is missing or said again.
func TestChatComesBack(t *testing.T) {
	t.Parallel()
	b, dir := startBreaking(t)
	b.say = append(b.say, func(stream turnStream) error {
		sendEvents(t, stream, "started", "delta One ", "delta two ")
		<-cutOff(b)
		return nil
	})
	b.follow = append(b.follow,
		func(turnStream) error {
			return problem.ToConnect(fault.New(fault.ServiceUnavailable, "This node is being stopped. Follow the turn again."))
		},
		func(stream turnStream) error { sendEvents(t, stream, "delta three.", "done"); return nil },
	)
	got := clitest.Execute(t, "count\n", "chat", "--data-dir", dir)
	got.Wants(t, command.ExitDone, "Ada   ▸ One two \n", "Ada   ▸ three.\n")
	if n := strings.Count(got.Err, "connection lost, reconnecting …"); n != 1 {
		t.Errorf("it is said %d times: %s", n, got.Err)
	}
	if said := strings.Join(b.turns, ","); said != "count" {
		t.Errorf("said %q", said)
	}
	if followed := strings.Join(b.followed, ", "); followed != "turn_1 after 3, turn_1 after 3" {
		t.Errorf("followed %q", followed)
	}
}

// cutOff is closed when the server's connections have been cut.
func cutOff(b *breaking) <-chan struct{} {
	done := make(chan struct{})
	go func() { b.server.CloseClientConnections(); close(done) }()
	return done
}

// TestChatBeforeTheFirstEvent loses the connection before anything was heard: words that arrived are not said
// again, others are.
func TestChatBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	lose := func(b *breaking) func(turnStream) error {
		return func(turnStream) error { <-cutOff(b); return nil }
	}
	whole := func(stream turnStream) error { sendEvents(t, stream, "started", "delta Whole.", "done"); return nil }
	for name, taken := range map[string]bool{"Taken": true, "NotTaken": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, dir := startBreaking(t)
			b.say, b.follow = append(b.say, lose(b), whole), append(b.follow, whole)
			if taken {
				b.taken = []*parlancev1.Turn{{Id: "turn_0", UserText: "other"}, {Id: "turn_1", UserText: "go"}}
			}
			clitest.Execute(t, "go\n", "chat", "--data-dir", dir).Wants(t, command.ExitDone, "Ada   ▸ Whole.\n")
			if said, followed := len(b.turns), len(b.followed); taken && (said != 1 || followed != 1) || !taken && (said != 2 || followed != 0) {
				t.Errorf("said %d times, followed %d times", said, followed)
			}
		})
	}
}

// TestChatAnsweredAgain tells the user when another server begins the answer anew.
func TestChatAnsweredAgain(t *testing.T) {
	t.Parallel()
	b, dir := startBreaking(t)
	b.say = append(b.say, func(stream turnStream) error {
		sendEvents(t, stream, "started", "delta Half", "started", "delta Whole.", "done")
		return nil
	})
	clitest.Execute(t, "go\n", "chat", "--data-dir", dir).Wants(t, command.ExitDone, "▸ Half\n", "another answer follows", "▸ Whole.\n")
}

// TestChatGivesUp says what to do when nothing answers any more.
func TestChatGivesUp(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]struct {
		flag, says string
	}{
		"AfterAWhile": {"30ms", "parlance chat --session ses_1"},
		"AtOnce":      {"0", "take the turn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, dir := startBreaking(t)
			b.say = append(b.say, func(stream turnStream) error {
				sendEvents(t, stream, "started", "delta Half")
				_ = b.server.Listener.Close() // nobody comes in any more
				<-cutOff(b)
				return nil
			})
			clitest.Execute(t, "go\n", "chat", "--data-dir", dir, "--reconnect-for", rest.flag).Wants(t, command.ExitFailed, rest.says)
		})
	}
}
