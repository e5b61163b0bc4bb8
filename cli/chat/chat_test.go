package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"parlance.dev/parlance/cli/chat"
	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/test/clitest"
)

// talker is an installation whose agent repeats what it is told, over the real protocol.
type talker struct {
	parlancev1connect.UnimplementedSessionServiceHandler
	parlancev1connect.UnimplementedAgentServiceHandler

	// model is the model in the usage of each turn.
	model string
	// agent is returned by GetAgent; nil is Ada.
	agent *parlancev1.Agent
	// tool is the slug of a failed call and the heading of its source; it may be empty.
	tool string
	// refuses maps the text of a turn to its error.
	refuses map[string]*fault.Error

	mu    sync.Mutex
	turns []string
	ended []string
}

func (s *talker) CreateSession(_ context.Context, req *parlancev1.CreateSessionRequest) (*parlancev1.CreateSessionResponse, error) {
	if req.GetAgentId() != "agt_1" || req.GetModality() != "text" {
		return nil, connect.NewError(connect.CodeNotFound, errors.New(`No agent with the id "`+req.GetAgentId()+`".`))
	}
	return &parlancev1.CreateSessionResponse{Id: "ses_1"}, nil
}

func (s *talker) GetAgent(context.Context, *parlancev1.GetAgentRequest) (*parlancev1.Agent, error) {
	if s.agent != nil {
		return s.agent, nil
	}
	return &parlancev1.Agent{Name: "Ada", FirstMessage: "Hello, I am Ada."}, nil
}

func (s *talker) EndSession(_ context.Context, req *parlancev1.EndSessionRequest) (*parlancev1.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, req.GetSessionId()+" "+req.GetStatus())
	return &parlancev1.Session{}, nil
}

func (s *talker) StreamTurn(_ context.Context, req *parlancev1.StreamTurnRequest,
	stream *connect.ServerStream[parlancev1.StreamTurnResponse],
) error {
	s.mu.Lock()
	s.turns = append(s.turns, req.GetSessionId()+" "+req.GetText())
	s.mu.Unlock()
	if err := s.refuses[req.GetText()]; err != nil {
		return problem.ToConnect(err)
	}
	input, err := structpb.NewStruct(map[string]any{"order_id": "A-1"})
	if err != nil {
		return err
	}
	call := &parlancev1.ToolCall{
		Slug: "order_status", Input: input, InputJson: `{"order_id":"A-1"}`, Output: "shipped", StatusCode: 200, LatencyMs: 7,
	}
	done := &parlancev1.CreateTurnResponse{
		TurnId: "turn_1", Text: "You said " + req.GetText(),
		Usage: &parlancev1.TurnUsage{Model: s.model}, Citations: []*parlancev1.Citation{
			{SourceName: "Manual", Heading: "Start > First", Similarity: 0.5, Quoted: true}, {
				SourceName: "Unused",
				PageStart:  3, PageEnd: 4, Similarity: 0.4,
			},
		},
	}
	if s.tool != "" {
		call.Slug, call.Error = s.tool, &parlancev1.ToolError{Code: s.tool, Message: s.tool}
		done.Citations[0].Heading = s.tool
	}
	for _, event := range []*parlancev1.StreamTurnResponse{
		{Type: "turn.started"},
		{Type: "turn.tool_call", ToolCall: call},
		{Type: "turn.delta", Delta: "You said "},
		{Type: "turn.delta", Delta: req.GetText()},
		{Type: "turn.done", Turn: done},
	} {
		if err := stream.Send(event); err != nil {
			return err
		}
	}
	return nil
}

// startTalker serves a talker for the key "prl_1", and writes the data directory that names it.
func startTalker(t *testing.T) (*talker, string) {
	t.Helper()
	s := &talker{}
	_, dir := serveTalker(t, s, s)
	return s, dir
}

