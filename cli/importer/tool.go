package importer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/importer/exports"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// readCatalog lists the custom tools of the workspace.
func (m *maker) readCatalog(ctx context.Context) error {
	list, err := command.All(func(token string) ([]*parlancev1.Tool, string, error) {
		page, err := m.tools.ListTools(ctx, &parlancev1.ListToolsRequest{
			WorkspaceId: m.WorkspaceID, PageSize: client.PageSize, PageToken: token,
		})
		if err != nil {
			return nil, "", m.Explain("list the tools", err)
		}
		return page.GetTools(), page.GetNextPageToken(), nil
	})
	m.catalog = map[string]*parlancev1.Tool{}
	for _, tool := range list {
		if tool.GetBucket() == "custom" {
			m.catalog[strings.ToLower(tool.GetSlug())] = tool
		}
	}
	return err
}

// tool makes a tool, or gives one that is there the secrets of --secret.
func (m *maker) tool(ctx context.Context, at int) result {
	tool, have := m.plan.Tools[at], m.have[at]
	switch {
	case have != nil:
		return m.there(ctx, tool, have)
	case m.isLeftAlone(func(agent *exports.Agent) bool { return slices.Contains(agent.Tools, tool) }):
		return result{outcome: failed, why: leftAlone}
	}
	return m.create(ctx, tool)
}

// create makes a tool.
func (m *maker) create(ctx context.Context, tool *exports.Tool) result {
	tool.Want.WorkspaceId = m.WorkspaceID
	created, err := m.tools.CreateTool(ctx, tool.Want)
	if err != nil {
		why := m.Reason(err)
		if strings.Contains(why, "slug") {
			why += " --prefix gives it another name."
		}
		return result{outcome: failed, why: why}
	}
	return result{outcome: made, id: created.GetId(), secretHeaders: slices.Sorted(maps.Keys(tool.Want.GetSecretHeaders()))}
}

// there keeps a tool that is there, and gives it the secrets of --secret. One with another
// definition was changed here, and is left alone else.
func (m *maker) there(ctx context.Context, tool *exports.Tool, have *parlancev1.Tool) result {
	tool.Secrets = slices.DeleteFunc(tool.Secrets, func(name string) bool {
		return name == "Authorization" && have.GetAuthHeaderSet() || slices.Contains(have.GetSecretHeaderNames(), name)
	})
	given := m.given[tool]
	done := result{outcome: there, id: have.GetId(), secretHeaders: have.GetSecretHeaderNames()}
	if different := toolDifference(have, tool, given); different != "" {
		done.outcome, done.why = differs, different+", so it is left alone; --prefix gives the new ones other names"
	}
	if len(given) > 0 {
		return m.setSecrets(ctx, have, given, done)
	}
	if (tool.Want.GetAuthHeader() != "" || len(tool.Want.GetSecretHeaders()) > 0) && !m.isAttached(tool, have) {
		tool.Notes = append(tool.Notes, "was there already, and its secrets cannot be compared with those of the export. "+
			"If they are others, make a tool of its own with --prefix")
	}
	return done
}

