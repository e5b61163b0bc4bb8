package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/events"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/stablejson"
	"parlance.dev/parlance/webhooks"
)

// forwardTimeout is the time-out of a webhook delivery. Source: decisions, Webhooks.
const forwardTimeout = 15 * time.Second

// listenOptions are the flags of `parlance listen`.
type listenOptions struct {
	forwardTo, after string
	events           []string
	json             bool
}

// NewListen makes the command.
func NewListen() *cobra.Command {
	var o listenOptions
	cmd := &cobra.Command{
		Use: "listen", Short: "Bring the workspace's events to a program on this machine", GroupID: "use", Args: command.ExactArgs(),
		Long: `Sends the events of a workspace to a local address as they happen, with the headers and the signature that a
webhook endpoint would get, and shows what each was answered. Nothing is registered, no public URL is needed, and events
go to the workspace's endpoints all the same.

The signing secret is made for this run and printed when it begins; give it to your program. An event is sent once: what
your program refuses is shown, and --after with the cursor before it sends it again. When the connection to the service
breaks, it goes on from the last event.`,
		Example: `  parlance listen --forward-to http://localhost:3000/hook
  parlance listen --forward-to http://localhost:3000/hook --events post_call_transcription,kb.source_ingested
  parlance listen --forward-to http://localhost:3000/hook --after 0    # everything that is kept, then what comes`,
		RunE: withHooks(func(ctx context.Context, h *hooks, _ []string) error {
			l, err := newListener(h, o)
			if err != nil {
				return err
			}
			return l.run(ctx)
		}),
	}
	cmd.Flags().StringVar(&o.forwardTo, "forward-to", "", "URL that gets the events, such as http://localhost:3000/hook")
	cmd.Flags().StringSliceVar(&o.events, "events", nil, "only events of these names, with commas between them")
	cmd.Flags().StringVar(&o.after, "after", "", "begin after this cursor; 0: with the oldest that is kept; default: with what comes")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for the secret and for each event")
	client.AddWorkspace(cmd)
	return cmd
}

// listener forwards events to one address, one at a time and in order.
type listener struct {
	*hooks
	o      listenOptions
	target *http.Client
	secret seal.Secret
}

func newListener(h *hooks, o listenOptions) (*listener, error) {
	if o.forwardTo == "" {
		return nil, command.Usagef("--forward-to is missing: the URL of your program, such as http://localhost:3000/hook")
	}
	to, err := url.Parse(o.forwardTo)
	if err != nil || (to.Scheme != "http" && to.Scheme != "https") || to.Host == "" {
		return nil, command.Usagef("--forward-to is a URL such as http://localhost:3000/hook, not %q", o.forwardTo)
	}
	for _, name := range o.events {
		if !events.Type(name).Public() {
			return nil, command.Usagef("there is no event %q; the events are %s", name, joinTypes(events.PublicTypes()))
		}
	}
	secret, err := webhooks.NewSecret()
	if err != nil {
		return nil, err
	}
	return &listener{
		hooks: h, o: o, secret: secret,
		target: &http.Client{Timeout: forwardTimeout, CheckRedirect: func(*http.Request,
			[]*http.Request,
		) error {
			return http.ErrUseLastResponse
		}},
	}, nil
}

func joinTypes(types []events.Type) string {
	var out bytes.Buffer
	for i, t := range types {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(string(t))
	}
	return out.String()
}

// run forwards events until ctx ends, and reconnects when the stream breaks.
func (l *listener) run(ctx context.Context) error {
	stream := client.EventStream{
		Caller: &l.Caller, After: l.o.after, Events: l.o.events, Ready: l.ready,
		Event: func(event *parlancev1.Event) error { return l.forward(ctx, event) },
		JSON:  l.o.json,
	}
	return stream.Follow(ctx)
}

// ready reports that the stream is open. The first time it also prints the signing secret.
func (l *listener) ready(again bool) error {
	switch {
	case l.o.json && !again:
		return json.NewEncoder(l.Screen.Out).Encode(map[string]string{"secret": l.secret.Reveal()})
	case l.o.json:
	case again:
		l.Screen.Line("%s", l.Screen.Dim("  connected again"))
	default:
		what := "All events"
		if len(l.o.events) > 0 {
			what = eventsWords(l.o.events)
		}
		l.Line("%s of %s go to %s", what, l.WorkspaceID, l.o.forwardTo)
		l.Screen.Line("Signing secret of this run: %s", l.Screen.Strong(l.secret.Reveal()))
		l.Screen.Line("%s", l.Screen.Dim("Ctrl-C ends it. Something to see: parlance chat, then close it."))
	}
	return nil
}

// forward sends one event and prints the result. It returns an error when the output is closed.
func (l *listener) forward(ctx context.Context, event *parlancev1.Event) error {
	body, err := forwardBody(event)
	if err != nil {
		return err
	}
	began := l.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.o.forwardTo, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = webhooks.Sign(webhooks.Message{
		EventID: event.GetEventId(),
		Type:    events.Type(event.GetType()), Body: body, At: began,
	}, l.secret)
	status, failure := 0, ""
	response, err := l.target.Do(request)
	if err == nil {
		status = response.StatusCode
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // lets the connection be reused
		_ = response.Body.Close()                                         // only the status matters
	} else if failure = forwardFailure(err); ctx.Err() != nil {
		return ctx.Err()
	}
	return l.show(event, status, failure, l.Now().Sub(began))
}

// forwardBody is the body that a webhook endpoint would receive.
func forwardBody(event *parlancev1.Event) ([]byte, error) {
	data, err := stablejson.Marshal(event.GetData())
	if err != nil {
		return nil, fmt.Errorf("encode an event: %w", err)
	}
	return json.Marshal(struct {
		Type        string          `json:"type"`
		EventID     string          `json:"event_id"`
		TenantID    string          `json:"tenant_id"`
		WorkspaceID string          `json:"workspace_id"`
		CreatedAt   string          `json:"created_at"`
		Data        json.RawMessage `json:"data"`
	}{
		event.GetType(), event.GetEventId(), event.GetTenantId(), event.GetWorkspaceId(),
		event.GetCreatedAt().AsTime().Format(time.RFC3339Nano), data,
	})
}

func forwardFailure(err error) string {
	if refused, ok := errors.AsType[*url.Error](err); ok {
		if refused.Timeout() {
			return fmt.Sprintf("no answer within %s", forwardTimeout)
		}
		err = refused.Err
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "nothing listens there; is your program running?"
	}
	return err.Error()
}

// show prints a line for an event.
func (l *listener) show(event *parlancev1.Event, status int, failure string, took time.Duration) error {
	if l.o.json {
		return json.NewEncoder(l.Screen.Out).Encode(map[string]any{
			"event_id": event.GetEventId(), "type": event.GetType(), "cursor": event.GetCursor(), "status": status,
			"error": failure, "latency_ms": took.Milliseconds(),
		})
	}
	outcome := l.Screen.Bad(fmt.Sprint(status))
	switch {
	case failure != "":
		outcome = l.Screen.Bad(term.Clean(failure))
	case status >= 200 && status < 300:
		outcome = l.Screen.Good(fmt.Sprint(status))
	}
	l.Screen.Line("%s  %-24s  %s  %s  %s", l.Now().Local().Format(time.TimeOnly), term.Clean(event.GetType()), outcome,

		term.Latency(int32(took.Milliseconds())), l.Screen.Dim(term.Clean(event.GetEventId()+"  cursor "+event.GetCursor())))
	return nil
}
