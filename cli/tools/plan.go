package tools

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/openapi"
)

// outcome is what is to be done with an operation, or what was done.
type outcome string

// The first four are plans; outcomeNew and outcomeDiffers may become one of the others.
const (
	outcomeNew     outcome = "new"
	outcomeSame    outcome = "there_already"
	outcomeDiffers outcome = "differs"
	outcomeLeftOut outcome = "left_out"
	outcomeMade    outcome = "made"
	outcomeUpdated outcome = "updated"
	outcomeFailed  outcome = "failed"
)

// plan is an operation and what becomes of it.
type plan struct {
	op      openapi.Operation
	outcome outcome
	// why is the reason of outcomeLeftOut and outcomeFailed.
	why string
	// want is the tool to make; nil when the operation cannot be a tool.
	want *parlancev1.CreateToolRequest
	// have is the tool of that name in the workspace; changed are its fields that differ.
	have     *parlancev1.Tool
	changed  []string
	attached bool
}

// hints are the flags for what a document does not say.
var hints = openapi.Hints{Server: "--server", Header: "--header", Auth: "--auth-header", Prefix: "--prefix"}

// existing returns the custom tools of a workspace.
func existing(there []*parlancev1.Tool) []openapi.Existing {
	var custom []openapi.Existing
	for _, tool := range there {
		if tool.GetBucket() == "custom" {
			custom = append(custom, openapi.Existing{
				ID: tool.GetId(), Slug: tool.GetSlug(), Kind: tool.GetKind(), Description: tool.GetDescription(),
				URL: tool.GetWebhookUrl(), Method: tool.GetMethod(), PathParams: tool.GetPathParams(), QueryParams: tool.GetQueryParams(),
				Headers: tool.GetHeaders(), HardcodedQueryParams: tool.GetHardcodedQueryParams(),
				InputSchema: jsonvalue.Raw(tool.GetInputSchemaJson()), DynamicVariables: tool.GetAllowDynamicVars(),
			})
		}
	}
	return custom
}

// newPlan compares an operation with the tools of the workspace; custom are the custom ones. What
// the installation would refuse to make is left out.
func newPlan(
	operation openapi.Operation, workspaceID string, there []*parlancev1.Tool, custom []openapi.Existing, proposals tools.Proposals,
) (*plan, error) {
	found, changed := operation.Compare(custom, hints)
	proposals.Refuse(&operation, found)
	p := &plan{op: operation, outcome: outcomeNew}
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
		WorkspaceId: workspaceID, Slug: made.Slug, Description: made.Description, Kind: "http",
		InputSchema: schema, InputSchemaJson: jsonvalue.Compact(made.InputSchema), WebhookUrl: made.URL, Method: made.Method,
		PathParams: made.PathParams, QueryParams: made.QueryParams, Headers: made.Headers,
		HardcodedQueryParams: made.HardcodedQueryParams, AllowDynamicVars: made.DynamicVariables,
	}
	if found == nil {
		return p, nil
	}
	p.have = there[slices.IndexFunc(there, func(tool *parlancev1.Tool) bool { return tool.GetId() == found.ID })]
	p.outcome, p.changed = outcomeSame, changed
	if len(p.changed) > 0 {
		p.outcome = outcomeDiffers
	}
	return p, nil
}

func (p *plan) leaveOut(why string) { p.outcome, p.why, p.want = outcomeLeftOut, why, nil }

// maxOrigins bounds the hosts that the installation is asked about.
const maxOrigins = 20

// originDocument is a document with one operation.
const originDocument = `{"openapi": "3.1.0", "paths": {"/": {"get": {}}}}`

// refuseOrigins leaves out the tools whose host may not be called. Only the installation knows
// which may: it is asked for each, with a document that has nothing else to be refused for. When it
// does not answer, the tools stay: making them says why.
func (a *adder) refuseOrigins(ctx context.Context, plans []*plan) {
	refused := map[string]string{}
	for _, p := range plans {
		if p.want == nil || p.have.GetWebhookUrl() == p.want.GetWebhookUrl() {
			continue
		}
		origin := p.origin()
		why, asked := refused[origin]
		if !asked && len(refused) < maxOrigins {
			answer, err := a.tools.ReadOpenApi(ctx, &parlancev1.ReadOpenApiRequest{
				WorkspaceId: a.WorkspaceID, Document: originDocument, Server: origin,
			})
			if err == nil && len(answer.GetOperations()) == 1 {
				why = answer.GetOperations()[0].GetReason()
			}
			refused[origin] = why
		}
		if why != "" {
			p.leaveOut(why)
		}
	}
}

