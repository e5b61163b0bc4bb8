package cli

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

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/events"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/stablejson"
	"parlance.dev/parlance/webhooks"
)

const (
	// forwardTimeout is what a delivery has, too. Source: decisions, Webhooks.
	forwardTimeout = 15 * time.Second
	// listenPause is the first pause before the stream is opened again; it doubles to listenPauseMost.
	listenPause, listenPauseMost = 500 * time.Millisecond, 10 * time.Second
)

// listenOptions are the flags of `parlance listen`.
type listenOptions struct {
	forwardTo, after string
	events           []string
	json             bool
}

func newListen() *cobra.Command {
	var o listenOptions
	cmd := &cobra.Command{
		Use: "listen", Short: "Bring the workspace's events to a program on this machine", GroupID: "use", Args: exactArgs(),
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
	addWorkspace(cmd)
	return cmd
}

// listener forwards events to one address, one at a time and in their order.
type listener struct {
	*hooks
	o      listenOptions
	target *http.Client
	secret seal.Secret
	pause  time.Duration
	// cursor is that of the last event that was forwarded; opened says that the stream was once there.
	cursor string
	opened bool
}

func newListener(h *hooks, o listenOptions) (*listener, error) {
	if o.forwardTo == "" {
		return nil, usageError{errors.New("--forward-to is missing: the URL of your program, such as http://localhost:3000/hook")}
	}
	to, err := url.Parse(o.forwardTo)
	if err != nil || (to.Scheme != "http" && to.Scheme != "https") || to.Host == "" {
		return nil, usageError{fmt.Errorf("--forward-to is a URL such as http://localhost:3000/hook, not %q", o.forwardTo)}
	}
	for _, name := range o.events {
		if !events.Type(name).Public() {
			return nil, usageError{fmt.Errorf("there is no event %q; the events are %s", name, joinTypes(events.PublicTypes()))}
		}
	}
	secret, err := webhooks.NewSecret()
	if err != nil {
		return nil, err
	}
	return &listener{
		hooks: h, o: o, secret: secret, cursor: o.after, pause: listenPause,
		target: &http.Client{Timeout: forwardTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
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

// run forwards until ctx ends, opening the stream again whenever it breaks.
func (l *listener) run(ctx context.Context) error {
	for {
		err := l.follow(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !l.opened || !brokenOff(err) {
			return l.where.explainCall("read the events", err)
		}
		if !l.o.json {
			l.screen.Line("%s", l.screen.Dim(fmt.Sprintf("  the connection broke; trying again in %s", l.pause)))
		}
		timer := time.NewTimer(l.pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
		l.pause = min(2*l.pause, listenPauseMost)
	}
}

// brokenOff says whether opening the stream again can help.
func brokenOff(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeUnauthenticated, connect.CodePermissionDenied, connect.CodeNotFound, connect.CodeInvalidArgument, connect.CodeFailedPrecondition, connect.CodeUnimplemented:
		return false
	}
	return true
}

// follow reads the stream until it breaks.
func (l *listener) follow(ctx context.Context) error {
	stream, err := l.webhooks.WatchEvents(ctx, &parlancev1.WatchEventsRequest{
		WorkspaceId: l.where.workspaceID, After: l.cursor, Events: l.o.events, Announce: true,
	})
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }() // its error is stream.Err
	for stream.Receive() {
		if event := stream.Msg().GetEvent(); event != nil {
			if err := l.forward(ctx, event); err != nil {
				return err
			}
		} else if err := l.ready(); err != nil {
			return err
		}
		l.cursor, l.pause = stream.Msg().GetCursor(), listenPause
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return connect.NewError(connect.CodeUnavailable, errors.New("the service ended the stream"))
}

// ready says that the stream is open, and the first time with which secret things are signed.
func (l *listener) ready() error {
	again := l.opened
	l.opened = true
	switch {
	case l.o.json && !again:
		return json.NewEncoder(l.screen.Out).Encode(map[string]string{"secret": l.secret.Reveal()})
	case l.o.json:
	case again:
		l.screen.Line("%s", l.screen.Dim("  connected again"))
	default:
		what := "All events"
		if len(l.o.events) > 0 {
			what = eventsWords(l.o.events)
		}
		l.line("%s of %s go to %s", what, l.where.workspaceID, l.o.forwardTo)
		l.screen.Line("Signing secret of this run: %s", l.screen.Strong(l.secret.Reveal()))
		l.screen.Line("%s", l.screen.Dim("Ctrl-C ends it. Something to see: parlance chat, then close it."))
	}
	return nil
}

// forward sends one event and shows what came of it. Its error is that nobody reads what is shown.
func (l *listener) forward(ctx context.Context, event *parlancev1.Event) error {
	body, err := forwardBody(event)
	if err != nil {
		return err
	}
	began := l.now()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.o.forwardTo, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = webhooks.SignLocal(webhooks.LocalMessage{EventID: event.GetEventId(), Type: events.Type(event.GetType()), Body: body, At: began}, l.secret)
	status, failure := 0, ""
	response, err := l.target.Do(request)
	if err == nil {
		status = response.StatusCode
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection is used again
		_ = response.Body.Close()                                         // the status is what counts
	} else if failure = forwardFailure(err); ctx.Err() != nil {
		return ctx.Err()
	}
	return l.show(event, status, failure, l.now().Sub(began))
}

// forwardBody is the body that an endpoint gets.
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
	}{event.GetType(), event.GetEventId(), event.GetTenantId(), event.GetWorkspaceId(), event.GetCreatedAt().AsTime().Format(time.RFC3339Nano), data})
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
		return json.NewEncoder(l.screen.Out).Encode(map[string]any{
			"event_id": event.GetEventId(), "type": event.GetType(), "cursor": event.GetCursor(), "status": status, "error": failure, "latency_ms": took.Milliseconds(),
		})
	}
	outcome := l.screen.Bad(fmt.Sprint(status))
	switch {
	case failure != "":
		outcome = l.screen.Bad(term.Clean(failure))
	case status >= 200 && status < 300:
		outcome = l.screen.Good(fmt.Sprint(status))
	}
	l.screen.Line("%s  %-24s  %s  %s  %s", l.now().Local().Format(time.TimeOnly), term.Clean(event.GetType()), outcome,
		latencyWords(int32(took.Milliseconds())), l.screen.Dim(term.Clean(event.GetEventId()+"  cursor "+event.GetCursor()))) //nolint:gosec // under forwardTimeout
	return nil
}
