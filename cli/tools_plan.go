package cli

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"

	"parlance.dev/parlance/cli/openapi"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// toolOutcome is what is to be done, or was done, with an operation.
type toolOutcome string

// What is to be done, then what was done. toolSame, toolDiffers and toolLeftOut stay.
const (
	toolNew     toolOutcome = "new"
	toolSame    toolOutcome = "there_already"
	toolDiffers toolOutcome = "differs"
	toolLeftOut toolOutcome = "left_out"
	toolMade    toolOutcome = "made"
	toolUpdated toolOutcome = "updated"
	toolFailed  toolOutcome = "failed"
)

// toolPlan is an operation with what becomes of it.
type toolPlan struct {
	op      openapi.Operation
	outcome toolOutcome
	// why is why it is left out or failed.
	why string
	// want is the tool; nil when there is none.
	want *parlancev1.CreateToolRequest
	// have is the tool of that name in the workspace, with the fields that differ.
	have     *parlancev1.Tool
	changed  []string
	attached bool
}

// newToolPlan holds an operation against what is there.
func newToolPlan(operation openapi.Operation, workspaceID string, there []*parlancev1.Tool) (*toolPlan, error) {
	p := &toolPlan{op: operation, outcome: toolNew}
	if operation.Tool == nil {
		p.leaveOut(operation.Why)
		return p, nil
	}
	made := operation.Tool
	schema, err := structpb.NewStruct(made.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("describe the arguments of %s: %w", made.Slug, err)
	}
	p.want = &parlancev1.CreateToolRequest{
		WorkspaceId: workspaceID, Slug: made.Slug, Description: made.Description, Kind: "http", InputSchema: schema, WebhookUrl: made.URL,
		Method: made.Method, PathParams: made.PathParams, QueryParams: made.QueryParams, Headers: made.Headers,
		HardcodedQueryParams: made.HardcodedQueryParams, AllowDynamicVars: made.DynamicVariables,
	}
	at := slices.IndexFunc(there, func(tool *parlancev1.Tool) bool {
		return tool.GetBucket() == "custom" && strings.EqualFold(tool.GetSlug(), made.Slug)
	})
	if at < 0 {
		return p, nil
	}
	p.have = there[at]
	if p.have.GetKind() != "http" {
		p.leaveOut("a tool of kind " + p.have.GetKind() + " has the name; give --prefix")
		p.have = nil
		return p, nil
	}
	p.outcome, p.changed = toolSame, differences(p.have, p.want)
	if len(p.changed) > 0 {
		p.outcome = toolDiffers
	}
	return p, nil
}

func (p *toolPlan) leaveOut(why string) { p.outcome, p.why, p.want = toolLeftOut, why, nil }

// differences are the fields of a tool that are not as they should be.
func differences(have *parlancev1.Tool, want *parlancev1.CreateToolRequest) []string {
	var changed []string
	for _, field := range []struct {
		name string
		same bool
	}{
		{"description", have.GetDescription() == want.GetDescription()},
		{"input_schema", proto.Equal(have.GetInputSchema(), want.GetInputSchema())},
		{"webhook_url", have.GetWebhookUrl() == want.GetWebhookUrl()},
		{"method", have.GetMethod() == want.GetMethod()},
		{"path_params", slices.Equal(have.GetPathParams(), want.GetPathParams())},
		{"query_params", slices.Equal(have.GetQueryParams(), want.GetQueryParams())},
		{"hardcoded_query_params", maps.Equal(have.GetHardcodedQueryParams(), want.GetHardcodedQueryParams())},
		{"headers", maps.Equal(have.GetHeaders(), want.GetHeaders())},
		{"allow_dynamic_vars", have.GetAllowDynamicVars() == want.GetAllowDynamicVars()},
	} {
		if !field.same {
			changed = append(changed, field.name)
		}
	}
	return changed
}

// apply makes, updates and attaches one tool; what goes wrong is kept in the plan.
func (a *toolsAdd) apply(ctx context.Context, p *toolPlan) {
	if p.want == nil {
		return
	}
	auth := a.authFor(p)
	switch {
	case p.outcome == toolNew:
		p.want.AuthHeader = auth
		made, err := a.tools.CreateTool(ctx, p.want)
		if err != nil {
			p.fail(a.where.explainCall("", err))
			return
		}
		p.have, p.outcome = made, toolMade
	case a.o.update && (p.outcome == toolDiffers || auth != ""):
		if err := a.change(ctx, p, auth); err != nil {
			p.fail(err)
			return
		}
		p.outcome = toolUpdated
	}
	if a.o.attach == "" {
		return
	}
	enabled := true
	_, err := a.tools.AttachTool(ctx, &parlancev1.AttachToolRequest{
		WorkspaceId: a.where.workspaceID, AgentId: a.o.attach, ToolId: p.have.GetId(), Enabled: &enabled,
	})
	if err != nil {
		p.fail(fmt.Errorf("%s, but not attached: %w", strings.ReplaceAll(string(p.outcome), "_", " "), a.where.explainCall("attach", err)))
		return
	}
	p.attached = true
}

func (p *toolPlan) fail(err error) {
	p.outcome, p.why = toolFailed, strings.TrimPrefix(err.Error(), ": ")
}

// change updates the fields that differ.
func (a *toolsAdd) change(ctx context.Context, p *toolPlan, auth string) error {
	req := &parlancev1.UpdateToolRequest{
		WorkspaceId: a.where.workspaceID, ToolId: p.have.GetId(), UpdateMask: &fieldmaskpb.FieldMask{Paths: slices.Clone(p.changed)},
		Description: &p.want.Description, InputSchema: p.want.GetInputSchema(), WebhookUrl: &p.want.WebhookUrl, Method: &p.want.Method,
		PathParams: p.want.GetPathParams(), QueryParams: p.want.GetQueryParams(), HardcodedQueryParams: p.want.GetHardcodedQueryParams(),
		Headers: p.want.GetHeaders(), AllowDynamicVars: &p.want.AllowDynamicVars,
	}
	if auth != "" {
		req.AuthHeader = &auth
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "auth_header")
	}
	changed, err := a.tools.UpdateTool(ctx, req)
	if err != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(a.where.explainCall("", err).Error(), ": "))
	}
	p.have = changed
	return nil
}

// authorize reads the Authorization header when one is wanted.
func (a *toolsAdd) authorize(ctx context.Context, plans []*toolPlan) error {
	given := a.o.auth
	wanted := slices.IndexFunc(plans, func(p *toolPlan) bool {
		return p.want != nil && p.op.Wants.Authorization != "" && (p.have == nil || a.o.update)
	})
	if given == "" && wanted >= 0 && a.ask.person && !a.o.yes {
		a.line("The API wants %s; it is stored encrypted. Just Enter: the calls go without.", plans[wanted].op.Wants.Words)
		given = "ask"
	}
	var err error
	a.auth, err = readSecret(ctx, given, "Authorization: ", a.ask)
	return err
}

// authFor is the Authorization header of a tool. Where the document says which operations want one,
// others do not get it.
func (a *toolsAdd) authFor(p *toolPlan) string {
	switch kind := p.op.Wants.Authorization; {
	case a.auth == "":
		return ""
	case kind == "":
		if a.doc.Authorized() {
			return ""
		}
	case strings.Contains(a.auth, " "): // "Bearer …", whole
	case kind == "Bearer":
		return "Bearer " + a.auth
	case kind == "Basic" && strings.Contains(a.auth, ":"):
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(a.auth))
	case kind == "Basic":
		return "Basic " + a.auth
	}
	return a.auth
}
