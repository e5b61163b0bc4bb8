package parlance_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	parlance "parlance.dev/parlance/sdk/go"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// open makes a client of an installation, at its own address or that of a proxy.
func open(t *testing.T, base, key string, change ...func(*parlance.Options)) *parlance.Client {
	t.Helper()
	options := parlance.Options{BaseURL: base, APIKey: key}
	for _, one := range change {
		one(&options)
	}
	client, err := parlance.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestService makes, lists and misses agents, and uploads a file, at a real service.
func TestService(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	client := open(t, env.URL+"/v1/", env.Tenant.Admin)
	workspace := env.Tenant.WorkspaceID
	var made []string
	for i := range 5 {
		request := &parlancev1.CreateAgentRequest{WorkspaceId: workspace, Name: fmt.Sprint("agent ", i)}
		agent, err := client.Agents.CreateAgent(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, agent.GetId())
	}
	t.Run("All", func(t *testing.T) {
		var listed []string
		request := &parlancev1.ListAgentsRequest{WorkspaceId: workspace, PageSize: 2}
		for agent, err := range parlance.All(t.Context(), client.Agents.ListAgents, request) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, agent.GetId())
		}
		slices.Sort(listed)
		slices.Sort(made)
		if !slices.Equal(listed, made) {
			t.Errorf("listed %q, want %q", listed, made)
		}
		if request.GetPageToken() != "" {
			t.Errorf("the request got the page token %q", request.GetPageToken())
		}
	})
	t.Run("IdempotencyKey", func(t *testing.T) {
		ctx := parlance.WithIdempotencyKey(t.Context(), "sdk-go-test")
		request := &parlancev1.CreateAgentRequest{WorkspaceId: workspace, Name: "once"}
		first, err := client.Agents.CreateAgent(ctx, request)
		if err != nil {
			t.Fatal(err)
		}
		again, err := client.Agents.CreateAgent(ctx, request)
		if err != nil || again.GetId() != first.GetId() {
			t.Errorf("made %s and %s, %v", first.GetId(), again.GetId(), err)
		}
		request.Name = "another"
		if _, err := client.Agents.CreateAgent(ctx, request); !parlance.IsReason(err, parlance.ReasonIdempotencyKeyReused) {
			t.Errorf("another request with the key: %v", err)
		}
	})
	t.Run("Errors", func(t *testing.T) {
		_, err := client.Agents.GetAgent(t.Context(), &parlancev1.GetAgentRequest{WorkspaceId: workspace, AgentId: "agt_none"})
		refused, ok := errors.AsType[*parlance.Error](err)
		if !ok || refused.Reason != parlance.ReasonNotFound || refused.RequestID == "" || !refused.Answered() ||
			connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("got %#v", err)
		}
		_, err = client.Agents.CreateAgent(t.Context(), &parlancev1.CreateAgentRequest{WorkspaceId: workspace})
		if refused, ok := errors.AsType[*parlance.Error](err); !ok || refused.Reason != parlance.ReasonInvalidRequest ||
			len(refused.Fields) != 1 || refused.Fields[0].Field != "name" {
			t.Errorf("got %#v", err)
		}
		stranger := open(t, env.URL, "prl_secretsecret")
		_, err = stranger.Agents.ListAgents(t.Context(), &parlancev1.ListAgentsRequest{WorkspaceId: workspace})
		if !parlance.IsReason(err, parlance.ReasonAuthInvalidKey) || strings.Contains(fmt.Sprintf("%v %#v", err, err), "secretsecret") {
			t.Errorf("got %#v", err)
		}
	})
	t.Run("Upload", func(t *testing.T) { testUpload(t, client, workspace) })
}

