package billing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/payment/stripe"
	"parlance.dev/parlance/workspaces"
)

const (
	// meterEventsAtOnce bounds the events that one run of ReportUsage sends.
	meterEventsAtOnce = 500
	// meterLease is how long an event is left to the worker that sends it. One attempt takes less.
	meterLease = 2 * time.Minute
	// The wait after an attempt that failed doubles from firstMeterWait to maxMeterWait. After a
	// refusal it is maxMeterWait.
	firstMeterWait = time.Minute
	maxMeterWait   = time.Hour
	// meterMargin is how long an event is given up before Stripe forgets its identifier, or before it
	// is too old.
	meterMargin = time.Hour
	// meterWriteTimeout bounds the writing of an outcome.
	meterWriteTimeout = 10 * time.Second
)

// meterEvent is usage that is to be reported: a stored event that Stripe has not taken yet.
type meterEvent struct {
	bun.BaseModel `bun:"table:billing_meter_events,alias:e"`

	TenantID   workspaces.TenantID `bun:"tenant_id,pk"`
	ID         string              `bun:"id,pk"`
	Meter      string              `bun:"meter"`
	Month      string              `bun:"month"`
	CustomerID string              `bun:"customer_id"`
	Name       string              `bun:"name"`
	Quantity   int64               `bun:"quantity"`
	At         time.Time           `bun:"at"`
	Attempts   int                 `bun:"attempts"`
	DueAt      time.Time           `bun:"due_at"`
	// UnknownSince is since when Stripe may have the event. Zero means that it has not.
	UnknownSince time.Time `bun:"unknown_since,nullzero"`
	Problem      string    `bun:"problem"`
}

// describe returns the usage in words: "120 tokens of 2026-11".
func (e meterEvent) describe() string {
	return fmt.Sprintf("%d %s of %s", e.Quantity, e.Meter, e.Month[:len("2006-01")])
}

// newMeterMetrics counts what becomes of meter events.
func newMeterMetrics(registry prometheus.Registerer) *prometheus.CounterVec {
	return promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "parlance_stripe_meter_events_total",
		Help: "Attempts to report usage to Stripe: taken, refused, not_taken, unknown; and events given_up.",
	}, []string{telemetry.KeyOutcome})
}

// ReportUsage makes meter events of what was used since the last ones, and sends those that are due
// to Stripe, one after the other. It stops at the first that Stripe does not answer. Without Meters
// it does nothing. Several nodes may run it at the same time. Errors: why it stopped.
func (s *Service) ReportUsage(ctx context.Context, now time.Time) error {
	if len(s.Meters) == 0 {
		return nil
	}
	var paused []string
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) (err error) {
		if paused, err = noteMeterRun(ctx, tx, s.meters(), now); err != nil {
			return err
		}
		return s.followMeters(ctx, tx, "", now)
	})
	if err != nil {
		return err
	}
	if len(paused) > 0 {
		s.Log.WarnContext(ctx, "usage was not reported for a week; reports begin anew", slog.Any("meters", paused))
	}
	due, err := selectDueMeterEvents(ctx, s.DB, s.meters(), now, meterEventsAtOnce)
	if err != nil {
		return err
	}
	for _, e := range due {
		if err := s.report(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// followMeters makes meter events of what was used since the last ones. What was used before the
// customer changed is reported for the former one, and what was used without a customer is not
// reported. An empty tenant means all tenants, but for those that another transaction changes.
func (s *Service) followMeters(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, now time.Time) error {
	if len(s.Meters) > 0 {
		if err := insertMeterMonths(ctx, tx, tenant, s.meters(), now); err != nil {
			return err
		}
	}
	return insertMeterEvents(ctx, tx, tenant, s.meters(), now)
}

// meters are the meters that are reported.
func (s *Service) meters() []string { return slices.Sorted(maps.Keys(s.Meters)) }

// report sends an event, unless another worker does. Errors: why nothing more can be sent now.
func (s *Service) report(ctx context.Context, e meterEvent) error {
	now := s.timestamp()
	switch {
	case !e.UnknownSince.IsZero() && now.Sub(e.UnknownSince) > stripe.IdentifierLife-meterMargin:
		return s.giveUp(ctx, e, "whether Stripe has it is not known, and it could be counted twice")
	case now.Sub(e.At) > stripe.MeterEventAge-meterMargin:
		return s.giveUp(ctx, e, "it is too old for Stripe")
	}
	claimed, ok, err := claimMeterEvent(ctx, s.DB, e, s.Meters[e.Meter], now)
	if err != nil || !ok {
		return err
	}
	outcome, err := s.Stripe.SendMeterEvent(ctx, stripe.MeterEvent{
		Name: claimed.Name, CustomerID: claimed.CustomerID, Quantity: claimed.Quantity, At: claimed.At,
		Identifier: claimed.ID, Attempt: claimed.Attempts,
	})
	s.meterEvents.WithLabelValues(string(outcome)).Inc()
	if outcome == stripe.MeterTaken {
		// A worker that is stopped just now still writes it down, so that nobody sends the event again.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), meterWriteTimeout)
		defer cancel()
		return finishMeterEvent(ctx, s.DB, claimed, now)
	}
	if ctx.Err() != nil {
		return errors.Join(err, ctx.Err()) // the event is sent again when its lease is over
	}
	return s.postpone(ctx, e, claimed, outcome, err)
}

// postpone writes down why Stripe has not taken an event, and when it is sent again. before is the
// event as it was before this attempt.
func (s *Service) postpone(ctx context.Context, before, e meterEvent, outcome stripe.MeterOutcome, cause error) error {
	e.DueAt = s.timestamp().Add(min(maxMeterWait, firstMeterWait<<min(e.Attempts-1, 6)))
	if outcome != stripe.MeterUnknown {
		e.UnknownSince = before.UnknownSince // Stripe has not taken this attempt
	}
	e.Problem = "Stripe has not taken " + e.describe() + ", which is tried again: " + fault.From(cause).Message
	if outcome == stripe.MeterRefused {
		e.DueAt = s.timestamp().Add(maxMeterWait)
		e.Problem = "Stripe refuses " + e.describe() + " for the customer " + e.CustomerID + ", which is tried again each hour: " +
			fault.From(cause).Message
	}
	if err := postponeMeterEvent(ctx, s.DB, e); err != nil {
		return err
	}
	if outcome != stripe.MeterRefused {
		return fmt.Errorf("report usage to Stripe: %w", cause)
	}
	if e.Problem != before.Problem {
		s.Log.WarnContext(ctx, "Stripe refuses usage", e.attributes(telemetry.KeyError, cause.Error())...)
	}
	return nil
}

// giveUp deletes an event that must not be sent any more, and logs it for a person to look at.
func (s *Service) giveUp(ctx context.Context, e meterEvent, why string) error {
	gone, err := giveUpMeterEvent(ctx, s.DB, e)
	if err == nil && gone {
		s.meterEvents.WithLabelValues("given_up").Inc()
		s.Log.ErrorContext(ctx, "usage is not reported to Stripe any more", e.attributes(telemetry.KeyReason, why)...)
	}
	return err
}

// attributes are those of a log record about the event, after one of the caller's.
func (e meterEvent) attributes(key, value string) []any {
	return []any{
		slog.String(key, value), slog.String(telemetry.KeyTenantID, string(e.TenantID)), slog.String("usage", e.describe()),
		slog.String("stripe_customer_id", e.CustomerID), slog.String("stripe_identifier", e.ID), slog.Time("usage_at", e.At),
	}
}
