package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/openapi"
)

// addOptions are the flags of `parlance tools add`.
type addOptions struct {
	userAgent                          string
	from, prefix, server, auth, attach string
	operation, header, secretHeader    []string
	all, update, dryRun, yes, json     bool
}

func newAdd(version string) *cobra.Command {
	o := addOptions{userAgent: "parlance-tools/" + version}
	cmd := &cobra.Command{
		Use: "add --from-openapi URL|FILE", Short: "Make tools of the operations of an OpenAPI document", Args: command.ExactArgs(),
		Long: `Makes a tool of each operation you choose from an OpenAPI document (3.0 to 3.2, JSON or YAML). Its name
comes from operationId, its description from the document, its arguments from the operation's parameters and
JSON body. A table shows what would be made and what is left out, with the reason, before anything is.

Choose operations with --operation (operationId, name of the tool, or "GET /orders/{id}") or take --all;
on a terminal you are asked otherwise. Fewer tools are better: a model reads all of an agent's in every turn.

An API's key is never an argument of this command, where others on this machine would see it:
  Authorization header   --auth-header @file, env:NAME, or ask; it is stored encrypted and never shown
  another header         --secret-header "X-Key: @file" (or env:NAME, or ask), which is stored likewise
  each conversation's    a variable secret__… that it brings, for a header or the query
  what is no secret      --header "X-Team: …": it can be read in the tool

Run it again after the document has changed: tools that are as they should be stay, others are named, and
--update changes them.`,
		Example: `  parlance tools add --from-openapi https://api.example.org/openapi.json
  parlance tools add --from-openapi shop.yaml --operation getOrder --operation "POST /orders" \
      --auth-header @token.txt --attach default
  parlance tools add --from-openapi shop.yaml --server https://staging.example.org/v1 --prefix staging --all --dry-run
  curl -s https://api.example.org/openapi.json | parlance tools add --from-openapi - --all --yes --json`,
		RunE: withTools(func(ctx context.Context, b *toolbox, _ []string) error {
			a := &adder{toolbox: b, o: o}
			if term.IsTerminal(b.In) && o.from != "-" {
				a.person = &term.Asker{In: b.In, Out: b.Screen.Out}
			}
			return a.run(ctx)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.from, "from-openapi", "", "the document: a `URL`, a file, or - for the standard input")
	flags.StringArrayVar(&o.operation, "operation", nil, "an operation, by its operationId, tool name or \"METHOD /path\"; may be repeated")
	flags.BoolVar(&o.all, "all", false, "all operations that can be tools, without deprecated ones")
	flags.StringVar(&o.prefix, "prefix", "", "stands before each name: list_orders with shop is shop_list_orders")
	flags.StringVar(&o.server, "server", "", "base URL of the API, in place of the document's")
	flags.StringVar(&o.auth, "auth-header", "", "the Authorization header: @file, env:NAME, or ask; a bare token is sent as the document says")
	flags.StringArrayVar(&o.secretHeader, "secret-header", nil,
		"a header that is always sent and never shown, \"Name: @file\", \"Name: env:NAME\" or \"Name: ask\"; may be repeated")
	flags.StringArrayVar(&o.header, "header", nil,
		"a header that is always sent, \"Name: value\"; anybody with a key can read it; may be repeated")
	flags.StringVar(&o.attach, "attach", "", "attach the tools to this agent, agt_…; default: that of "+command.EnvAgent)
	flags.BoolVar(&o.update, "update", false, "change tools that are there already and differ")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only show what would be made")
	flags.BoolVar(&o.yes, "yes", false, "do not ask")
	flags.BoolVar(&o.json, "json", false, "print a line of JSON for each operation, and do not ask")
	return cmd
}

// adder is one run of `parlance tools add`.
type adder struct {
	*toolbox
	o    addOptions
	doc  *openapi.Document
	auth string
	// secretHeaders are the values of --secret-header by name: where they are until authorize has read
	// them.
	secretHeaders map[string]string
	// person is nil when nobody can be asked.
	person *term.Asker
}

func (a *adder) run(ctx context.Context) error {
	if err := a.check(ctx); err != nil {
		return err
	}
	plans, err := a.plan(ctx)
	if err != nil {
		return err
	}
	if plans, err = a.choose(ctx, plans); err != nil || len(plans) == 0 {
		return err
	}
	if !a.o.json {
		a.showPlans(plans)
	}
	toDo := slices.ContainsFunc(plans, func(p *plan) bool { return p.outcome == outcomeNew || p.outcome == outcomeDiffers && a.o.update }) ||
		a.o.attach != "" && slices.ContainsFunc(plans, func(p *plan) bool { return p.have != nil }) ||
		a.givesSecrets() && a.o.update && slices.ContainsFunc(plans, func(p *plan) bool { return p.have != nil })
	switch {
	case a.o.dryRun, !toDo:
		return a.end(plans)
	case !a.o.yes && a.person == nil:
		return command.Usagef("nobody is there to be asked: look at it with --dry-run, then give --yes")
	}
	if err := a.authorize(ctx, plans); err != nil {
		return err
	}
	if !a.o.yes {
		yes, err := a.person.Confirm(ctx, "Go ahead? [Y/n] ")
		if err != nil {
			return err
		}
		if !yes {
			a.Screen.Line("Nothing was made.")
			return nil
		}
	}
	for _, p := range plans {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.apply(ctx, p)
	}
	return a.end(plans)
}

// check checks the flags before anything is read.
func (a *adder) check(ctx context.Context) error {
	switch {
	case a.o.from == "":
		return command.Usagef("--from-openapi is missing: the URL or file of an OpenAPI document")
	case a.o.all && len(a.o.operation) > 0:
		return command.Usagef("give --all or --operation, not both")
	case a.o.json && !a.o.yes && !a.o.dryRun:
		return command.Usagef("--json does not ask: give --yes or --dry-run with it")
	}
	if err := checkSecret("--auth-header", a.o.auth); err != nil {
		return command.Usage(err)
	}
	var err error
	if a.secretHeaders, err = parseHeaders("--secret-header", a.o.secretHeader); err != nil {
		return command.Usage(err)
	}
	for _, from := range a.secretHeaders {
		if err := checkSecret("--secret-header", cmp.Or(from, "nothing")); err != nil {
			return command.Usage(err)
		}
	}
	if a.o.attach == "" {
		return nil
	}
	a.o.attach, err = a.FindAgent(ctx, a.o.attach)
	return err
}

// givesSecrets says whether flags give secrets that tools store.
func (a *adder) givesSecrets() bool { return a.o.auth != "" || len(a.o.secretHeader) > 0 }

// parseHeaders parses --header or --secret-header.
func parseHeaders(flag string, given []string) (map[string]string, error) {
	headers := map[string]string{}
	for _, one := range given {
		name, value, ok := strings.Cut(one, ":")
		name = strings.TrimSpace(name)
		switch {
		case (!ok || name == "") && flag == "--secret-header": // it may be a secret
			return nil, errors.New(`a --secret-header is not "Name: @file"`)
		case !ok || name == "":
			return nil, fmt.Errorf("%s %q is not \"Name: value\"", flag, one)
		case strings.EqualFold(name, "authorization"):
			return nil, errors.New("the Authorization header is given with --auth-header, which stores it encrypted")
		}
		headers[name] = strings.TrimSpace(value)
	}
	return headers, nil
}

// plan reads the document and compares its tools with those of the workspace.
func (a *adder) plan(ctx context.Context) ([]*plan, error) {
	headers, err := parseHeaders("--header", a.o.header)
	if err != nil {
		return nil, command.Usage(err)
	}
	source, err := loadDocument(ctx, a.o.from, a.o.userAgent, a.In)
	if err != nil {
		return nil, err
	}
	if a.doc, err = openapi.Read(source); err != nil {
		return nil, err
	}
	there, err := a.catalog(ctx, client.SearchOptions{})
	if err != nil {
		return nil, err
	}
	options := openapi.Options{Prefix: a.o.prefix, Server: a.o.server, Headers: headers, Hints: hints}
	options.SecretHeaders = slices.Sorted(maps.Keys(a.secretHeaders))
	for _, tool := range there {
		if tool.GetBucket() != "custom" {
			options.Reserved = append(options.Reserved, tool.GetSlug())
		}
	}
	operations, err := a.doc.Plan(ctx, options)
	if err != nil {
		return nil, command.Usage(err)
	}
	if len(operations) == 0 {
		return nil, errors.New("the document has no operations")
	}
	proposals, err := tools.NewProposalsAnywhere()
	if err != nil {
		return nil, err
	}
	plans, custom := make([]*plan, len(operations)), existing(there)
	for i, operation := range operations {
		if plans[i], err = newPlan(operation, a.WorkspaceID, there, custom, proposals); err != nil {
			return nil, err
		}
	}
	a.refuseOrigins(ctx, plans)
	return plans, nil
}

// choose returns the operations that were named, all of them, or those that a person chooses.
func (a *adder) choose(ctx context.Context, plans []*plan) ([]*plan, error) {
	switch {
	case len(a.o.operation) > 0:
		return namedPlans(plans, a.o.operation)
	case a.o.all:
		for _, p := range plans {
			if p.op.Deprecated && p.outcome == outcomeNew {
				p.leaveOut("deprecated; --operation takes it all the same")
			}
		}
		return plans, nil
	case a.person == nil:
		a.showChoices(plans)
		return nil, command.Usagef("which operations? Name them with --operation, or give --all")
	}
	return a.pick(ctx, plans)
}

// namedPlans finds the operations of --operation.
func namedPlans(plans []*plan, named []string) ([]*plan, error) {
	var found []*plan
	for _, name := range named {
		at := slices.IndexFunc(plans, func(p *plan) bool {
			return p.op.ID == name || p.op.Slug == name || strings.EqualFold(p.op.Method, firstWord(name)) &&
				p.op.Path == strings.TrimSpace(name[len(firstWord(name)):])
		})
		if at < 0 {
			return nil, command.Usagef("the document has no operation %q; without --operation they are listed", name)
		}
		if !slices.Contains(found, plans[at]) {
			found = append(found, plans[at])
		}
	}
	return found, nil
}

func firstWord(words string) string {
	word, _, _ := strings.Cut(words, " ")
	return word
}

// end prints the result. It returns an error when something failed.
func (a *adder) end(plans []*plan) error {
	failed, impossible := 0, 0
	for _, p := range plans {
		if a.o.json {
			if err := a.printPlan(p); err != nil {
				return err
			}
		}
		switch p.outcome {
		case outcomeFailed:
			failed++
		case outcomeLeftOut:
			impossible++
		case outcomeNew, outcomeSame, outcomeDiffers, outcomeMade, outcomeUpdated:
		}
	}
	if !a.o.json {
		a.printSummary(plans)
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %d failed", failed, len(plans))
	case impossible > 0 && len(a.o.operation) > 0:
		return fmt.Errorf("%d of the operations that were named cannot be tools", impossible)
	case impossible == len(plans):
		return errors.New("none of the operations can be a tool")
	}
	return nil
}
