package realtime_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/server/realtime"
	"parlance.dev/parlance/sessions"
)

// upgrade are the headers of a handshake.
func upgrade(more ...string) http.Header {
	header := http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"AAECAwQFBgcICQoLDA0ODw=="},
	}
	for i := 0; i+1 < len(more); i += 2 {
		header[more[i]] = []string{more[i+1]}
	}
	return header
}

func TestRefusedBeforeTheUpgrade(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	text, other := f.create(t, sessions.Text), f.create(t, sessions.Text)
	over := f.create(t, sessions.Text)
	if _, err := f.End(t.Context(), f.principal, over.Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	chat := func(id sessions.ID) string { return f.base + "/v1/realtime/chat/" + string(id) }
	good := f.url(text.ChatURL)
	rows := []struct {
		name   string
		method string
		url    string
		header http.Header
		status int
		code   string
	}{
		{"no token", "GET", chat(text.Session.ID), upgrade(), 401, "session-token-invalid"},
		{"tampered", "GET", good[:len(good)-4] + "AAAA", upgrade(), 401, "session-token-invalid"},
		{"tampered, without an upgrade", "GET", good[:len(good)-4] + "AAAA", nil, 401, "session-token-invalid"},
		{"another session's", "GET", chat(other.Session.ID) + "?token=" + text.Token, upgrade(), 401, "session-token-invalid"},
		{
			"URL decides over the bearer",
			"GET",
			chat(text.Session.ID) + "?token=wrong",
			upgrade("Authorization", "Bearer "+text.Token),
			401,
			"session-token-invalid",
		},
		{"closed", "GET", f.url(over.ChatURL), upgrade(), 409, "session-closed"},
		{"voice of a text session", "GET", f.url(text.VoiceURL), upgrade(), 403, "session-modality"},
		{"plain GET", "GET", good, nil, 400, "invalid-request"},
		{"plain GET without a token", "GET", chat(text.Session.ID), nil, 400, "invalid-request"},
		{"bad key", "GET", good, upgrade("Sec-Websocket-Key", "short"), 400, "invalid-request"},
		{"another version of the protocol", "GET", good, upgrade("Sec-Websocket-Version", "8"), 400, "invalid-request"},
		{"POST", "POST", good, nil, 405, "method-not-allowed"},
		{"no such channel", "GET", f.base + "/v1/realtime/video/" + string(text.Session.ID), upgrade(), 404, "route-not-found"},
		{"no session", "GET", f.base + "/v1/realtime/chat/realtime", upgrade(), 404, "route-not-found"},
	}
	for _, row := range rows {
		resp := f.get(t, row.method, row.url, row.header)
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		var problem struct {
			Code      string `json:"code"`
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal(body, &problem); err != nil {
			t.Errorf("%s: body %q", row.name, body)
		}
		if resp.StatusCode != row.status || problem.Code != row.code || problem.RequestID == "" ||
			resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: got %d %s, want %d %s", row.name, resp.StatusCode, body, row.status, row.code)
		}
		if row.name == "plain GET" &&
			(!strings.Contains(string(body), "WebSocket URL") || resp.Header.Get("Upgrade") != "websocket") ||
			row.name == "another version of the protocol" && resp.Header.Get("Sec-Websocket-Version") != "13" {
			t.Errorf("%s: %v %s", row.name, resp.Header, body)
		}
	}
	if got := f.session(t, text.Session.ID).Status; got != sessions.Pending {
		t.Errorf("refused sockets left the session %s", got)
	}
}

func TestTokenAndSubprotocol(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		// query is put behind the path; %s is the token.
		query    string
		offered  []string
		bearer   string
		selected string
	}{
		{"URL", "?token=%s", nil, "", ""},
		{
			"URL, with what SDKs add",
			"/realtime?token=%s&model=gpt-realtime&source=js_sdk&version=1",
			nil,
			"Bearer sk-something",
			"",
		},
		{
			"URL, from a browser",
			"?token=%s",
			[]string{"realtime", "openai-insecure-api-key.ek_x", "openai-agents-sdk.0.20.0"},
			"",
			"realtime",
		},
		{"bearer", "", nil, "bearer %s", ""},
		{"sub-protocol", "", []string{"realtime", "openai-insecure-api-key.%s"}, "", "realtime"},
		{"sub-protocol alone", "", []string{"openai-insecure-api-key.%s"}, "", ""},
		{"both dialects offered", "?token=%s", []string{"realtime", "convai"}, "", "realtime"},
		{"unknown before the known", "?token=%s", []string{"graphql-ws", "realtime"}, "", "realtime"},
	}
	f := newFixture(t, agents.Config{}, realtime.Limits{})
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			made := f.create(t, sessions.Text)
			fill := func(s string) string { return strings.ReplaceAll(s, "%s", made.Token) }
			options := &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://customer.example"}}}
			for _, one := range row.offered {
				options.Subprotocols = append(options.Subprotocols, fill(one))
			}
			if row.bearer != "" {
				options.HTTPHeader.Set("Authorization", fill(row.bearer))
			}
			c := f.dial(t, "ws://talk.example/v1/realtime/chat/"+string(made.Session.ID)+fill(row.query), options)
			if got := c.conn.Subprotocol(); got != row.selected {
				t.Errorf("selected %q, want %q", got, row.selected)
			}
			created := c.want("session.created")
			if diff := cmp.Diff(string(made.Session.ID), path(created, "session", "id")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOrigins: browsers on pages that the agent does not allow are refused on both sockets, as the
// session has the list. Other clients, and the console of this server, are not.
func TestOrigins(t *testing.T) {
	t.Parallel()
	f := newFixture(t, agents.Config{Widget: agents.Widget{AllowedOrigins: []string{"https://*.example.org"}}}, realtime.Limits{})
	made := f.create(t, sessions.Voice)
	for channel, url := range map[string]string{"chat": made.ChatURL, "voice": made.VoiceURL} {
		for _, protocol := range []string{"realtime", "convai"} {
			resp := f.get(t, "GET", f.url(url), upgrade("Origin", "https://example.com", "Sec-Websocket-Protocol", protocol))
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 403 || !strings.Contains(string(body), `"origin-not-allowed"`) {
				t.Errorf("%s, %s: got %d %s (%v)", channel, protocol, resp.StatusCode, body, err)
			}
		}
	}
	if got := f.session(t, made.Session.ID).Status; got != sessions.Pending {
		t.Errorf("refused sockets left the session %s", got)
	}
	for _, origin := range []string{"", "https://www.example.org", ownOrigin, ownOrigin + ":443"} {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		f.dial(t, f.create(t, sessions.Text).ChatURL, &websocket.DialOptions{HTTPHeader: header}).want("session.created")
	}
}
