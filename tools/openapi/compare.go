package openapi

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/platform/stablejson"
)

// Existing is a custom tool that a workspace has.
type Existing struct {
	ID, Slug, Kind                string
	Description, URL, Method      string
	PathParams, QueryParams       []string
	Headers, HardcodedQueryParams map[string]string
	// InputSchema is JSON with every digit.
	InputSchema      json.RawMessage
	DynamicVariables bool
}

// Compare finds the tool that has the name of the operation's tool. found is nil when there is
// none; changed are the fields in which it differs, by their names in the API. An operation whose
// name a tool of another kind has can be no tool: Tool becomes nil, and Why says so.
func (o *Operation) Compare(there []Existing, hints Hints) (found *Existing, changed []string) {
	if o.Tool == nil {
		return nil, nil
	}
	at := slices.IndexFunc(there, func(tool Existing) bool { return strings.EqualFold(tool.Slug, o.Tool.Slug) })
	if at < 0 {
		return nil, nil
	}
	if there[at].Kind != "http" {
		o.Tool, o.Why = nil, "a tool of kind "+there[at].Kind+" has the name"
		if hints.Prefix != "" {
			o.Why += "; give " + hints.Prefix
		}
		return nil, nil
	}
	return &there[at], o.Tool.differences(there[at])
}

// differences returns the fields in which a tool differs from what it should be.
func (t Tool) differences(have Existing) []string {
	var changed []string
	for _, field := range []struct {
		name string
		same bool
	}{
		{"description", have.Description == t.Description},
		{"input_schema", sameSchema(have.InputSchema, t.InputSchema)},
		{"webhook_url", have.URL == t.URL},
		{"method", have.Method == t.Method},
		{"path_params", slices.Equal(have.PathParams, t.PathParams)},
		{"query_params", slices.Equal(have.QueryParams, t.QueryParams)},
		{"hardcoded_query_params", maps.Equal(have.HardcodedQueryParams, t.HardcodedQueryParams)},
		{"headers", maps.Equal(have.Headers, t.Headers)},
		{"allow_dynamic_vars", have.DynamicVariables == t.DynamicVariables},
	} {
		if !field.same {
			changed = append(changed, field.name)
		}
	}
	return changed
}

// sameSchema compares schemas, and every digit of numbers that a float64 does not hold.
func sameSchema(have json.RawMessage, want map[string]any) bool {
	wanted := jsonvalue.Raw(jsonvalue.Compact(want))
	var one, other any
	if json.Unmarshal(have, &one) != nil || json.Unmarshal(wanted, &other) != nil || !reflect.DeepEqual(one, other) {
		return false
	}
	digits := func(raw json.RawMessage) string { return jsonvalue.Compact(jsonvalue.Decode(raw)) }
	return !stablejson.HasLongNumber(wanted) || digits(have) == digits(wanted)
}
