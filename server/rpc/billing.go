package rpc

import (
	"context"
	"errors"
	"io"
	"net/http"

	"parlance.dev/parlance/billing"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/provider/payment/stripe"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/workspaces"
)

// maxStripeEventBytes bounds an event of Stripe: the largest have some hundred lines of an invoice.
const maxStripeEventBytes = 1 << 20

type billingServer struct {
	billing *billing.Service
}

// NewBilling serves BillingService.
func NewBilling(service *billing.Service) parlancev1connect.BillingServiceHandler {
	return &billingServer{billing: service}
}

func (s *billingServer) GetBilling(ctx context.Context, _ *parlancev1.GetBillingRequest) (*parlancev1.Billing, error) {
	overview, err := s.billing.Overview(ctx, workspaces.PrincipalFrom(ctx))
	return billingProto(overview), err
}

func (s *billingServer) CreateCheckout(ctx context.Context, req *parlancev1.CreateCheckoutRequest) (*parlancev1.Checkout, error) {
	page, err := s.billing.CreateCheckout(ctx, workspaces.PrincipalFrom(ctx).TenantID, billing.CheckoutParams{
		Plan: req.GetPlan(), SuccessURL: req.GetSuccessUrl(), CancelURL: req.GetCancelUrl(),
	})
	return &parlancev1.Checkout{Url: page.URL, ExpiresAt: timestamp(page.ExpiresAt)}, err
}

func (s *billingServer) CreatePortal(ctx context.Context, req *parlancev1.CreatePortalRequest) (*parlancev1.Portal, error) {
	page, err := s.billing.CreatePortal(ctx, workspaces.PrincipalFrom(ctx).TenantID, req.GetReturnUrl())
	return &parlancev1.Portal{Url: page.URL}, err
}

func billingProto(o billing.Overview) *parlancev1.Billing {
	converted := &parlancev1.Billing{
		Plan: o.Tenant.Plan, StripeCustomerId: o.Tenant.StripeCustomerID, StripeConfigured: o.StripeConfigured,
		UsageReportedAt: timestamp(o.UsageReportedAt), UsageProblem: o.UsageProblem,
	}
	if s := o.Subscription; s != nil {
		converted.GraceUntil, converted.PaymentFailedAt = timestamp(s.GraceUntil), timestamp(s.PaymentFailedAt)
		converted.Subscription = &parlancev1.Subscription{
			Id: s.ID, Status: string(s.Status), Plan: s.Plan, PriceId: s.PriceID,
			CurrentPeriodEnd: timestamp(s.CurrentPeriodEnd), CancelAtPeriodEnd: s.CancelAtPeriodEnd,
		}
	}
	return converted
}

// NewStripeWebhook takes the events of Stripe. It answers 200 when the event is stored, and
// anything else makes Stripe send it again.
func NewStripeWebhook(service *billing.Service, problems problem.Writer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := readEvent(w, r)
		if err == nil {
			err = service.Receive(r.Context(), r.Header.Get(stripe.SignatureHeader), body)
		}
		if err != nil {
			problems.Write(w, r, err)
			return
		}
		w.WriteHeader(http.StatusOK)
	})
}

func readEvent(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxStripeEventBytes))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, fault.New(fault.BodyTooLarge, "An event of Stripe may have %d bytes.", maxStripeEventBytes)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.InvalidRequest, "The body could not be read to its end.")
	}
	return body, nil
}
