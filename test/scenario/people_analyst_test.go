package scenario

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/test/fake/oidcissuer"
	"parlance.dev/parlance/test/harness"
)

// pageCalls sends requests as a page of the console does.
type pageCalls struct{ csrf string }

// RoundTrip implements http.RoundTripper.
func (p pageCalls) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("X-Parlance-CSRF", p.csrf)
	return http.DefaultTransport.RoundTrip(r)
}

// watched is what a stream of events answered until it ended.
type watched struct {
	text string
	err  error
}

// watchEvents follows the events of the workspace, from now on, until the stream ends. It returns
// when the stream is open.
func (b *browser) watchEvents(ctx context.Context, t *testing.T) <-chan watched {
	t.Helper()
	calls := &http.Client{Jar: b.client.Jar, Transport: pageCalls{b.session(t).CSRFToken}}
	client := parlancev1connect.NewWebhookServiceClient(calls, b.env.URL)
	stream, err := client.WatchEvents(ctx, &parlancev1.WatchEventsRequest{WorkspaceId: b.env.Tenant.WorkspaceID, Announce: true})
	if err != nil {
		t.Fatal(err)
	}
	if !stream.Receive() {
		t.Fatal(stream.Err())
	}
	ended := make(chan watched, 1)
	go func() {
		var all strings.Builder
		for stream.Receive() {
			all.WriteString(stream.Msg().String())
		}
		ended <- watched{all.String(), stream.Err()}
	}()
	return ended
}

// TestStreamEndsWithRole changes the role of somebody who follows events.
func TestStreamEndsWithRole(t *testing.T) {
	t.Parallel()
	issuer := oidcissuer.Start(t)
	b := newBrowser(t, harness.Start(t, harness.Options{Settings: issuer.Settings(peopleRoles)}), issuer)
	ada, operator := b.signedIn(t, "ada", "bosses"), b.signedIn(t, "op", "support")
	agent := b.env.Do(t, "POST", b.env.Tenant.In("/agents"), `{"name":"Agent"}`).Must(t, 201).Text("id")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream := operator.watchEvents(ctx, t)
	ada.call(t, "PeopleService/UpdatePerson", `{"personId":"`+operator.session(t).Person.ID+`","assignedRole":"analyst"}`).Must(t, 200)
	session := b.env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"clear-user","modality":"text"}`).Must(t, 201).Text("id")
	b.env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"I am clear-user."}`).Must(t, 200)
	b.env.Do(t, "POST", "/v1/sessions/"+session+"/end", `{"status":"completed"}`).Must(t, 200)
	seen := <-stream
	if strings.Contains(seen.text, "clear-user") {
		t.Errorf("who is an analyst now is told %s", seen.text)
	}
	wire, _ := errors.AsType[*connect.Error](seen.err)
	if wire == nil || wire.Code() != connect.CodeUnavailable || !strings.Contains(wire.Message(), "role") {
		t.Errorf("the stream ended with %v", seen.err)
	}
	again := string(operator.call(t, "SessionService/GetSession", `{"sessionId":"`+session+`"}`).Must(t, 200).Body)
	if strings.Contains(again, "clear-user") {
		t.Errorf("an analyst sees %s", again)
	}
}

