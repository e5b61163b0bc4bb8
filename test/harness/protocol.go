package harness

import (
	"net/http"
	"testing"

	"connectrpc.com/connect"

	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// Protocol is a way to call procedures.
type Protocol struct {
	Name string
	// H2C calls over HTTP/2 without TLS, else HTTP/1.1 is spoken.
	H2C     bool
	Options []connect.ClientOption
}

// Protocols lists the protocols that the port speaks beside REST.
func Protocols() []Protocol {
	return []Protocol{
		{Name: "ConnectJSON", Options: []connect.ClientOption{connect.WithProtoJSON()}},
		{Name: "ConnectJSONOverH2C", H2C: true, Options: []connect.ClientOption{connect.WithProtoJSON()}},
		{Name: "ConnectProto"},
		{Name: "GRPC", H2C: true, Options: []connect.ClientOption{connect.WithGRPC()}},
		{Name: "GRPCWeb", Options: []connect.ClientOption{connect.WithGRPCWeb()}},
		{Name: "GRPCWebJSON", Options: []connect.ClientOption{connect.WithGRPCWeb(), connect.WithProtoJSON()}},
	}
}

// Clients are the generated clients of the contract.
type Clients struct {
	Workspaces  parlancev1connect.WorkspaceServiceClient
	APIKeys     parlancev1connect.ApiKeyServiceClient
	Agents      parlancev1connect.AgentServiceClient
	Tools       parlancev1connect.ToolServiceClient
	Knowledge   parlancev1connect.KnowledgeServiceClient
	Sessions    parlancev1connect.SessionServiceClient
	Webhooks    parlancev1connect.WebhookServiceClient
	Credentials parlancev1connect.ProviderCredentialServiceClient
	// HTTP is the underlying client; it sends the key.
	HTTP *http.Client
}

// Clients makes clients that send a key; "" sends none.
func (e *Env) Clients(t testing.TB, p Protocol, key string) Clients {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(!p.H2C)
	transport.Protocols.SetUnencryptedHTTP2(p.H2C)
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: bearer{key, transport}}
	return Clients{
		Workspaces:  parlancev1connect.NewWorkspaceServiceClient(client, e.URL, p.Options...),
		APIKeys:     parlancev1connect.NewApiKeyServiceClient(client, e.URL, p.Options...),
		Agents:      parlancev1connect.NewAgentServiceClient(client, e.URL, p.Options...),
		Tools:       parlancev1connect.NewToolServiceClient(client, e.URL, p.Options...),
		Knowledge:   parlancev1connect.NewKnowledgeServiceClient(client, e.URL, p.Options...),
		Sessions:    parlancev1connect.NewSessionServiceClient(client, e.URL, p.Options...),
		Webhooks:    parlancev1connect.NewWebhookServiceClient(client, e.URL, p.Options...),
		Credentials: parlancev1connect.NewProviderCredentialServiceClient(client, e.URL, p.Options...),
		HTTP:        client,
	}
}

// bearer adds the key to each request.
type bearer struct {
	key  string
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.key != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.key)
	}
	return b.next.RoundTrip(r)
}
