package scenario

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/harness"
)

// TestTypedTurnEvents: a turn's events are typed in every protocol but REST, where they keep their
// shape.
func TestTypedTurnEvents(t *testing.T) {
	t.Parallel()
	e := newIdem(t, harness.Options{WithoutWorker: true})
	session := e.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+e.agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	for _, protocol := range harness.Protocols() {
		clients := e.Clients(t, protocol, e.Tenant.Admin)
		stream, err := clients.Sessions.StreamTurn(t.Context(), &parlancev1.StreamTurnRequest{SessionId: session, Text: "Hello?"})
		if err != nil {
			t.Fatalf("%s: %v", protocol.Name, err)
		}
		said, last := "", ""
		for stream.Receive() {
			event := stream.Msg()
			last = event.GetType()
			switch typed := event.GetEvent().(type) {
			case *parlancev1.StreamTurnResponse_Started:
				if last != "turn.started" {
					t.Errorf("%s: started in %s", protocol.Name, last)
				}
			case *parlancev1.StreamTurnResponse_TextDelta:
				said += typed.TextDelta.GetText()
			case *parlancev1.StreamTurnResponse_Done:
				if got := typed.Done.GetTurn(); got.GetText() != said || !proto.Equal(got, event.GetTurn()) {
					t.Errorf("%s: done with %v, said %q", protocol.Name, got, said)
				}
			default:
				t.Errorf("%s: no typed event in %v", protocol.Name, event)
			}
		}
		if stream.Err() != nil || last != "turn.done" || said == "" {
			t.Errorf("%s: ended with %s after %q: %v", protocol.Name, last, said, stream.Err())
		}
	}
	streamed := e.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Hello?"}`,
		harness.Header("Accept", "text/event-stream")).Must(t, 200)
	if !bytes.Contains(streamed.Body, []byte("event: turn.done\n")) || bytes.Contains(streamed.Body, []byte(`"text_delta"`)) {
		t.Errorf("over REST: %s", streamed.Body)
	}
}

// TestTypedFeed: the feed has each event's data as its message in every protocol but REST.
func TestTypedFeed(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	source := env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/inline"), `{"name":"Hours","content":"From 9 to 18."}`).Must(t, 202)
	harness.Await(t, harness.Patience, "the event of the source", func() bool {
		return len(env.Do(t, "GET", env.Tenant.In("/events"), nil).Must(t, 200).List("events")) > 0
	})
	for _, protocol := range harness.Protocols() {
		clients := env.Clients(t, protocol, env.Tenant.Admin)
		page, err := clients.Webhooks.ListEvents(t.Context(), &parlancev1.ListEventsRequest{WorkspaceId: env.Tenant.WorkspaceID})
		if err != nil || len(page.GetEvents()) != 1 {
			t.Fatalf("%s: %v, %v", protocol.Name, page, err)
		}
		ingested := page.GetEvents()[0].GetKbSourceIngested()
		if ingested.GetSourceId() != source.Text("id") || !ingested.GetReadyAt().IsValid() || page.GetEvents()[0].GetDataJson() == "" {
			t.Errorf("%s: %v", protocol.Name, page)
		}
	}
	first := followEvents(t, env, "?after=0", 1)
	listed := env.Do(t, "GET", env.Tenant.In("/events"), nil).Must(t, 200)
	for name, body := range map[string][]byte{"list": listed.Body, "stream": []byte(first[0].data)} {
		if !bytes.Contains(body, []byte(`"source_id":`)) || bytes.Contains(body, []byte(`"kb_source_ingested":`)) {
			t.Errorf("%s over REST: %s", name, body)
		}
	}
}
