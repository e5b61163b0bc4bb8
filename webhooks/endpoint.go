package webhooks

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/workspaces"
)

// EndpointID names an endpoint (we_…).
type EndpointID string

// Status says whether an endpoint gets deliveries.
type Status string

// The statuses of an endpoint.
const (
	Enabled  Status = "enabled"
	Disabled Status = "disabled"
	// Paused: nothing is sent. Unlike Disabled, deliveries of new events are made, and held.
	Paused Status = "paused"
)

// Why an endpoint was disabled.
const (
	ReasonFailures = "failures"
	ReasonGone     = "gone"
)

// Endpoint is a receiver of events.
type Endpoint struct {
	bun.BaseModel `bun:"table:webhook_endpoints,alias:we"`

	ID          EndpointID          `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	URL         string              `bun:"url"`
	// Events are the subscribed types, without duplicates; empty: nothing is delivered.
	Events []events.Type `bun:"events,array"`
	// AgentIDs limit the events to those about one of these agents; empty: no limit.
	AgentIDs       []string `bun:"agent_ids,array"`
	Description    string   `bun:"description"`
	Status         Status   `bun:"status"`
	DisabledReason string   `bun:"disabled_reason"`
	// ConsecutiveFailures counts the failed attempts since the last success.
	ConsecutiveFailures int       `bun:"consecutive_failures"`
	LastSuccessAt       time.Time `bun:"last_success_at,nullzero"`
	LastFailureAt       time.Time `bun:"last_failure_at,nullzero"`
	// SealedSecret and SealedPrevious open with the endpoint's binding; see openKeys.
	SealedSecret   []byte    `bun:"secret"`
	SecretHint     string    `bun:"secret_hint"`
	SealedPrevious []byte    `bun:"previous_secret,nullzero"`
	PreviousUntil  time.Time `bun:"previous_secret_until,nullzero"`
	// Older are the secrets before the previous one that may still sign, the newest first.
	Older []olderSecret `bun:"older_secrets,type:jsonb,nullzero"`
	// Ordered endpoints get one delivery at a time, in the order of the feed. A delivery that fails
	// delays the later ones until it succeeds or its last attempt is made.
	Ordered bool `bun:"ordered"`
	// MaxPerSecond and MaxInFlight bound requests, over all workers; 0: no bound.
	MaxPerSecond int `bun:"max_per_second"`
	MaxInFlight  int `bun:"max_in_flight"`
	// NextSendAt is when MaxPerSecond lets the next request leave.
	NextSendAt time.Time `bun:"next_send_at,nullzero"`
	// HeaderNames are the names of the customer's headers; SealedHeaders has their values, see
	// openHeaders.
	HeaderNames   []string  `bun:"header_names,array"`
	SealedHeaders []byte    `bun:"headers,nullzero"`
	CreatedAt     time.Time `bun:"created_at"`
	UpdatedAt     time.Time `bun:"updated_at"`
}

// olderSecret is a secret that was rotated; it signs until Until. Sealed opens as
// Endpoint.SealedSecret.
type olderSecret struct {
	Sealed []byte    `json:"sealed"`
	Until  time.Time `json:"until"`
}

// rotated returns the rotated secrets that still sign at now, the newest first.
func (e Endpoint) rotated(now time.Time) []olderSecret {
	var valid []olderSecret
	for _, one := range append([]olderSecret{{Sealed: e.SealedPrevious, Until: e.PreviousUntil}}, e.Older...) {
		if len(one.Sealed) > 0 && now.Before(one.Until) {
			valid = append(valid, one)
		}
	}
	return valid
}

// recipient is where the customer's headers are sent. The secret signs requests and is not sent.
func (e Endpoint) recipient() workspaces.Recipient {
	return workspaces.Recipient{URL: e.URL, URLField: "url", Sealed: e.SealedHeaders, SecretField: "headers"}
}

// subscribes says whether the endpoint subscribes to events of the type.
func (e Endpoint) subscribes(t events.Type) bool { return slices.Contains(e.Events, t) }

// wantsAgent says whether the endpoint wants events about the agent; "" is no agent.
func (e Endpoint) wantsAgent(agentID string) bool {
	return len(e.AgentIDs) == 0 || slices.Contains(e.AgentIDs, agentID)
}

// MintedEndpoint is an endpoint with its new secret, which is shown only once.
type MintedEndpoint struct {
	Endpoint
	Secret seal.Secret
}

// CreateParams describes a new endpoint.
type CreateParams struct {
	// URL is https and public; at most 2,048 characters.
	URL string
	// Events are names of public events; duplicates are dropped.
	Events []string
	// Description is at most 500 characters.
	Description string
	// AgentIDs are agents of the workspace, at most 100; duplicates are dropped.
	AgentIDs []string
	// Headers are sent with every request: at most 20, none of those that the service sets.
	Headers map[string]string
	Ordered bool
	// MaxPerSecond is up to 1,000 and MaxInFlight up to 100; 0: no limit.
	MaxPerSecond int
	MaxInFlight  int
}

// UpdateParams holds what is to change; nil fields stay as they are.
type UpdateParams struct {
	URL         *string
	Events      *[]string
	Description *string
	AgentIDs    *[]string
	// Headers replaces all of them.
	Headers      *map[string]string
	Ordered      *bool
	MaxPerSecond *int
	MaxInFlight  *int
	// Status is Enabled or Paused.
	Status *Status
}

// setStatus enables or pauses the endpoint. Leaving Disabled forgets the failures that led there.
func (e *Endpoint) setStatus(to Status) {
	if e.Status == Disabled {
		e.DisabledReason, e.ConsecutiveFailures = "", 0
	}
	e.Status = to
}

// changed says whether a caller changed the endpoint, or it was disabled, before it became now.
func (e Endpoint) changed(now Endpoint) bool { return !e.UpdatedAt.Equal(now.UpdatedAt) }

// checkEnabled refuses what only an enabled endpoint can do.
func (e Endpoint) checkEnabled() error {
	if e.Status != Enabled {
		return fault.New(fault.Conflict, "The endpoint is %s; enable it first.", e.Status)
	}
	return nil
}

const maxDescriptionChars = 500

// parseEvents drops duplicates and refuses unknown names.
func parseEvents(names []string) ([]events.Type, error) {
	types := make([]events.Type, 0, len(names))
	for i, name := range names {
		t, err := parseEvent("events["+strconv.Itoa(i)+"]", name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	return types, nil
}

func parseEvent(field, name string) (events.Type, error) {
	if t := events.Type(name); t.Public() {
		return t, nil
	}
	known := make([]string, 0, len(events.PublicTypes()))
	for _, t := range events.PublicTypes() {
		known = append(known, string(t))
	}
	return "", fault.OnField(fault.WebhookEventUnknown, field, "There is no event %q; the events are %s.", name, strings.Join(known, ", "))
}

func checkDescription(text string) error {
	if len([]rune(text)) > maxDescriptionChars {
		return fault.InvalidField("description", "max_len", "description can have at most %d characters.", maxDescriptionChars)
	}
	return nil
}
