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

// breaking is a talker whose connections break. say[n] handles the n-th turn, follow[n] the n-th
// time that a turn is followed.
type breaking struct {
	*talker
	server      *httptest.Server
	say, follow []func(turnStream) error

	mu       sync.Mutex
	followed []string
	// keys are the Idempotency-Keys of the turns.
	keys []string
}

func (b *breaking) StreamTurn(_ context.Context, req *parlancev1.StreamTurnRequest, stream turnStream) error {
	b.talker.mu.Lock()
	b.turns = append(b.turns, req.GetText())
	b.keys = append(b.keys, stream.Conn().RequestHeader().Get("Idempotency-Key"))
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

// sendEvents sends events, given as "delta" with a text or as a type. The n-th event has the id
// "n".
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

// TestChatComesBack cuts the connection in the middle of an answer. The first server that the chat
// reaches then is stopping, and the next one completes the answer. The user sees one message and
// every word once.
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

// cutOff returns a channel that is closed once the connections of the server are cut.
func cutOff(b *breaking) <-chan struct{} {
	done := make(chan struct{})
	go func() { b.server.CloseClientConnections(); close(done) }()
	return done
}

// TestChatBeforeTheFirstEvent loses the connection before the first event. The text is sent again
// under the same key, so that a server that has it answers once, also while it is still at it.
func TestChatBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	b, dir := startBreaking(t)
	b.say = append(b.say,
		func(turnStream) error { <-cutOff(b); return nil },
		func(turnStream) error { return problem.ToConnect(fault.New(fault.IdempotencyInFlight, "In a moment.")) },
		func(stream turnStream) error { sendEvents(t, stream, "started", "delta Whole.", "done"); return nil },
	)
	clitest.Execute(t, "go\n", "chat", "--data-dir", dir).Wants(t, command.ExitDone, "Ada   ▸ Whole.\n")
	if len(b.keys) != 3 || b.keys[0] == "" || b.keys[0] != b.keys[1] || b.keys[0] != b.keys[2] || len(b.followed) != 0 {
		t.Errorf("said under %q, followed %q", b.keys, b.followed)
	}
}

// TestChatAnsweredAgain tells the user that another server begins the answer again.
func TestChatAnsweredAgain(t *testing.T) {
	t.Parallel()
	b, dir := startBreaking(t)
	b.say = append(b.say, func(stream turnStream) error {
		sendEvents(t, stream, "started", "delta Half", "started", "delta Whole.", "done")
		return nil
	})
	clitest.Execute(t, "go\n", "chat", "--data-dir", dir).Wants(t, command.ExitDone, "▸ Half\n", "another answer follows", "▸ Whole.\n")
}

// TestChatGivesUp says what to do when no server answers.
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
				_ = b.server.Listener.Close() // refuses new connections
				<-cutOff(b)
				return nil
			})
			clitest.Execute(t, "go\n", "chat", "--data-dir", dir, "--reconnect-for", rest.flag).Wants(t, command.ExitFailed, rest.says)
		})
	}
}
