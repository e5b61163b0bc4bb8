package twilio

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/provider/internal/apiclient"
)

const (
	// DefaultBaseURL is Twilio itself.
	DefaultBaseURL = "https://api.twilio.com"
	// DefaultName is the name of a carrier that was given none.
	DefaultName = "twilio"

	version = "2010-04-01"
	// timeout bounds one request.
	timeout        = 20 * time.Second
	maxAnswerBytes = 4 << 20
	maxShownRunes  = 300
)

// Config is what a Carrier is made of. AccountSID, AuthToken and Client are required.
type Config struct {
	// Name is Carrier.Name; empty: DefaultName.
	Name string
	// AccountSID is the account's id: AC and 32 hexadecimal digits.
	AccountSID string
	// AuthToken is the account's secret. It also signs webhooks.
	AuthToken seal.Secret
	// BaseURL is the root of the interface, without the version; empty: DefaultBaseURL.
	BaseURL string
	Client  *http.Client
}

// Carrier is an account at Twilio. It is safe for concurrent use.
type Carrier struct {
	name    string
	base    *url.URL
	account string
	token   seal.Secret
	client  http.Client
}

var _ carrier.Carrier = (*Carrier)(nil)

// New makes a carrier; it calls nobody. Errors: what is missing or malformed.
func New(c Config) (*Carrier, error) {
	if c.AccountSID == "" || !c.AuthToken.IsSet() || c.Client == nil {
		return nil, errors.New("a carrier at Twilio needs an account SID, an auth token and an HTTP client")
	}
	if !isID(c.AccountSID) {
		return nil, errors.New("the account SID of Twilio is AC and 32 hexadecimal digits")
	}
	base, err := apiclient.ParseBase(cmp.Or(c.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, fmt.Errorf("the base URL of Twilio: %w", err)
	}
	client := *c.Client
	// A redirect would take the credential to another host.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Timeout = timeout
	return &Carrier{
		name: cmp.Or(c.Name, DefaultName), base: base.JoinPath(version, "Accounts"), account: c.AccountSID, token: c.AuthToken,
		client: client,
	}, nil
}

// Name implements carrier.Carrier.
func (c *Carrier) Name() string { return c.name }

// isID reports whether a text can be an id of Twilio, which is put into paths.
func isID(id string) bool {
	const maxIDBytes = 64
	return id != "" && len(id) <= maxIDBytes && strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// get reads a resource of the account. Errors: those of do.
func (c *Carrier) get(ctx context.Context, path string, query url.Values, into any) error {
	target := c.base.JoinPath(c.account + path)
	target.RawQuery = query.Encode()
	return c.do(ctx, http.MethodGet, target, nil, into)
}

// post changes a resource of the account. Errors: those of do.
func (c *Carrier) post(ctx context.Context, path string, form url.Values, into any) error {
	return c.do(ctx, http.MethodPost, c.base.JoinPath(c.account+path), form, into)
}

// do makes one request, once: nobody wants to be called twice. Errors: a *carrier.Refused; Upstream
// upstream-failed, after which it is not known what has happened; ctx's.
func (c *Carrier) do(ctx context.Context, method string, target *url.URL, form url.Values, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, target.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("make a request for Twilio: %w", withoutURL(err))
	}
	req.SetBasicAuth(c.account, c.token.Reveal())
	req.Header.Set("Accept", "application/json")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := c.client.Do(req)
	if err != nil {
		return c.unanswered(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // read to its end or given up: an error changes nothing
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes))
	if res.StatusCode < http.StatusOK || res.StatusCode >= http.StatusMultipleChoices {
		return c.failure(res, body)
	}
	if err != nil {
		return c.unanswered(ctx, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fault.Wrap(err, fault.UpstreamFailed, "Twilio answered something other than was asked for.")
	}
	return nil
}

// unanswered is the error of a request without an answer.
func (c *Carrier) unanswered(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("call Twilio: %w", cause)
	}
	return fault.Wrap(withoutURL(err), fault.UpstreamFailed, "Twilio cannot be reached or did not answer in time.")
}

// withoutURL unwraps the error of net/http, which begins with the URL: it has telephone numbers.
func withoutURL(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// failure is the error of an answer other than 2xx.
func (c *Carrier) failure(res *http.Response, body []byte) error {
	status := res.StatusCode
	if isPassing(status) {
		failed := fault.New(fault.UpstreamFailed, "Twilio answered %d.", status)
		failed.RetryAfter = publicnet.RetryAfter(res.Header)
		return failed
	}
	var said struct {
		Code    json.Number `json:"code"`
		Message string      `json:"message"`
	}
	_ = json.Unmarshal(body, &said) // an answer in another form has the status alone
	return &carrier.Refused{
		Code:    cmp.Or(said.Code.String(), strconv.Itoa(status)),
		Message: c.shown(cmp.Or(said.Message, http.StatusText(status))),
	}
}

// isPassing reports whether the same request may succeed later.
func isPassing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status < http.StatusBadRequest || status >= http.StatusInternalServerError
}

// shown is a message of Twilio's as it may be shown.
func (c *Carrier) shown(message string) string {
	message = strings.ReplaceAll(strings.ToValidUTF8(message, ""), c.token.Reveal(), "***")
	if runes := []rune(message); len(runes) > maxShownRunes {
		message = string(runes[:maxShownRunes]) + "…"
	}
	return message
}