// serveTalker serves both services for the key "prl_1".
func serveTalker(t *testing.T, sessions parlancev1connect.SessionServiceHandler,
	agents parlancev1connect.AgentServiceHandler,
) (*httptest.Server, string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(parlancev1connect.NewSessionServiceHandler(sessions))
	mux.Handle(parlancev1connect.NewAgentServiceHandler(agents))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer prl_1" {
			// the caller is gone
			_ = connect.NewErrorWriter().Write(w, r, connect.NewError(connect.CodeUnauthenticated, errors.New("The API key is not valid.")))
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	env := "# written by a test\n" + command.EnvBaseURL + "=" + srv.URL + "/v1\n" + command.EnvAPIKey + "=prl_1\n" +
		command.EnvWorkspace + "=ws_1\n" + command.EnvAgent + "=agt_1\n"
	if err := os.WriteFile(filepath.Join(dir, command.EnvFile), []byte(env), 0o600); err != nil {
		t.Fatal(err)
	}
	return srv, dir
}

func TestChat(t *testing.T) {
	t.Parallel()
	s, dir := startTalker(t)
	clitest.Execute(t, "one\n\n two \n/quit\nnever", "chat", "--data-dir", dir).Wants(t, command.ExitDone,
		"Ada   ▸ Hello, I am Ada.", "Ada   ▸ You said one\n", "Ada   ▸ You said two\n",
		"source  Manual > Start > First (similarity 0.50)", `tool    order_status {"order_id":"A-1"} → HTTP 200 shipped (7 ms)`)
	if got, want := strings.Join(s.turns, ", "), "ses_1 one, ses_1 two"; got != want {
		t.Errorf("turns %q, want %q", got, want)
	}
	if got, want := strings.Join(s.ended, ", "), "ses_1 completed"; got != want {
		t.Errorf("ended %q, want %q", got, want)
	}
}

// The built-in responder reports which passages it quotes. A language model may have used any.
func TestChatShowsTheSourcesUsed(t *testing.T) {
	t.Parallel()
	for model, all := range map[string]bool{"extractive": false, "gpt": true} {
		s, dir := startTalker(t)
		s.model = model
		got := clitest.Execute(t, "one", "chat", "--data-dir", dir)
		got.Wants(t, command.ExitDone, "source  Manual > Start > First (similarity")
		if shown := strings.Contains(got.Out, "source  Unused, pages 3–4 (similarity"); shown != all {
			t.Errorf("%s: a passage that was not quoted is shown: %v\n%s", model, shown, got.Out)
		}
	}
}

func TestChatJSON(t *testing.T) {
	t.Parallel()
	_, dir := startTalker(t)
	got := clitest.Execute(t, "one\ntwo\n", "chat", "--data-dir", dir, "--json")
	got.Wants(t, command.ExitDone)
	lines := strings.Split(strings.TrimSpace(got.Out), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want one a turn:\n%s", len(lines), got.Out)
	}
	var turn struct {
		TurnID string `json:"turn_id"`
		Text   string `json:"text"`
	}
	if err := json.Unmarshal([]byte(lines[1]), &turn); err != nil || turn.TurnID != "turn_1" || turn.Text != "You said two" {
		t.Errorf("line %s: %v", lines[1], err)
	}
}

func TestChatLeavesAGivenSessionOpen(t *testing.T) {
	t.Parallel()
	s, dir := startTalker(t)
	clitest.Execute(t, "again", "chat", "--data-dir", dir, "--session", "ses_9").Wants(t, command.ExitDone, "You said again")
	if len(s.ended) > 0 || s.turns[0] != "ses_9 again" {
		t.Errorf("turns %v, ended %v", s.turns, s.ended)
	}
}

func TestChatSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	_, dir := startTalker(t)
	for name, row := range map[string]struct {
		args []string
		code int
		says string
	}{
		"NoInstallation": {[]string{"--data-dir", t.TempDir()}, command.ExitUsage, "Start `parlance dev`"},
		"NotRunning": {
			[]string{"--base-url", "http://127.0.0.1:1/v1", "--api-key", "k", "--agent", "agt_1"},
			command.ExitFailed, "Is `parlance dev` running?",
		},
		"WrongKey":   {[]string{"--data-dir", dir, "--api-key", "prl_2"}, command.ExitFailed, "The API key is not valid."},
		"WrongAgent": {[]string{"--data-dir", dir, "--agent", "agt_2"}, command.ExitFailed, `No agent with the id "agt_2".`},
		"NoAgent": {
			[]string{"--data-dir", t.TempDir(), "--base-url", "http://127.0.0.1:1", "--api-key", "k"},
			command.ExitUsage, "--agent is missing",
		},
		"UnknownFlag": {[]string{"--agnet", "agt_1"}, command.ExitUsage, "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.Execute(t, "hello", append([]string{"chat"}, row.args...)...).Wants(t, row.code, row.says)
		})
	}
	t.Run("NotUTF8", func(t *testing.T) {
		t.Parallel()
		s, dir := startTalker(t)
		clitest.Execute(t, "caf\xe9", "chat", "--data-dir", dir).Wants(t, command.ExitFailed, "not UTF-8")
		if len(s.turns) != 0 {
			t.Errorf("turns %v", s.turns)
		}
	})
	t.Run("TurnFails", func(t *testing.T) {
		t.Parallel()
		s, dir := startTalker(t)
		s.refuses = map[string]*fault.Error{"break": fault.New(fault.UpstreamFailed, "The model did not answer.")}
		clitest.Execute(t, "break\nnever", "chat", "--data-dir", dir).Wants(t, command.ExitFailed, "The model did not answer.")
		if slices.Contains(s.turns, "ses_1 never") || len(s.ended) != 1 { // "break" may be repeated, under one key
			t.Errorf("turns %v, ended %v: a failed turn should end the chat and the session", s.turns, s.ended)
		}
	})
}

// TestChatAtATerminal goes on after a turn that failed, unless every later turn would fail too.
func TestChatAtATerminal(t *testing.T) {
	t.Parallel()
	for reason, ends := range map[fault.Reason]bool{
		fault.UpstreamFailed: false, fault.InvalidRequest: false, fault.RateLimitedReason: false, fault.InternalError: false,
		fault.DeadlineExceeded: false, fault.CallerCanceled: false,
		fault.SessionClosed: true, fault.AuthInvalidKey: true, fault.AuthScope: true, fault.ResourceNotFound: true,
	} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			s := &talker{refuses: map[string]*fault.Error{"break": fault.New(reason, "It did \x1b[2Jnot work.")}}
			server, _ := serveTalker(t, s, s)
			var out, errs strings.Builder
			where := client.Installation{Base: server.URL, APIKey: "prl_1", AgentID: "agt_1"}
			err := chat.AtTerminal(t.Context(), where, strings.NewReader("break\nagain\n"), &out, &errs)
			shown := out.String() + errs.String()
			if ended := err != nil; ended != ends || strings.Contains(out.String(), "You said again") == ends {
				t.Errorf("ended: %v, want %v: %v\n%s", ended, ends, err, shown)
			}
			if !ends && !strings.Contains(errs.String(), "parlance: take the turn: ") {
				t.Errorf("it does not say why:\n%s", shown)
			}
			if err != nil {
				shown += err.Error()
			}
			if len(s.ended) != 1 || strings.Contains(shown, "\x1b") {
				t.Errorf("ended %v, said %q", s.ended, shown)
			}
		})
	}
}

// TestChatIsHarmless sends control sequences as the name of the agent, an answer, a tool and a
// source.
func TestChatIsHarmless(t *testing.T) {
	t.Parallel()
	const attack = "a\x1b]0;owned\x07\x1b[2J\u009b31m\u202eb"
	s := &talker{agent: &parlancev1.Agent{Name: attack, FirstMessage: attack}, tool: attack}
	_, dir := serveTalker(t, s, s)
	got := clitest.Execute(t, "one\n"+attack+"\ttab\n", "chat", "--data-dir", dir)
	const clean = "a]0;owned[2J31mb"
	got.Wants(t, command.ExitDone, clean+" ▸ "+clean, "You said "+clean+"\ttab\n", "tool    "+clean+" ",
		"→ "+clean+": "+clean, "source  Manual > "+clean)
	if strings.ContainsAny(got.Out+got.Err, "\x1b\x07\u009b\u202e") {
		t.Errorf("the terminal is told what to do: %q", got.Out)
	}
}
