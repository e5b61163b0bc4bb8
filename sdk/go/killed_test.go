package parlance_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	parlance "parlance.dev/parlance/sdk/go"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// ready waits until a server of the installation answers.
func ready(t *testing.T, env *harness.Env) {
	t.Helper()
	harness.Await(t, harness.Patience, "the server is ready", func() bool {
		answer, err := env.Send(t, "GET", "/readyz", nil)
		return err == nil && answer.Status == http.StatusOK
	})
}

// asked is the last text of each request that a model got.
func asked(llm *openaichat.Server) (texts []string) {
	for _, request := range llm.Requests() {
		texts = append(texts, request.Messages[len(request.Messages)-1].Text)
	}
	return texts
}

// TestConversationSaysOneByOne says four texts at once: each gets its own answer.
func TestConversationSaysOneByOne(t *testing.T) {
	t.Parallel()
	var replies []openaichat.Reply
	for i := range 4 {
		replies = append(replies, openaichat.Reply{Text: []string{fmt.Sprintf("Answer %d.", i)}})
	}
	llm := openaichat.New(t, replies...)
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	client := open(t, env.URL, env.Tenant.Admin)
	agent, err := client.Agents.CreateAgent(t.Context(), &parlancev1.CreateAgentRequest{WorkspaceId: env.Tenant.WorkspaceID, Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	request := &parlancev1.CreateSessionRequest{AgentId: agent.GetId(), UserId: "u", Modality: "text"}
	conversation, err := client.Connect(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"A?", "B?", "C?", "D?"}
	for _, text := range want {
		if err := conversation.Say(text); err != nil {
			t.Fatal(err)
		}
	}
	answers := 0
	for event, err := range conversation.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if event.Type == "response.done" {
			if answers++; answers == len(want) {
				conversation.Close()
			}
		}
	}
	if got := asked(llm); !slices.Equal(got, want) {
		t.Errorf("the model was asked %q", got)
	}
}

// TestServerIsKilled kills the server in the middle of an answer and starts it again. The answer is
// resumed, and what was said meanwhile is answered behind it.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{}, 1)
	llm := openaichat.New(t, openaichat.Reply{Text: []string{"One ", "two."}, Gate: gate},
		openaichat.Reply{Text: []string{"Again."}}, openaichat.Reply{Text: []string{"Next."}})
	env := harness.Start(t, harness.Options{WithoutServer: true, WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	server := env.StartProcess(t, "server")
	ready(t, env)
	lost := make(chan struct{}, 1)
	client := open(t, env.URL, env.Tenant.Admin, func(o *parlance.Options) { o.OnReconnect = func(error) { lost <- struct{}{} } })
	agent, err := client.Agents.CreateAgent(t.Context(), &parlancev1.CreateAgentRequest{WorkspaceId: env.Tenant.WorkspaceID, Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	request := &parlancev1.CreateSessionRequest{AgentId: agent.GetId(), UserId: "u", Modality: "text"}
	conversation, err := client.Connect(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if err := conversation.Say("Count."); err != nil {
		t.Fatal(err)
	}
	gate <- struct{}{}
	var text strings.Builder
	var ended []string
	for event, err := range conversation.Events() {
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s", event.Raw)
		switch event.Type {
		case "response.output_text.delta":
			text.WriteString(event.Delta)
			if text.String() == "One " {
				server.Kill()
				<-lost
				if err := conversation.Say("And then?"); err != nil {
					t.Fatal(err)
				}
				env.StartProcess(t, "server")
			}
		case "response.done":
			ended = append(ended, event.Response.Status)
			if len(ended) == 3 {
				conversation.Close()
			}
		}
	}
	if want := []string{"failed", "completed", "completed"}; !slices.Equal(ended, want) || text.String() != "One Again.Next." {
		t.Errorf("the answers are %q, %q", ended, text.String())
	}
	if got := asked(llm); len(got) != 3 || got[2] != "And then?" {
		t.Errorf("the model was asked %q", got)
	}
}
