package server

import (
	"maps"
	"net/http"
	"slices"

	"parlance.dev/parlance/platform/route"
	"parlance.dev/parlance/server/rest"
)

// stripeWebhook is the route that Stripe calls. It is no method of the contract and not in the
// OpenAPI document: only Stripe calls it.
const stripeWebhook = "POST /v1/billing/stripe/webhook"

// withStripeWebhook adds the route to the facade. The gate asks for no key, because no policy has
// the route: the handler checks the signature of the request.
func withStripeWebhook(c rest.Config, handler http.Handler) rest.Config {
	c.Routes = append(slices.Clone(c.Routes), route.Route{
		Method: http.MethodPost, Pattern: "/v1/billing/stripe/webhook", Procedure: stripeWebhook, Manual: true,
	})
	c.Manual = maps.Clone(c.Manual)
	if c.Manual == nil {
		c.Manual = map[string]http.Handler{}
	}
	c.Manual[stripeWebhook] = handler
	return c
}
