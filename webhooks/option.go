package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/workspaces"
)

// Bounds of an endpoint's options.
const (
	maxHeaders          = 20
	maxHeaderNameChars  = 100
	maxHeaderValueBytes = 4096
	maxAgents           = 100
	// maxPerSecond is more than one process sends to one endpoint.
	maxPerSecond = 1000
	maxInFlight  = 100
)

// managedHeaders are set by the service or by the connection; a customer cannot set them.
var managedHeaders = []string{
	"Accept-Encoding", "Baggage", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Date", "Expect",
	"Host", "Http2-Settings", "Keep-Alive", "Te", "Trailer", "Traceparent", "Tracestate", "Transfer-Encoding", "Upgrade", "User-Agent",
}

// managedPrefixes are the prefixes of further headers that a customer cannot set.
var managedPrefixes = []string{"Proxy-", "Webhook-", "X-Parlance-"}

// parseHeaders refuses headers that cannot be sent and returns the others by their canonical names.
// No error shows a value.
func parseHeaders(given map[string]string) (map[string]string, error) {
	if len(given) > maxHeaders {
		return nil, fault.InvalidField("headers", "max_pairs", "headers can have at most %d members.", maxHeaders)
	}
	headers := make(map[string]string, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given[name]
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		_, twice := headers[canonical]
		switch {
		case !httpguts.ValidHeaderFieldName(name) || len(name) > maxHeaderNameChars:
			return nil, fault.InvalidField("headers", "header_name",
				"%s is not the name of a header of at most %d characters.", quoted(name), maxHeaderNameChars)
		case twice:
			return nil, fault.InvalidField("headers", "duplicate", "%s is twice in headers; upper and lower case make no difference.", canonical)
		case managed(canonical):
			return nil, fault.InvalidField("headers", "not_allowed", "%s is set by the service; choose another name.", canonical)
		case !httpguts.ValidHeaderFieldValue(value) || len(value) > maxHeaderValueBytes:
			return nil, fault.InvalidField("headers", "header_value",
				"The value of %s must be one line of at most %d bytes, without control characters.", canonical, maxHeaderValueBytes)
		}
		headers[canonical] = value
	}
	return headers, nil
}

func managed(canonical string) bool {
	return slices.Contains(managedHeaders, canonical) ||
		slices.ContainsFunc(managedPrefixes, func(prefix string) bool { return strings.HasPrefix(canonical, prefix) })
}

// quoted quotes the beginning of a caller's name for an error.
func quoted(name string) string {
	const shown = 40
	return strconv.Quote(name[:min(len(name), shown)])
}

// headersPlace binds sealed headers to their endpoint.
func headersPlace(e Endpoint) seal.Binding {
	return seal.Binding{TenantID: string(e.TenantID), Record: string(e.ID), Field: "headers"}
}

// sealHeaders returns the names of headers and their sealed values; nil when there are none.
func sealHeaders(
	ctx context.Context, keyring *seal.Keyring, e Endpoint, headers map[string]string,
) (names []string, sealed []byte, err error) {
	names = slices.AppendSeq(make([]string, 0, len(headers)), maps.Keys(headers))
	slices.Sort(names)
	if len(names) == 0 {
		return names, nil, nil
	}
	plain, err := json.Marshal(headers)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the headers of %s: %w", e.ID, err)
	}
	sealed, err = keyring.Seal(ctx, plain, headersPlace(e))
	return names, sealed, err
}

// openHeaders reverses sealHeaders.
func openHeaders(ctx context.Context, keyring *seal.Keyring, e Endpoint) (map[string]string, error) {
	headers := map[string]string{}
	if len(e.SealedHeaders) == 0 {
		return headers, nil
	}
	plain, err := keyring.Open(ctx, e.SealedHeaders, headersPlace(e))
	if err != nil {
		return nil, fmt.Errorf("open the headers of %s: %w", e.ID, err)
	}
	if err := json.Unmarshal(plain, &headers); err != nil {
		return nil, fmt.Errorf("decode the headers of %s: %w", e.ID, err)
	}
	return headers, nil
}

// parseAgents drops duplicates and refuses ids that are not agents of the workspace.
func (s *Service) parseAgents(ctx context.Context, ref workspaces.Ref, given []string) ([]string, error) {
	if len(given) > maxAgents {
		return nil, fault.InvalidField("agent_ids", "max_items", "agent_ids can have at most %d members.", maxAgents)
	}
	ids := make([]string, 0, len(given))
	for _, id := range given {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 || s.unknownAgents == nil {
		return ids, nil
	}
	unknown, err := s.unknownAgents(ctx, ref, ids)
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 {
		field := "agent_ids[" + strconv.Itoa(slices.Index(given, unknown[0])) + "]"
		return nil, fault.OnField(fault.ResourceNotFound, field, "There is no agent %s in this workspace.", quoted(unknown[0]))
	}
	return ids, nil
}

func checkLimit(field string, value, most int) error {
	if value < 0 || value > most {
		return fault.InvalidField(field, "out_of_range", "%s must be from 1 to %d, or 0 for no limit.", field, most)
	}
	return nil
}

// checkOptions returns the changes of an endpoint's options, or refuses them. nil fields stay.
func (s *Service) checkOptions(ctx context.Context, ref workspaces.Ref, id EndpointID, p UpdateParams) ([]func(*Endpoint), error) {
	var changes []func(*Endpoint)
	if p.AgentIDs != nil {
		ids, err := s.parseAgents(ctx, ref, *p.AgentIDs)
		if err != nil {
			return nil, err
		}
		changes = append(changes, func(e *Endpoint) { e.AgentIDs = ids })
	}
	if p.Headers != nil {
		headers, err := parseHeaders(*p.Headers)
		if err != nil {
			return nil, err
		}
		names, sealed, err := sealHeaders(ctx, s.keyring, Endpoint{TenantID: ref.TenantID, ID: id}, headers)
		if err != nil {
			return nil, err
		}
		changes = append(changes, func(e *Endpoint) { e.HeaderNames, e.SealedHeaders = names, sealed })
	}
	if p.Ordered != nil {
		changes = append(changes, func(e *Endpoint) { e.Ordered = *p.Ordered })
	}
	if p.MaxPerSecond != nil {
		if err := checkLimit("max_per_second", *p.MaxPerSecond, maxPerSecond); err != nil {
			return nil, err
		}
		changes = append(changes, func(e *Endpoint) { e.MaxPerSecond = *p.MaxPerSecond })
	}
	if p.MaxInFlight != nil {
		if err := checkLimit("max_in_flight", *p.MaxInFlight, maxInFlight); err != nil {
			return nil, err
		}
		changes = append(changes, func(e *Endpoint) { e.MaxInFlight = *p.MaxInFlight })
	}
	return changes, nil
}