// TestAnalystSeesNoNationalNumbers has numbers as people write them in their own countries.
func TestAnalystSeesNoNationalNumbers(t *testing.T) {
	t.Parallel()
	b := startPeople(t, "")
	analyst := b.signedIn(t, "ann", "science")
	for language, texts := range map[string][]string{
		"en-US": {"4155550199", "415 5550199", "(415) 555-0199", "415-555-0199", "It's 4155550199 at noon."},
		"de":    {"Handy 0170 1234567", "030/1234567", "Telefon (030) 1234567"},
		"":      {"appelez le 06 12 34 56 78", "612345678"},
	} {
		agent := b.env.Do(t, "POST", b.env.Tenant.In("/agents"), `{"name":"Agent","language":"`+language+`"}`).Must(t, 201).Text("id")
		session := b.env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
		turns := "/v1/sessions/" + session + "/turns"
		for _, text := range append(texts, "Order 4165550123 of 2026-11-28: 12.345.678 units for 1,234,567.00 USD") {
			b.env.Do(t, "POST", turns, `{"text":"`+text+`"}`).Must(t, 200)
		}
		shown := string(analyst.call(t, "SessionService/GetTranscript", `{"sessionId":"`+session+`"}`).Must(t, 200).Body)
		for _, text := range texts {
			if strings.Contains(shown, text) {
				t.Errorf("language %q: an analyst sees %q", language, text)
			}
		}
		if !strings.Contains(shown, "Order 4165550123 of 2026-11-28: 12.345.678 units for 1,234,567.00 USD") {
			t.Errorf("language %q: other numbers are masked: %s", language, shown)
		}
	}
}

// hexHash matches a SHA-256.
var hexHash = regexp.MustCompile(`"[0-9a-f]{64}"`)

// TestAnalystSeesNoSecretsOfSettings reads what people type, addresses with tokens, and hashes.
func TestAnalystSeesNoSecretsOfSettings(t *testing.T) {
	t.Parallel()
	b := startPeople(t, "")
	operator, analyst := b.signedIn(t, "op", "support"), b.signedIn(t, "ann", "science")
	in, workspace := b.env.Tenant.In, `{"workspaceId":"`+b.env.Tenant.WorkspaceID+`"}`
	b.env.Do(t, "POST", in("/webhooks"), `{"url":"https://127.0.0.1/T0/s3cret?k=s3cret","description":"for s3cret@example.com"}`).Must(t, 201)
	b.env.Do(t, "POST", in("/tools"), `{"kind":"http","slug":"look","description":"ask s3cret@example.com","method":"GET",
		"webhook_url":"https://127.0.0.1/s3cret/{id}","path_params":["id"],
		"input_schema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}`).Must(t, 201)
	source := b.env.Do(t, "POST", in("/knowledge-base/sources/inline"), `{"name":"of s3cret@example.com","content":"My number is 1."}`).
		Must(t, 202).Text("id")
	agent := b.env.Do(t, "POST", in("/agents"), `{"name":"Agent of s3cret@example.com"}`).Must(t, 201).Text("id")
	session := b.env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	turn := b.env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Hello"}`).Must(t, 200).Text("turn_id")
	for name, body := range map[string]string{
		"WebhookService/ListWebhookEndpoints": workspace, "ToolService/ListTools": workspace, "KnowledgeService/ListSources": workspace,
		"AgentService/ListAgents":       workspace,
		"SessionService/GetTurn":        `{"sessionId":"` + session + `","turnId":"` + turn + `"}`,
		"SessionService/GetTurnReceipt": `{"sessionId":"` + session + `","turnId":"` + turn + `"}`,
		"KnowledgeService/GetSource":    `{"workspaceId":"` + b.env.Tenant.WorkspaceID + `","sourceId":"` + source + `"}`,
	} {
		seen := string(operator.call(t, name, body).Must(t, 200).Body)
		masked := string(analyst.call(t, name, body).Must(t, 200).Body)
		if strings.Contains(masked, "s3cret") || hexHash.MatchString(masked) {
			t.Errorf("%s shows an analyst %s", name, masked)
		}
		if !strings.Contains(seen, "s3cret") && !hexHash.MatchString(seen) {
			t.Errorf("%s: there is nothing to mask in %s", name, seen)
		}
	}
	shown := string(analyst.call(t, "WebhookService/ListWebhookEndpoints", workspace).Must(t, 200).Body)
	if !strings.Contains(shown, `"https://127.0.0.1/…"`) || !strings.Contains(shown, `"for [email]"`) {
		t.Errorf("got %s", shown)
	}
}
