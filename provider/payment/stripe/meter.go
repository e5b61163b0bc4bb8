package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/internal/apiclient"
)

const (
	// MeterEventAge is how old a meter event may be when it is sent. Source: docs.stripe.com, Create a
	// billing meter event, timestamp.
	MeterEventAge = 35 * 24 * time.Hour
	// IdentifierLife is for how long at least Stripe refuses a second meter event with the same
	// identifier. Source: the same, identifier.
	IdentifierLife = 24 * time.Hour
)

// MeterEvent is what a customer has used of a meter at Stripe.
type MeterEvent struct {
	// Name is the event name of the meter.
	Name       string
	CustomerID string
	// Quantity is above 0.
	Quantity int64
	// At is in the last MeterEventAge, or at most five minutes from now.
	At time.Time
	// Identifier is the same whenever the same event is sent.
	Identifier string
	// Attempt counts how often the event is sent.
	Attempt int
}

// MeterOutcome says what has become of a meter event that was sent.
type MeterOutcome string

// The outcomes.
const (
	// MeterTaken means that Stripe has the event, from this attempt or from an earlier one.
	MeterTaken MeterOutcome = "taken"
	// MeterRefused means that Stripe has not taken the event, and does not until something is changed:
	// it knows no such meter or customer.
	MeterRefused MeterOutcome = "refused"
	// MeterNotTaken means that Stripe has not taken the event and takes no others now: it cannot be
	// reached, wants fewer calls, or refuses the API key.
	MeterNotTaken MeterOutcome = "not_taken"
	// MeterUnknown means that Stripe may have taken the event.
	MeterUnknown MeterOutcome = "unknown"
)

// SendMeterEvent reports usage, in one attempt. The error is nil when the event was taken, and
// explains the outcome otherwise.
//
// The identifier makes repetitions harmless: Stripe refuses a second event with it. Each attempt
// has an idempotency key of its own, because Stripe repeats its answer to a key for a day, also
// when this was an error 500.
func (c *Client) SendMeterEvent(ctx context.Context, e MeterEvent) (MeterOutcome, error) {
	form := url.Values{
		"event_name":                  {e.Name},
		"identifier":                  {e.Identifier},
		"timestamp":                   {strconv.FormatInt(e.At.Unix(), 10)},
		"payload[stripe_customer_id]": {e.CustomerID},
		"payload[value]":              {strconv.FormatInt(e.Quantity, 10)},
	}
	caller := c.caller("v1/billing/meter_events", e.Identifier+"-"+strconv.Itoa(e.Attempt))
	caller.MaxRetries = -1
	_, err := caller.PostWhole(ctx, []byte(form.Encode()), maxAnswerBytes)
	switch outcome := meterOutcome(err); {
	case outcome == MeterTaken:
		return MeterTaken, nil
	case refusedKey(err): // Stripe's own words are for the operator, not for tenants
		return outcome, fault.Wrap(err, fault.UpstreamFailed, "Stripe does not take usage with this API key.")
	default:
		return outcome, c.explain(ctx, err)
	}
}

func meterOutcome(err error) MeterOutcome {
	if err == nil {
		return MeterTaken
	}
	refusal, answered := errors.AsType[*apiclient.Refusal](err)
	if !answered {
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
			return MeterNotTaken
		}
		return MeterUnknown
	}
	switch {
	case repeatsIdentifier(refusal):
		return MeterTaken
	case refusal.Status == http.StatusTooManyRequests || refusedKey(err):
		return MeterNotTaken
	case refusal.Status == http.StatusRequestTimeout || refusal.Status == http.StatusConflict:
		return MeterUnknown
	case refusal.Status >= http.StatusBadRequest && refusal.Status < http.StatusInternalServerError:
		return MeterRefused
	default:
		return MeterUnknown
	}
}

func refusedKey(err error) bool {
	refusal, ok := errors.AsType[*apiclient.Refusal](err)
	return ok && (refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusForbidden)
}

// repeatsIdentifier says whether an event was refused because Stripe has one with its identifier.
// The documented code comes with the second version of the interface only; the first one says it in
// words.
func repeatsIdentifier(refusal *apiclient.Refusal) bool {
	var said struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	return refusal.Status == http.StatusBadRequest && json.Unmarshal([]byte(refusal.Detail), &said) == nil &&
		(said.Error.Code == "duplicate_meter_event" || strings.HasPrefix(said.Error.Message, "An event already exists with identifier"))
}
