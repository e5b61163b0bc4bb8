package telephony

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/sessions/handover"
	"parlance.dev/parlance/telephony/numbers"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// Path is the prefix of the addresses that carriers call.
const Path = "/v1/telephony/"

// CarrierFunc returns the carrier of a workspace. Errors: Precondition provider-not-configured.
type CarrierFunc func(ctx context.Context, ref workspaces.Ref) (carrier.Carrier, error)

// EndFunc does what follows from the end of a call, in its transaction. now is the time of the end.
type EndFunc func(ctx context.Context, tx bun.Tx, call Call, now time.Time) error

// Deps is what a Service works with; all but Usage, Registry, Log and Now are required.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	Agents     *agents.Service
	Sessions   *sessions.Service
	Handovers  *handover.Service
	Numbers    *numbers.Service
	// CarrierFunc chooses carriers; of no workspace it returns the installation's.
	CarrierFunc CarrierFunc
	// AccountFunc opens the carrier of a credential that may be deleted.
	AccountFunc func(ctx context.Context, own workspaces.Credential) (carrier.Carrier, error)
	// DefaultFrom is the number that calls come from when neither the agent nor the workspace has one.
	DefaultFrom string
	// Usage says whether the plan's quota allows more minutes; nil: it does.
	Usage *usage.Service
	// PublicURL is where carriers reach the service: http or https, without /v1.
	PublicURL string
	// Registry exports the count of calls that are over; nil does not.
	Registry prometheus.Registerer
	// Log gets errors that no caller sees; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Service places calls, takes calls, and does what carriers ask. It is safe for concurrent use.
type Service struct {
	Deps

	hooks hooks
	// overs counts calls that are over.
	overs *prometheus.CounterVec
	// onAnswer and onEnd are set before the service is used; see OnAnswer and OnEnd.
	onAnswer, onEnd EndFunc
}

// New returns a Service, and has d.Sessions call it when a session ends.
func New(d Deps) *Service {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	nothing := func(context.Context, bun.Tx, Call, time.Time) error { return nil }
	d.PublicURL = strings.TrimRight(d.PublicURL, "/")
	s := &Service{Deps: d, hooks: hooks(d.PublicURL), onAnswer: nothing, onEnd: nothing}
	s.overs = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "parlance_calls_ended_total",
		Help: "Telephone calls that are over; direction is inbound or outbound, status how they ended.",
	}, []string{"direction", "status"})
	if d.Registry != nil {
		d.Registry.MustRegister(s.overs)
	}
	d.Sessions.OnEnd(s.sessionEnded)
	return s
}

// OnAnswer sets what is called in the transaction in which a call is answered, OnEnd in the one in
// which it ends. Call them before the service is used.
func (s *Service) OnAnswer(fn EndFunc) { s.onAnswer = fn }

// OnEnd is described at OnAnswer.
func (s *Service) OnEnd(fn EndFunc) { s.onEnd = fn }

// now is the time as Postgres stores it.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Get returns a call of a workspace. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, id ID) (Call, error) {
	return find(ctx, s.DB, ref.TenantID, id, func(q *bun.SelectQuery) { q.Where("pc.workspace_id = ?", ref.ID) })
}

// List lists calls of a workspace, newest first, and returns the token of the next page.
func (s *Service) List(ctx context.Context, ref workspaces.Ref, params ListParams) ([]Call, string, error) {
	return list(ctx, s.DB, ref, params)
}

// Configured returns an error unless a workspace has a carrier. Errors: Precondition
// provider-not-configured.
func (s *Service) Configured(ctx context.Context, ref workspaces.Ref) error {
	_, err := s.CarrierFunc(ctx, ref)
	return err
}

// CancelTx writes down that a call is to be hung up, so that Sweep does it if nobody calls HangUp
// after the transaction. It does nothing with one that is over or not there any more. While the
// carrier is placing a call, nobody else looks at it; see placeLease.
func (s *Service) CancelTx(ctx context.Context, tx bun.Tx, ref workspaces.Ref, id ID, now time.Time) error {
	call, err := lock(ctx, tx, Call{TenantID: ref.TenantID, ID: id})
	if fault.IsReason(err, fault.ResourceNotFound) {
		return nil
	}
	if err != nil || call.Status.IsOver() {
		return err
	}
	call.EndReason = cmp.Or(call.EndReason, EndCanceled)
	if call.CarrierCallID != "" {
		call.CheckAt = now
	}
	return update(ctx, tx, call, "end_reason", "check_at")
}

