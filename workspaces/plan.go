package workspaces

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

const (
	kib = int64(1) << 10
	mib = kib << 10
	gib = mib << 10
)

// Plan is what a tenant may use.
type Plan struct {
	Name string `json:"-"`
	// KBStorageBytes bounds the bytes of sources in a workspace.
	KBStorageBytes int64 `json:"kb_storage_bytes"`
	// KBUploadBytes bounds the bytes of one uploaded file.
	KBUploadBytes int64 `json:"kb_upload_bytes"`
	// ConcurrentSessions bounds the sessions that are pending or in progress. 0 means unlimited.
	ConcurrentSessions int  `json:"concurrent_sessions"`
	Tools              bool `json:"tools"`
	MCP                bool `json:"mcp"`
	// Monthly bounds what a month may have of meters, by the names of package usage: sessions, turns,
	// tokens, tool_calls, deliveries, voice_minutes, pstn_minutes. A missing meter is unlimited.
	Monthly map[string]int64 `json:"monthly"`
	// RatesPerMinute is how many requests a key may make in a minute by bucket (read, write, session,
	// upload), with a burst of twice that. A missing bucket is unlimited.
	RatesPerMinute map[string]int `json:"rates_per_minute"`
	// StripePriceIDs are the prices at Stripe that buy the plan. A checkout offers the first.
	StripePriceIDs []string `json:"stripe_price_ids"`
}

// Plans are the plans of the installation by name.
type Plans map[string]Plan

// DefaultPlans are the built-in plans. Source: decisions, Knowledge base and Addressing.
func DefaultPlans() Plans {
	return Plans{
		"free": {
			Name: "free", KBStorageBytes: 50 * mib, KBUploadBytes: 10 * mib, ConcurrentSessions: 5, Tools: true,
			RatesPerMinute: map[string]int{"read": 600, "write": 120, "session": 60, "upload": 30},
		},
		"pro": {
			Name: "pro", KBStorageBytes: 5 * gib, KBUploadBytes: 100 * mib, ConcurrentSessions: 100, Tools: true, MCP: true,
			RatesPerMinute: map[string]int{"read": 6000, "write": 1200, "session": 600, "upload": 300},
		},
		"enterprise": {
			Name: "enterprise", KBStorageBytes: 100 * gib, KBUploadBytes: gib, Tools: true, MCP: true,
		},
	}
}

// ParsePlans reads PARLANCE_PLANS_FILE: a JSON object of plan names and plans. It replaces the
// built-in plans.
func ParsePlans(text []byte) (Plans, error) {
	var plans Plans
	if err := json.Unmarshal(text, &plans); err != nil {
		return nil, fmt.Errorf("PARLANCE_PLANS_FILE: %w", err)
	}
	if len(plans) == 0 {
		return nil, errors.New("PARLANCE_PLANS_FILE: the file names no plan")
	}
	for name, plan := range plans {
		if plan.KBStorageBytes <= 0 || plan.KBUploadBytes <= 0 || plan.ConcurrentSessions < 0 {
			return nil, fmt.Errorf("PARLANCE_PLANS_FILE: plan %q needs kb_storage_bytes and kb_upload_bytes above 0 "+
				"and concurrent_sessions of at least 0", name)
		}
		for meter, quota := range plan.Monthly {
			if quota < 1 {
				return nil, fmt.Errorf("PARLANCE_PLANS_FILE: plan %q: the monthly quota of %q must be above 0; "+
					"leave it out for no limit", name, meter)
			}
		}
		plan.Name = name
		plans[name] = plan
	}
	return plans, plans.checkPrices()
}

// checkPrices refuses a price that buys more than one plan.
func (p Plans) checkPrices() error {
	owners := map[string]string{}
	for _, name := range p.Names() {
		for _, price := range p[name].StripePriceIDs {
			if owner, taken := owners[price]; taken || price == "" {
				return fmt.Errorf("PARLANCE_PLANS_FILE: stripe_price_ids of plan %q has the price %q, which is empty or also in plan %q",
					name, price, owner)
			}
			owners[price] = name
		}
	}
	return nil
}

// WithPrice returns the name of the plan that a price buys; empty: none.
func (p Plans) WithPrice(priceID string) string {
	for name, plan := range p {
		if slices.Contains(plan.StripePriceIDs, priceID) {
			return name
		}
	}
	return ""
}

// Names lists the plans in alphabetical order.
func (p Plans) Names() []string { return slices.Sorted(maps.Keys(p)) }