func testUpload(t *testing.T, client *parlance.Client, workspace string) {
	text := strings.Repeat("Opening hours are nine to five.\n", 40_000)
	var seen []int64
	source, err := client.Upload(t.Context(), strings.NewReader(text), parlance.UploadParams{
		WorkspaceID: workspace, Filename: "hours.md", Name: "Hours", Tags: []string{"faq"},
		OnProgress: func(sent, total int64) {
			seen = append(seen, sent)
			if total != int64(len(text)) {
				t.Errorf("the total is %d", total)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if source.GetName() != "Hours" || int(source.GetSizeBytes()) != len(text) || !slices.Equal(source.GetTags(), []string{"faq"}) {
		t.Errorf("made %v", source)
	}
	if len(seen) < 2 || !slices.IsSorted(seen) || seen[len(seen)-1] != int64(len(text)) {
		t.Errorf("progress was %v", seen)
	}
	// A type that the service does not take is refused before the file is read to its end.
	var most int64
	_, err = client.Upload(t.Context(), endless{}, parlance.UploadParams{
		WorkspaceID: workspace, Filename: "film.mp4", MediaType: "video/mp4", SizeBytes: 1 << 29,
		OnProgress: func(sent, _ int64) { most = sent },
	})
	refused, ok := errors.AsType[*parlance.Error](err)
	if !ok || refused.Reason != parlance.ReasonKBUnsupportedMediaType || refused.HTTPStatus != 415 || refused.RequestID == "" {
		t.Errorf("a film: %#v", err)
	}
	if most == 1<<29 {
		t.Error("all of the film was sent")
	}
	_, err = client.Upload(t.Context(), strings.NewReader("short"), parlance.UploadParams{
		WorkspaceID: workspace, Filename: "a.md", SizeBytes: 100,
	})
	if err == nil || !strings.Contains(err.Error(), "became shorter") {
		t.Errorf("a file that is too short: %v", err)
	}
}

// endless is a file without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// gated is an installation whose model gives its words one by one, behind a network that can be
// cut.
type gated struct {
	*harness.Env
	gate    chan struct{}
	network *harness.Proxy
	agent   string
	// direct calls the installation past the network that is cut.
	direct *parlance.Client
}

// request begins a session in text with the agent.
func (g gated) request() *parlancev1.CreateSessionRequest {
	return &parlancev1.CreateSessionRequest{AgentId: g.agent, UserId: "u", Modality: "text"}
}

func startGated(t *testing.T, words ...string) gated {
	t.Helper()
	gate := make(chan struct{}, len(words))
	llm := openaichat.New(t, openaichat.Reply{Text: words, Gate: gate}, openaichat.Reply{Text: []string{"Next."}})
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	g := gated{
		Env: env, gate: gate, direct: open(t, env.URL, env.Tenant.Admin),
		network: harness.NewProxy(t, harness.Target{Network: "tcp", Address: strings.TrimPrefix(env.URL, "http://")}),
	}
	agent, err := g.direct.Agents.CreateAgent(t.Context(), &parlancev1.CreateAgentRequest{WorkspaceId: env.Tenant.WorkspaceID, Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	g.agent = agent.GetId()
	return g
}

// TestTurnIsCut cuts the connection in the middle of an answer: each word comes once.
func TestTurnIsCut(t *testing.T) {
	t.Parallel()
	g := startGated(t, "One ", "two ", "three ", "four.")
	lost := 0
	client := open(t, "http://"+g.network.Address, g.Tenant.Admin, func(o *parlance.Options) { o.OnReconnect = func(error) { lost++ } })
	session, err := client.Sessions.CreateSession(t.Context(), g.request())
	if err != nil {
		t.Fatal(err)
	}
	g.gate <- struct{}{}
	g.gate <- struct{}{}
	var text strings.Builder
	var types []string
	for event, err := range client.StreamTurn(t.Context(), &parlancev1.StreamTurnRequest{SessionId: session.GetId(), Text: "Count."}) {
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(event.GetDelta())
		if event.GetDelta() == "" {
			types = append(types, event.GetType())
		}
		if text.String() == "One two " && lost == 0 && event.GetDelta() != "" {
			g.network.Cut()
			g.gate <- struct{}{}
			g.gate <- struct{}{}
		}
	}
	if text.String() != "One two three four." || !slices.Equal(types, []string{"turn.started", "turn.done"}) || lost != 1 {
		t.Errorf("got %q, %q, lost %d times", text.String(), types, lost)
	}
	transcript := 0
	all := &parlancev1.GetTranscriptRequest{SessionId: session.GetId()}
	for turn, err := range parlance.All(t.Context(), client.Sessions.GetTranscript, all) {
		if err != nil {
			t.Fatal(err)
		}
		transcript++
		if turn.GetAgentText() != "One two three four." {
			t.Errorf("the transcript has %q", turn.GetAgentText())
		}
	}
	if transcript != 1 {
		t.Errorf("the transcript has %d turns", transcript)
	}
}

// TestConversationIsCut cuts the socket in the middle of an answer: each word comes once.
func TestConversationIsCut(t *testing.T) {
	t.Parallel()
	g := startGated(t, "One ", "two ", "three ", "four.")
	session, err := g.direct.Sessions.CreateSession(t.Context(), g.request())
	if err != nil {
		t.Fatal(err)
	}
	signed := strings.Replace(session.GetChatUrl(), strings.TrimPrefix(g.URL, "http://"), g.network.Address, 1)
	conversation, err := g.direct.ConnectURL(t.Context(), signed)
	if err != nil {
		t.Fatal(err)
	}
	defer conversation.Close()
	if err := conversation.Say("Count."); err != nil {
		t.Fatal(err)
	}
	g.gate <- struct{}{}
	g.gate <- struct{}{}
	var text strings.Builder
	answers, cut := 0, false
	for event, err := range conversation.Events() {
		if err != nil {
			t.Fatal(err)
		}
		switch event.Type {
		case "response.output_text.delta":
			text.WriteString(event.Delta)
		case "error":
			t.Errorf("refused: %s", event.Raw)
		case "response.done":
			answers++
		}
		if text.String() == "One two " && !cut {
			cut = true
			g.network.Cut()
			g.gate <- struct{}{}
			g.gate <- struct{}{}
			if err := conversation.Say("And then?"); err != nil { // while there is no connection
				t.Error(err)
			}
		}
		if answers == 2 {
			conversation.Close()
		}
	}
	if text.String() != "One two three four.Next." {
		t.Errorf("got %q", text.String())
	}
	ended, err := g.direct.Sessions.GetSession(t.Context(), &parlancev1.GetSessionRequest{SessionId: session.GetId()})
	if err != nil || ended.GetTurnCount() != 2 {
		t.Errorf("the session is %v, %v", ended, err)
	}
}