// toolDifference says in which field a tool is another one than that of the export. given are the
// secrets of --secret. Values of secrets cannot be compared.
func toolDifference(have *parlancev1.Tool, tool *exports.Tool, given map[string]string) string {
	want := tool.Want
	defaults := map[string]int32{"http": 20, "mcp": 30}
	differences := []struct {
		what string
		is   bool
	}{
		{"kind", have.GetKind() != want.GetKind()},
		{"address", have.GetWebhookUrl() != want.GetWebhookUrl() || have.GetMcpServerUrl() != want.GetMcpServerUrl()},
		{"method", want.GetKind() == "http" && have.GetMethod() != cmp.Or(want.GetMethod(), "POST")},
		{"description", have.GetDescription() != want.GetDescription()},
		{"schema of arguments", !sameJSON(have.GetInputSchemaJson(), cmp.Or(want.GetInputSchemaJson(), `{"type":"object"}`))},
		{"list of arguments in the path", !slices.Equal(have.GetPathParams(), want.GetPathParams())},
		{"list of arguments in the query", !slices.Equal(have.GetQueryParams(), want.GetQueryParams())},
		{"set of fixed values", !maps.Equal(have.GetHardcodedQueryParams(), want.GetHardcodedQueryParams()) ||
			!sameJSON(cmp.Or(have.GetHardcodedBodyParamsJson(), "{}"), cmp.Or(want.GetHardcodedBodyParamsJson(), "{}"))},
		{"set of headers", !sameHeaders(have.GetHeaders(), want.GetHeaders(), given) || !sameSecrets(have, tool, given)},
		{"use of variables", have.GetAllowDynamicVars() != want.GetAllowDynamicVars()},
		{"time-out", have.GetTimeoutSeconds() != cmp.Or(want.GetTimeoutSeconds(), defaults[want.GetKind()])},
		{"list of values that are kept of an answer", !slices.EqualFunc(have.GetAssignments(), want.GetAssignments(), sameMessage)},
		{"rule for approvals", want.GetKind() == "mcp" && (have.GetApproval() != cmp.Or(want.GetApproval(), "never") ||
			!slices.Equal(have.GetApprovalTools(), want.GetApprovalTools()))},
		{"list of tools that may be used", !slices.Equal(have.GetAllowedTools(), want.GetAllowedTools())},
		{"rule for repeated calls", have.GetRetry().GetMaxAttempts() != want.GetRetry().GetMaxAttempts()},
	}
	for _, one := range differences {
		if one.is {
			return "its " + one.what + " is not that of the export"
		}
	}
	return ""
}

func sameMessage(have, want *parlancev1.ToolAssignment) bool { return proto.Equal(have, want) }

// sameHeaders compares headers. One that --secret gives is a secret header.
func sameHeaders(have, want, given map[string]string) bool {
	rest := func(headers map[string]string) map[string]string {
		headers = maps.Clone(headers)
		maps.DeleteFunc(headers, func(name, _ string) bool { _, ok := given[name]; return ok })
		return headers
	}
	return maps.Equal(rest(have), rest(want))
}

// sameSecrets compares which secrets two tools have. Those of --secret may be new.
func sameSecrets(have *parlancev1.Tool, tool *exports.Tool, given map[string]string) bool {
	if tool.Want.GetAuthHeader() != "" && given["Authorization"] == "" && !have.GetAuthHeaderSet() {
		return false
	}
	for name := range tool.Want.GetSecretHeaders() {
		if _, ok := given[name]; !ok && !slices.Contains(have.GetSecretHeaderNames(), name) {
			return false
		}
	}
	return true
}

// sameJSON compares JSON values with every digit of their numbers.
func sameJSON(one, other string) bool {
	decode := func(text string) (value any) {
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		decoder.UseNumber()
		if decoder.Decode(&value) != nil {
			return nil
		}
		return value
	}
	return reflect.DeepEqual(decode(one), decode(other))
}

// setSecrets sets the headers of --secret of a tool that is there, and nothing else. Secret headers
// are replaced as a whole, so the others must be given too: their values may have changed since.
func (m *maker) setSecrets(ctx context.Context, have *parlancev1.Tool, given map[string]string, done result) result {
	req := &parlancev1.UpdateToolRequest{WorkspaceId: m.WorkspaceID, ToolId: have.GetId(), UpdateMask: &fieldmaskpb.FieldMask{}}
	headers := maps.Clone(given)
	if auth, ok := headers["Authorization"]; ok {
		req.AuthHeader = &auth
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "auth_header")
		delete(headers, "Authorization")
	}
	if len(headers) > 0 {
		for _, name := range have.GetSecretHeaderNames() {
			if _, ok := headers[name]; !ok {
				done.outcome, done.why = failed, "its secret headers are replaced together: give "+name+" with --secret too"
				return done
			}
		}
		req.SecretHeaders, req.Headers = headers, maps.Clone(have.GetHeaders())
		maps.DeleteFunc(req.GetHeaders(), func(name, _ string) bool { _, ok := headers[name]; return ok })
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "secret_headers", "headers")
	}
	switch _, err := m.tools.UpdateTool(ctx, req); {
	case err != nil:
		done.outcome, done.why = failed, m.Reason(err)
	case done.outcome == there:
		done.outcome = updated
	default:
		done.why += ". Its secrets are set"
	}
	return done
}
