package tools

import (
	"errors"
	"fmt"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/tools/openapi"
	"parlance.dev/parlance/tools/schema"
)

// Proposals checks tools that are made of a document as Create does, without asking for the
// addresses of host names. Not safe for concurrent use.
type Proposals struct{ checker checker }

// NewProposals makes a check. Its schemas are its own: those of a document would drive out those
// that are in use.
func NewProposals(guard *publicnet.Guard) Proposals {
	return Proposals{checker{guard: guard, schemas: &schema.Cache{}}}
}

// NewProposalsAnywhere makes a check for callers who do not know which addresses the installation
// may reach: it refuses none for not being public.
func NewProposalsAnywhere() (Proposals, error) {
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"0.0.0.0/0", "::/0"}})
	if err != nil {
		return Proposals{}, fmt.Errorf("make a guard that permits every address: %w", err)
	}
	return NewProposals(guard), nil
}

// Refuse takes the tool from an operation if Create would refuse it, and sets the reason. stored is
// the tool that is there already; nil for a new one.
func (p Proposals) Refuse(o *openapi.Operation, stored *openapi.Existing) {
	if o.Tool == nil {
		return
	}
	if why := p.refusal(*o.Tool, stored); why != "" {
		o.Tool, o.Notes, o.Why = nil, nil, why
	}
}

func (p Proposals) refusal(made openapi.Tool, stored *openapi.Existing) string {
	if isReserved(made.Slug) {
		return fmt.Sprintf("%q is, or looks like, the name of a built-in or system tool", made.Slug)
	}
	tool := Tool{Slug: made.Slug, Description: made.Description, Kind: KindHTTP, Config: Config{
		InputSchema: jsonvalue.Raw(jsonvalue.Compact(made.InputSchema)), WebhookURL: made.URL, Method: made.Method,
		PathParams: made.PathParams, QueryParams: made.QueryParams, Headers: made.Headers,
		HardcodedQueryParams: made.HardcodedQueryParams, AllowDynamicVars: made.DynamicVariables,
	}}
	var before Config
	if stored != nil {
		before.WebhookURL = stored.URL
	}
	err := p.checker.check(tool.withDefaults(), secrets{}, before)
	if err == nil {
		return ""
	}
	decided, ok := errors.AsType[*fault.Error](err)
	if !ok || len(decided.Fields) == 0 {
		return err.Error()
	}
	var sentences []string
	for _, field := range decided.Fields {
		sentences = append(sentences, field.Message)
	}
	return strings.TrimSuffix(strings.Join(sentences[:min(len(sentences), 3)], " "), ".")
}
