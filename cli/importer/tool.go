package importer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
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

// maxSlugChars is the length of the longest name of a tool.
const maxSlugChars = 64

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

// tool makes a tool, or gives one that is there the secrets of --secret. A tool of the same name is
// the tool of the export when it has the same definition, or when the agent of the export uses it:
// then it was changed since, and is left alone. Another tool keeps its name, and the new one gets a
// number.
func (m *maker) tool(ctx context.Context, tool *exports.Tool) result {
	if have := m.renamed(tool); have != nil {
		tool.Want.Slug = have.GetSlug()
		return m.there(ctx, tool, have)
	}
	wanted := tool.Want.GetSlug()
	for i := 1; ; i++ {
		if i > 1 {
			number := fmt.Sprintf("_%d", i)
			tool.Want.Slug = wanted[:min(len(wanted), maxSlugChars-len(number))] + number
			if m.isPlanned(tool) {
				continue
			}
		}
		have, ok := m.catalog[strings.ToLower(tool.Want.GetSlug())]
		if !ok {
			return m.create(ctx, tool, wanted)
		}
		different := toolDifference(have, tool, m.secrets[strings.ToLower(tool.Name)])
		switch {
		case different != "" && m.isUsed(tool, have):
			return result{outcome: differs, id: have.GetId(), why: different + ", so it is left alone; --prefix gives the new ones other names"}
		case different == "":
			return m.there(ctx, tool, have)
		}
	}
}

// create makes a tool. wanted is the name that it has in the export.
func (m *maker) create(ctx context.Context, tool *exports.Tool, wanted string) result {
	if tool.Want.GetSlug() != wanted {
		tool.Notes = append(tool.Notes, "has another name, because the workspace has another tool "+wanted+
			": use the new one in instructions")
	}
	tool.Want.WorkspaceId = m.WorkspaceID
	created, err := m.tools.CreateTool(ctx, tool.Want)
	if err != nil {
		why := m.Reason(err)
		if strings.Contains(why, "slug") {
			why += " --prefix gives it another name."
		}
		return result{outcome: failed, why: why}
	}
	m.catalog[strings.ToLower(created.GetSlug())] = created
	return result{outcome: made, id: created.GetId()}
}

// there keeps a tool that is there, and gives it the secrets of --secret.
func (m *maker) there(ctx context.Context, tool *exports.Tool, have *parlancev1.Tool) result {
	tool.Secrets = slices.DeleteFunc(tool.Secrets, func(name string) bool {
		return name == "Authorization" && have.GetAuthHeaderSet() || slices.Contains(have.GetSecretHeaderNames(), name)
	})
	given := m.secrets[strings.ToLower(tool.Name)]
	if len(given) > 0 {
		return m.setSecrets(ctx, tool, have, given)
	}
	if (tool.Want.GetAuthHeader() != "" || len(tool.Want.GetSecretHeaders()) > 0) && !m.isUsed(tool, have) {
		tool.Notes = append(tool.Notes, "was there already, and its secrets cannot be compared with those of the export. "+
			"If they are others, make a tool of its own with --prefix")
	}
	return result{outcome: there, id: have.GetId()}
}

// isPlanned says whether another tool of the export has the name.
func (m *maker) isPlanned(tool *exports.Tool) bool {
	return slices.ContainsFunc(m.plan.Tools, func(other *exports.Tool) bool {
		return other != tool && strings.EqualFold(other.Name, tool.Want.GetSlug())
	})
}

// isUsed says whether an agent of the export, which is there already, uses a tool.
func (m *maker) isUsed(tool *exports.Tool, have *parlancev1.Tool) bool {
	for i, agent := range m.plan.Agents {
		if slices.Contains(agent.Tools, tool) && m.known[i].tools[have.GetId()] {
			return true
		}
	}
	return false
}

// renamed finds the tool that an import with another --prefix made for an agent of the export; nil
// when there is none.
func (m *maker) renamed(tool *exports.Tool) *parlancev1.Tool {
	if m.catalog[strings.ToLower(tool.Want.GetSlug())] != nil {
		return nil
	}
	base := strings.ToLower(tool.Want.GetSlug())
	if m.prefix != "" {
		base = strings.TrimPrefix(base, strings.ToLower(m.prefix)+"_")
	}
	for _, slug := range slices.Sorted(maps.Keys(m.catalog)) {
		have := m.catalog[slug]
		if (slug == base || strings.HasSuffix(slug, "_"+base)) && m.isUsed(tool, have) &&
			!slices.ContainsFunc(m.plan.Tools, func(other *exports.Tool) bool { return strings.EqualFold(other.Name, slug) }) &&
			toolDifference(have, tool, m.secrets[strings.ToLower(tool.Name)]) == "" {
			return have
		}
	}
	return nil
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
	rest := maps.Clone(have)
	maps.DeleteFunc(rest, func(name, _ string) bool { _, ok := given[name]; return ok })
	return maps.Equal(rest, want)
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

// setSecrets sets headers of a tool that is there. Secret headers are replaced as a whole, so all
// of them must be known.
func (m *maker) setSecrets(ctx context.Context, tool *exports.Tool, have *parlancev1.Tool, given map[string]string) result {
	req := &parlancev1.UpdateToolRequest{WorkspaceId: m.WorkspaceID, ToolId: have.GetId(), UpdateMask: &fieldmaskpb.FieldMask{}}
	if auth, ok := given["Authorization"]; ok {
		req.AuthHeader = &auth
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "auth_header")
	}
	if _, onlyAuth := given["Authorization"]; len(given) > 1 || !onlyAuth {
		known := slices.Collect(maps.Keys(tool.Want.GetSecretHeaders()))
		for _, name := range have.GetSecretHeaderNames() {
			if !slices.Contains(known, name) {
				return result{outcome: failed, id: have.GetId(), why: "its secret headers are replaced together: give " + name + " too"}
			}
		}
		req.SecretHeaders, req.Headers = tool.Want.GetSecretHeaders(), tool.Want.GetHeaders()
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "secret_headers", "headers")
	}
	if _, err := m.tools.UpdateTool(ctx, req); err != nil {
		return result{outcome: failed, id: have.GetId(), why: m.Reason(err)}
	}
	return result{outcome: updated, id: have.GetId()}
}
