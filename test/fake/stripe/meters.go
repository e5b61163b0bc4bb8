package stripe

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The limits of meter events. Source: docs.stripe.com/api/billing/meter-event/create.
const (
	meterEventPast   = 35 * 24 * time.Hour
	meterEventFuture = 5 * time.Minute
	identifierLife   = 24 * time.Hour // Stripe says "at least"
	maxMeterText     = 100
)

// MeterEvent is usage that the server has taken.
type MeterEvent struct {
	Name, Customer, Identifier string
	Value                      int64
	At, TakenAt                time.Time
}

// MeterEvents are the meter events that the server has taken, each time that it counts them.
func (s *Server) MeterEvents() []MeterEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.usage)
}

// Gone makes the server know no customers with these ids and no meters with these event names. It
// knows all others.
func (s *Server) Gone(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = names
}

// meterEvent takes a meter event. It refuses an identifier that it has seen in the last day: Stripe
// does so with these words and without a code.
func (s *Server) meterEvent(form url.Values) (map[string]any, *refusal) {
	invalid := func(code, message, param string) (map[string]any, *refusal) {
		return nil, &refusal{http.StatusBadRequest, "invalid_request_error", code, message, param}
	}
	now := s.now()
	e := MeterEvent{
		Name: form.Get("event_name"), Customer: form.Get("payload[stripe_customer_id]"), Identifier: form.Get("identifier"), TakenAt: now,
	}
	seconds, err := strconv.ParseInt(form.Get("timestamp"), 10, 64)
	e.At = time.Unix(seconds, 0).UTC()
	switch value := form.Get("payload[value]"); {
	case e.Name == "" || len(e.Name) > maxMeterText || slices.Contains(s.gone, e.Name):
		return invalid("resource_missing", "No active meter found for event name "+e.Name, "event_name")
	case !strings.HasPrefix(e.Customer, "cus_") || slices.Contains(s.gone, e.Customer):
		return invalid("resource_missing", "No such customer: '"+e.Customer+"'", "payload[stripe_customer_id]")
	case err != nil || e.At.After(now.Add(meterEventFuture)):
		return invalid("timestamp_in_future", "The timestamp is in the future.", "timestamp")
	case e.At.Before(now.Add(-meterEventPast)):
		return invalid("timestamp_too_far_in_past", "The timestamp is too far in the past.", "timestamp")
	case e.Identifier == "" || len(e.Identifier) > maxMeterText:
		return invalid("parameter_invalid_string", "Invalid identifier.", "identifier")
	default:
		if e.Value, err = strconv.ParseInt(value, 10, 64); err != nil || e.Value <= 0 {
			return invalid("meter_event_invalid_value", "Invalid value "+value, "payload[value]")
		}
	}
	for _, before := range s.usage {
		if before.Identifier == e.Identifier && now.Before(before.TakenAt.Add(identifierLife)) {
			return invalid("", "An event already exists with identifier "+e.Identifier+".", "")
		}
	}
	s.usage = append(s.usage, e)
	return map[string]any{
		"object": "billing.meter_event", "created": now.Unix(), "event_name": e.Name, "identifier": e.Identifier, "livemode": false,
		"payload":   map[string]any{"stripe_customer_id": e.Customer, "value": form.Get("payload[value]")},
		"timestamp": seconds,
	}, nil
}
