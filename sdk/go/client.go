package parlance

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"

	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// The variables of the environment that a Client falls back to.
const (
	EnvBaseURL = "PARLANCE_BASE_URL"
	EnvAPIKey  = "PARLANCE_API_KEY" //nolint:gosec // the name of a variable
)

const (
	defaultMaxRetries   = 2
	defaultTimeout      = 2 * time.Minute
	defaultReconnectFor = 2 * time.Minute
)

// Options say which service a Client calls, and how. The zero value reads the environment.
type Options struct {
	// BaseURL is where the service is, as in https://parlance.example.org, also with /v1 behind it.
	// Empty: PARLANCE_BASE_URL.
	BaseURL string
	// APIKey is the key, prl_…, or the token of a session for the calls that take one. Empty:
	// PARLANCE_API_KEY.
	APIKey string
	// HTTPClient makes the connections. It must have no Timeout, which would cut streams. Unless it
	// has a CheckRedirect, redirects are not followed: the service has none. Nil: one of the
	// client's own.
	HTTPClient *http.Client
	// MaxRetries is how often a call is repeated after a failed connection or a refusal that time
	// may mend. 0: twice. Negative: never.
	MaxRetries int
	// Timeout bounds each try of a call, and how long nothing may move in an upload. Streams have no
	// bound but their context's. 0: 2 minutes. Negative: none.
	Timeout time.Duration
	// ReconnectFor is how long a lost stream or socket is tried to be made again. 0: the 2 minutes
	// for which the service keeps a session without a client. Negative: not at all.
	ReconnectFor time.Duration
	// OnReconnect is called when a stream or socket was lost and is to be made again, once for each
	// loss, from the goroutine that noticed it. It may be nil.
	OnReconnect func(lost error)
	// ConnectOptions are added to those of the generated clients: connect.WithGRPC(),
	// connect.WithProtoJSON(), interceptors for traces.
	ConnectOptions []connect.ClientOption
}

// Client calls a service. It is made by New and safe for concurrent use.
type Client struct {
	Agents              parlancev1connect.AgentServiceClient
	APIKeys             parlancev1connect.ApiKeyServiceClient
	Audit               parlancev1connect.AuditServiceClient
	Billing             parlancev1connect.BillingServiceClient
	Callbacks           parlancev1connect.CallbackServiceClient
	Insights            parlancev1connect.InsightServiceClient
	Knowledge           parlancev1connect.KnowledgeServiceClient
	Memory              parlancev1connect.MemoryServiceClient
	People              parlancev1connect.PeopleServiceClient
	Privacy             parlancev1connect.PrivacyServiceClient
	ProviderCredentials parlancev1connect.ProviderCredentialServiceClient
	Queues              parlancev1connect.QueueServiceClient
	Sessions            parlancev1connect.SessionServiceClient
	Telephony           parlancev1connect.TelephonyServiceClient
	Tools               parlancev1connect.ToolServiceClient
	Usage               parlancev1connect.UsageServiceClient
	Webhooks            parlancev1connect.WebhookServiceClient
	Workspaces          parlancev1connect.WorkspaceServiceClient

	// base is the base URL without /v1 and without a slash at the end.
	base    string
	options Options
	http    transport
	now     func() time.Time
	// silence is how long a stream or socket may bring nothing.
	silence time.Duration
	// settleTime and resumeTime are those of an outbox.
	settleTime, resumeTime time.Duration
}

// New makes a client. It calls nothing. It fails when there is no base URL or API key, or one that
// cannot be one. White space around them is cut off, such as the line break of a file.
func New(o Options) (*Client, error) {
	o.BaseURL = strings.TrimSpace(cmp.Or(o.BaseURL, os.Getenv(EnvBaseURL))) //nolint:forbidigo // a documented default
	o.APIKey = strings.TrimSpace(cmp.Or(o.APIKey, os.Getenv(EnvAPIKey)))    //nolint:forbidigo // a documented default
	o.MaxRetries = max(0, cmp.Or(o.MaxRetries, defaultMaxRetries))
	o.Timeout = max(0, cmp.Or(o.Timeout, defaultTimeout))
	o.ReconnectFor = max(0, cmp.Or(o.ReconnectFor, defaultReconnectFor))
	own := http.Client{}
	if o.HTTPClient != nil {
		own = *o.HTTPClient
	}
	if own.CheckRedirect == nil {
		own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	if o.OnReconnect == nil {
		o.OnReconnect = func(error) {}
	}
	if o.APIKey == "" {
		return nil, fmt.Errorf("parlance: there is no API key: set Options.APIKey or %s", EnvAPIKey)
	}
	if strings.ContainsFunc(o.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("parlance: the API key is not one: it has white space or other characters that no key has")
	}
	base, err := baseOf(o.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, options: o, http: transport{&own}, silence: silentFor, settleTime: settleTime, resumeTime: resumeTime}
	c.now = time.Now
	c.openServices()
	return c, nil
}

// baseOf checks a base URL and returns it without /v1. Its errors do not show the URL, which may
// hold a password.
func baseOf(given string) (string, error) {
	if given == "" {
		return "", fmt.Errorf("parlance: there is no base URL: set Options.BaseURL or %s", EnvBaseURL)
	}
	parsed, err := url.Parse(given)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" ||
		strings.ContainsAny(given, " \t?#") {
		return "", errors.New("parlance: the base URL is not one such as https://parlance.example.org")
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(given, "/"), "/v1"), "/"), nil
}

func (c *Client) openServices() {
	http, base := c.http, c.base
	// The call's own interceptor is the outermost: those of the options see each try.
	with := append([]connect.ClientOption{connect.WithInterceptors(caller{c})}, c.options.ConnectOptions...)
	with = append(with, connect.WithInterceptors(reader{}))
	c.Agents = parlancev1connect.NewAgentServiceClient(http, base, with...)
	c.APIKeys = parlancev1connect.NewApiKeyServiceClient(http, base, with...)
	c.Audit = parlancev1connect.NewAuditServiceClient(http, base, with...)
	c.Billing = parlancev1connect.NewBillingServiceClient(http, base, with...)
	c.Callbacks = parlancev1connect.NewCallbackServiceClient(http, base, with...)
	c.Insights = parlancev1connect.NewInsightServiceClient(http, base, with...)
	c.Knowledge = parlancev1connect.NewKnowledgeServiceClient(http, base, with...)
	c.Memory = parlancev1connect.NewMemoryServiceClient(http, base, with...)
	c.People = parlancev1connect.NewPeopleServiceClient(http, base, with...)
	c.Privacy = parlancev1connect.NewPrivacyServiceClient(http, base, with...)
	c.ProviderCredentials = parlancev1connect.NewProviderCredentialServiceClient(http, base, with...)
	c.Queues = parlancev1connect.NewQueueServiceClient(http, base, with...)
	c.Sessions = parlancev1connect.NewSessionServiceClient(http, base, with...)
	c.Telephony = parlancev1connect.NewTelephonyServiceClient(http, base, with...)
	c.Tools = parlancev1connect.NewToolServiceClient(http, base, with...)
	c.Usage = parlancev1connect.NewUsageServiceClient(http, base, with...)
	c.Webhooks = parlancev1connect.NewWebhookServiceClient(http, base, with...)
	c.Workspaces = parlancev1connect.NewWorkspaceServiceClient(http, base, with...)
}