// apply makes, updates and attaches one tool. Errors are kept in the plan.
func (a *adder) apply(ctx context.Context, p *plan) {
	if p.want == nil {
		return
	}
	auth := a.authFor(p)
	switch {
	case p.outcome == outcomeNew:
		p.want.AuthHeader, p.want.SecretHeaders = auth, a.secretHeaders
		made, err := a.tools.CreateTool(ctx, p.want)
		if err != nil {
			p.fail(a.Reason(err))
			return
		}
		p.have, p.outcome = made, outcomeMade
	case a.o.update && (p.outcome == outcomeDiffers || auth != "" || len(a.secretHeaders) > 0):
		if err := a.change(ctx, p, auth); err != nil {
			p.fail(err.Error())
			return
		}
		p.outcome = outcomeUpdated
	}
	if a.o.attach == "" {
		return
	}
	enabled := true
	_, err := a.tools.AttachTool(ctx, &parlancev1.AttachToolRequest{
		WorkspaceId: a.WorkspaceID, AgentId: a.o.attach, ToolId: p.have.GetId(), Enabled: &enabled,
	})
	if err != nil {
		p.fail(strings.ReplaceAll(string(p.outcome), "_", " ") + ", but not attached: " + a.Reason(err))
		return
	}
	p.attached = true
}

func (p *plan) fail(why string) { p.outcome, p.why = outcomeFailed, why }

// change updates the fields that differ.
func (a *adder) change(ctx context.Context, p *plan, auth string) error {
	req := &parlancev1.UpdateToolRequest{
		WorkspaceId: a.WorkspaceID, ToolId: p.have.GetId(), UpdateMask: &fieldmaskpb.FieldMask{Paths: slices.Clone(p.changed)},
		Description: &p.want.Description, InputSchema: p.want.GetInputSchema(), InputSchemaJson: p.want.GetInputSchemaJson(),
		WebhookUrl: &p.want.WebhookUrl, Method: &p.want.Method,
		PathParams: p.want.GetPathParams(), QueryParams: p.want.GetQueryParams(), HardcodedQueryParams: p.want.GetHardcodedQueryParams(),
		Headers: p.want.GetHeaders(), AllowDynamicVars: &p.want.AllowDynamicVars,
	}
	if auth != "" {
		req.AuthHeader = &auth
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "auth_header")
	}
	if len(a.secretHeaders) > 0 {
		req.SecretHeaders = a.secretHeaders
		req.UpdateMask.Paths = append(req.UpdateMask.Paths, "secret_headers")
	}
	changed, err := a.tools.UpdateTool(ctx, req)
	if err != nil {
		return errors.New(a.Reason(err))
	}
	p.have = changed
	return nil
}

// authorize reads the Authorization header if a tool needs it, and the secret headers.
func (a *adder) authorize(ctx context.Context, plans []*plan) error {
	given := a.o.auth
	wanted := slices.IndexFunc(plans, func(p *plan) bool {
		return p.want != nil && p.op.Wants.Authorization != "" && (p.have == nil || a.o.update)
	})
	if given == "" && wanted >= 0 && a.person != nil && !a.o.yes {
		a.Line("The API wants %s; it is stored encrypted. Just Enter: the calls go without.", plans[wanted].op.Wants.Words)
		given = "ask"
	}
	var err error
	if a.auth, err = readSecret(ctx, given, "Authorization: ", a.person); err != nil {
		return err
	}
	for name, from := range a.secretHeaders {
		if a.secretHeaders[name], err = readSecret(ctx, from, name+": ", a.person); err != nil {
			return err
		}
	}
	return nil
}

// authFor returns the Authorization header of a tool. If the document says which operations need
// it, others do not get it.
func (a *adder) authFor(p *plan) string {
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