// hooks makes the addresses that carriers call. It is the service's public URL.
type hooks string

// of is the address of a call's webhooks of a kind.
func (h hooks) of(c Call, kind carrier.Kind) string {
	return string(h) + Path + url.PathEscape(c.Carrier) + "/calls/" + string(c.ID) + "/" + string(kind)
}

// ofTransfer is the address of the webhooks of a kind about a call's transfer.
func (h hooks) ofTransfer(c Call, kind carrier.Kind) string {
	return h.of(c, kind) + "/" + c.Transfer.number()
}

// NumberURL is the address that a carrier calls when there is a call for a number.
func NumberURL(publicURL, carrierName string, id numbers.ID) string {
	return strings.TrimRight(publicURL, "/") + Path + url.PathEscape(carrierName) + "/numbers/" + string(id)
}

// mediaURL is the address of media sockets.
func (h hooks) mediaURL(carrierName string) string {
	base := string(h)
	if rest, secure := strings.CutPrefix(base, "https://"); secure {
		base = "wss://" + rest
	} else {
		base = "ws://" + strings.TrimPrefix(base, "http://")
	}
	return base + Path + url.PathEscape(carrierName) + "/media"
}

// Hook is a request of a carrier to one of the addresses of this service.
type Hook struct {
	// Carrier is the name in the address.
	Carrier string
	// CallID and Kind are those of a call's address, NumberID that of a number's.
	CallID   ID
	Kind     carrier.Kind
	NumberID numbers.ID
	// Transfer is the number of the transfer that the address is for; empty for others.
	Transfer string
	// URI is the path and query of the request.
	URI    string
	Header http.Header
	Form   url.Values
}

// ParsePath takes an address of this service apart. It returns false for others.
func ParsePath(path string) (Hook, bool) {
	rest, ok := strings.CutPrefix(path, Path)
	parts := strings.Split(rest, "/")
	switch {
	case !ok:
	case len(parts) == 4 && parts[1] == "calls":
		return Hook{Carrier: parts[0], CallID: ID(parts[2]), Kind: carrier.Kind(parts[3])}, knownKinds[carrier.Kind(parts[3])]
	case len(parts) == 5 && parts[1] == "calls":
		hook := Hook{Carrier: parts[0], CallID: ID(parts[2]), Kind: carrier.Kind(parts[3]), Transfer: parts[4]}
		return hook, ofTransfer[hook.Kind]
	case len(parts) == 3 && parts[1] == "numbers":
		return Hook{Carrier: parts[0], NumberID: numbers.ID(parts[2]), Kind: carrier.Asked}, true
	}
	return Hook{}, false
}

var knownKinds = map[carrier.Kind]bool{
	carrier.Asked: true, carrier.StatusChanged: true, carrier.MachineDetected: true, carrier.BridgeChanged: true,
	carrier.BridgeEnded: true, carrier.Whispered: true,
}

// ofTransfer are the kinds that are about a transfer.
var ofTransfer = map[carrier.Kind]bool{carrier.BridgeChanged: true, carrier.BridgeEnded: true, carrier.Whispered: true}

// read checks and reads a request with the carrier of a workspace. A carrier of another name than
// the address says is one that the workspace does not use any more.
func (s *Service) read(ctx context.Context, ref workspaces.Ref, h Hook) (carrier.Carrier, carrier.Webhook, error) {
	return s.readWith(h, func() (carrier.Carrier, error) { return s.CarrierFunc(ctx, ref) })
}

// readWith is read with a carrier that choose returns.
func (s *Service) readWith(h Hook, choose func() (carrier.Carrier, error)) (carrier.Carrier, carrier.Webhook, error) {
	c, err := choose()
	if err != nil {
		return nil, carrier.Webhook{}, err
	}
	if c.Name() != h.Carrier {
		return nil, carrier.Webhook{}, fault.New(fault.ResourceNotFound, "The workspace does not use this carrier.")
	}
	hook, err := c.Read(carrier.WebhookRequest{URL: s.PublicURL + h.URI, Kind: h.Kind, Header: h.Header, Form: h.Form})
	if err != nil {
		return nil, carrier.Webhook{}, fmt.Errorf("read a webhook of %s: %w", c.Name(), err)
	}
	return c, hook, nil
}
