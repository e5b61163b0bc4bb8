package workspaces

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/jsonvalue"
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
	// Private says that the plan is not named to tenants of other plans.
	Private bool `json:"private"`
	// Monthly bounds what a month may have of meters; see MonthlyMeters. A missing meter is unlimited.
	Monthly map[string]int64 `json:"monthly"`
	// RatesPerMinute is how many requests a key may make in a minute by bucket, with a burst of twice
	// that; see RateBuckets. A missing bucket is unlimited.
	RatesPerMinute map[string]int `json:"rates_per_minute"`
	// Models are those that may answer, as provider/name or provider/* for all of a provider. Empty:
	// every model.
	Models []string `json:"models"`
	// TranscriptDays is how many days a session is kept at most after its end, whatever its workspace
	// and its agent say. 0: as they say.
	TranscriptDays int `json:"transcript_days"`
	// AudioDays is the same of recordings.
	AudioDays int `json:"audio_days"`
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

// MonthlyMeters are the meters of package usage that Monthly may name, RateBuckets the names of
// RatesPerMinute.
var (
	MonthlyMeters = []string{
		"sessions", "turns", "tokens", "tool_calls", "deliveries", "voice_minutes", "pstn_minutes", "speech_seconds", "speech_characters",
	}
	RateBuckets = []string{"read", "write", "session", "upload"}
)

var (
	planName     = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)
	modelPattern = regexp.MustCompile(`^[a-z0-9_-]{1,64}/(\*|[^*\s]{1,200})$`)
)

// ParsePlans reads a JSON object of plan names and plans.
func ParsePlans(text []byte) (Plans, error) {
	var definitions map[string]json.RawMessage
	if err := json.Unmarshal(text, &definitions); err != nil {
		return nil, fmt.Errorf("it must be a JSON object of plans by name: %w", err)
	}
	if len(definitions) == 0 {
		return nil, errors.New("the file names no plan")
	}
	plans := Plans{}
	for name, definition := range definitions {
		plan, err := ParsePlan(name, definition)
		if err != nil {
			return nil, err
		}
		plans[name] = plan
	}
	return plans, plans.checkPrices()
}

// ParsePlan reads the JSON object of a plan.
func ParsePlan(name string, definition []byte) (Plan, error) {
	plan := Plan{Name: name}
	if !planName.MatchString(name) {
		return Plan{}, fmt.Errorf("plan %q: a name has 1 to 63 small letters, digits, _ and -", name)
	}
	if err := jsonvalue.DecodeStrict(definition, &plan); err != nil {
		return Plan{}, fmt.Errorf("plan %q must be a JSON object of the members of a plan: %w", name, err)
	}
	if err := plan.check(); err != nil {
		return Plan{}, fmt.Errorf("plan %q: %w", name, err)
	}
	return plan, nil
}

// check refuses what would limit nothing, or everything.
func (p Plan) check() error {
	if p.KBStorageBytes <= 0 || p.KBUploadBytes <= 0 || p.ConcurrentSessions < 0 || p.TranscriptDays < 0 || p.AudioDays < 0 {
		return errors.New("kb_storage_bytes and kb_upload_bytes must be above 0, and concurrent_sessions, transcript_days and audio_days " +
			"at least 0")
	}
	for meter, quota := range p.Monthly {
		if !slices.Contains(MonthlyMeters, meter) {
			return fmt.Errorf("monthly: there is no quota of %q, but of %s", meter, strings.Join(MonthlyMeters, ", "))
		}
		if quota < 1 {
			return fmt.Errorf("the monthly quota of %q must be above 0; leave it out for no limit", meter)
		}
	}
	for bucket, rate := range p.RatesPerMinute {
		if !slices.Contains(RateBuckets, bucket) {
			return fmt.Errorf("rates_per_minute: there are no rates of %q, but of %s", bucket, strings.Join(RateBuckets, ", "))
		}
		if rate < 1 {
			return fmt.Errorf("rates_per_minute: the rate of %q must be above 0; leave it out for no limit", bucket)
		}
	}
	for _, model := range p.Models {
		if !modelPattern.MatchString(model) {
			return fmt.Errorf(`models: %q must be provider/name, or provider/* for all models of a provider`, model)
		}
	}
	return nil
}

// AllowsModel reports whether a model of a provider may answer.
func (p Plan) AllowsModel(provider, name string) bool {
	return len(p.Models) == 0 || slices.Contains(p.Models, provider+"/"+name) || slices.Contains(p.Models, provider+"/*")
}

// checkPrices refuses a price that buys more than one plan.
func (p Plans) checkPrices() error {
	owners := map[string]string{}
	for _, name := range p.Names() {
		for _, price := range p[name].StripePriceIDs {
			if owner, taken := owners[price]; taken || price == "" {
				return fmt.Errorf("stripe_price_ids of plan %q has the price %q, which is empty or also in plan %q",
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
