package webhooks

import (
	"context"
	"net/url"
	"strconv"

	"parlance.dev/parlance/platform/telemetry"
)

// startAttempt begins the attempt's span and log scope. The span belongs to the trace of the event;
// the task, which may send many events, is linked.
func startAttempt(ctx context.Context, endpoint Endpoint, c claimed) (context.Context, *telemetry.Span) {
	task := telemetry.OriginOf(ctx)
	ctx = telemetry.Origin{Traceparent: c.Traceparent, RequestID: c.RequestID}.Context(ctx)
	for key, id := range map[string]string{
		telemetry.KeyTenantID: string(endpoint.TenantID), telemetry.KeyWorkspaceID: string(endpoint.WorkspaceID),
		telemetry.KeyEndpointID: string(endpoint.ID), telemetry.KeyDeliveryID: string(c.AttemptID), telemetry.KeyEventID: c.EventID,
	} {
		telemetry.Note(ctx, key, id)
	}
	host := ""
	if target, err := url.Parse(endpoint.URL); err == nil { // its path and query may hold secrets
		host = target.Hostname()
	}
	return telemetry.StartLinked(ctx, telemetry.Client, "deliver "+string(c.EventType), []telemetry.Origin{task},
		telemetry.Text("http.request.method", "POST"), telemetry.Text("server.address", host), telemetry.Number("parlance.attempt", c.Attempt))
}

// endAttempt ends the span and writes the attempt's one log line. Without an answer the attempt was
// abandoned: nothing but the span says so.
func (s *Service) endAttempt(ctx context.Context, span *telemetry.Span, o outcome, answered bool) {
	defer span.End(nil)
	if !answered {
		span.Fail("abandoned")
		return
	}
	s.durations.WithLabelValues(string(o.status())).Observe(o.Duration.Seconds())
	if o.StatusCode != 0 {
		span.Set(telemetry.Number("http.response.status_code", o.StatusCode))
	}
	if o.status() == AttemptSucceeded {
		s.log.DebugContext(ctx, "webhook delivered",
			telemetry.KeyAttempt, o.Attempt, telemetry.KeyStatus, o.StatusCode, telemetry.KeyDurationMS, o.Duration.Milliseconds())
		return
	}
	code := "unanswered"
	if o.StatusCode != 0 {
		code = strconv.Itoa(o.StatusCode)
	}
	span.Fail(code)
	s.log.InfoContext(ctx, "webhook attempt failed", telemetry.KeyAttempt, o.Attempt, telemetry.KeyStatus, o.StatusCode,
		telemetry.KeyReason, code, telemetry.KeyDurationMS, o.Duration.Milliseconds(), "again", o.Delivery == deliveryPending)
}
