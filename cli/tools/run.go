package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// maxArgsBytes is larger than what the API accepts.
const maxArgsBytes = 1 << 20

// runOptions are the flags of `parlance tools run`.
type runOptions struct {
	arg, variable []string
	args, remote  string
	request, json bool
}

func newRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run TOOL", Short: "Call a tool's real endpoint, and show what a model would get", Args: command.ExactArgs("TOOL"),
		Long: `Calls a tool as a conversation would, with the arguments you give, and shows what came of it: the status,
how long it took, how often it was tried, and the text that a model gets. The endpoint is the real one: what
the tool changes is changed.

--arg is text, number, list or whatever the tool's arguments say; a list is given by several. Variables that
a conversation would bring are given with --var; the service's own have examples.

It ends with 0 when the endpoint did what it was asked for, and with 1 otherwise.`,
		Example: `  parlance tools run get_order --arg order_id=A-7
  parlance tools run search --arg "q=red shoes" --arg sizes=41 --arg sizes=42
  parlance tools run create_order --args '{"customer": {"id": 7}, "lines": [{"sku": "B-1"}]}'
  parlance tools run create_order --args @order.json --var customer_id=7 --var secret__api_key=@key.txt
  parlance tools run calendar --remote-tool find_slot --arg day=2026-03-01
  parlance tools run get_order --arg order_id=A-7 --json | jq .output`,
		RunE: withTools(func(ctx context.Context, b *toolbox, args []string) error { return b.run(ctx, o, args[0]) }),
	}
	cmd.Flags().StringArrayVar(&o.arg, "arg", nil, "an argument, `NAME=VALUE`; may be repeated")
	cmd.Flags().StringVar(&o.args, "args", "", "all arguments as a JSON object, @file, or - for the standard input")
	cmd.Flags().StringArrayVar(&o.variable, "var", nil, "a dynamic variable, `NAME=VALUE` or NAME=@file; may be repeated")
	cmd.Flags().StringVar(&o.remote, "remote-tool", "", "which tool of an MCP server, by its own name, when TOOL stands for several")
	cmd.Flags().BoolVar(&o.request, "request", false, "show the request that was sent, without secrets")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer of the API as JSON")
	return cmd
}

func (b *toolbox) run(ctx context.Context, o runOptions, named string) error {
	found, err := b.find(ctx, named)
	if err != nil {
		return err
	}
	req := &parlancev1.RunToolRequest{
		WorkspaceId: b.WorkspaceID, ToolId: found[0].GetId(), RemoteTool: o.remote,
		DynamicVariables: map[string]string{},
	}
	if req.ArgsJson, err = b.arguments(o, found[0]); err != nil {
		return command.Usage(err)
	}
	for _, one := range o.variable {
		name, value, ok := strings.Cut(one, "=")
		if !ok || name == "" {
			return command.Usagef("--var %q is not NAME=VALUE", one)
		}
		if file, isFile := strings.CutPrefix(value, "@"); isFile {
			if value, err = secretFile(file); err != nil {
				return command.Usagef("--var %s: %w", name, err)
			}
		}
		req.DynamicVariables[name] = value
	}
	answer, err := b.tools.RunTool(ctx, req)
	if err != nil {
		return b.Explain("run "+found[0].GetSlug(), err)
	}
	if o.json {
		err = b.PrintMessage(answer)
	} else {
		b.showRun(o, found[0], answer)
	}
	if failed := answer.GetError(); err == nil && failed != nil {
		return fmt.Errorf("the call failed (%s)", term.Clean(failed.GetCode()))
	}
	return err
}

// showRun prints the result of a call, and what a model would read.
func (b *toolbox) showRun(o runOptions, tool *parlancev1.Tool, answer *parlancev1.RunToolResponse) {
	mark, outcome := b.Screen.Good("✓"), "answered"
	if answer.GetError() != nil {
		mark, outcome = b.Screen.Bad("✗"), "failed "+term.Clean(answer.GetError().GetCode())
	}
	if status := answer.GetStatusCode(); status != 0 {
		outcome += fmt.Sprintf(", HTTP %d", status)
	}
	tried := ""
	if n := int(answer.GetAttempts()); n != 1 {
		tried = ", " + term.Count(n, "attempt", "attempts")
	}
	b.Screen.Line("%s %s  %s in %s%s", mark, b.Screen.Strong(term.Clean(tool.GetSlug())), outcome, term.Latency(answer.GetLatencyMs()), tried)
	if o.request {
		b.showRequest(answer.GetRequest())
	}
	said := answer.GetOutputText()
	if failed := answer.GetError(); failed != nil {
		b.Screen.Line("  %s", term.Clean(failed.GetMessage()))
	}
	if said == "" {
		if answer.GetError() == nil {
			b.Screen.Line("  %s", b.Screen.Dim("(an empty answer)"))
		}
		return
	}
	b.Screen.Line("")
	b.lines(said)
}

// lines prints a text of others without control characters.
func (b *toolbox) lines(text string) {
	for _, line := range term.CleanLines(strings.TrimRight(text, "\n")) {
		b.Screen.Line("%s", line)
	}
}

func (b *toolbox) showRequest(sent *parlancev1.ToolRequest) {
	if sent == nil {
		return
	}
	b.Screen.Line("\n%s", b.Screen.Dim("request"))
	b.Screen.Line("  %s %s", term.Clean(sent.GetMethod()), term.Clean(sent.GetUrl()))
	for _, name := range slices.Sorted(maps.Keys(sent.GetHeaders())) {
		b.Screen.Line("  %s: %s", term.Clean(name), term.Clean(sent.GetHeaders()[name]))
	}
	if sent.GetBody() != "" {
		b.Screen.Line("  %s", term.Clean(sent.GetBody()))
	}
}

// arguments merges --args and --arg into JSON text, with numbers as they were given.
func (b *toolbox) arguments(o runOptions, tool *parlancev1.Tool) (string, error) {
	members := map[string]json.RawMessage{}
	if o.args != "" {
		raw, err := b.jsonText(o.args)
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(raw, &members); err != nil || members == nil {
			return "", fmt.Errorf(`--args must be a JSON object, {"name": "value"}`)
		}
	}
	properties := tool.GetInputSchema().GetFields()["properties"].GetStructValue().AsMap()
	given := map[string][]string{}
	var order []string
	for _, one := range o.arg {
		name, value, ok := strings.Cut(one, "=")
		if !ok || name == "" {
			return "", fmt.Errorf("--arg %q is not NAME=VALUE", one)
		}
		if given[name] == nil {
			order = append(order, name)
		}
		given[name] = append(given[name], value)
	}
	for _, name := range order {
		schema, _ := properties[name].(map[string]any)
		value, err := argumentValue(schema, given[name])
		if err != nil {
			return "", fmt.Errorf("--arg %s: %w", name, err)
		}
		members[name] = json.RawMessage(term.JSON(value))
	}
	return term.JSON(members), nil
}

// jsonText returns the text itself, that of @file, or the standard input for "-".
func (b *toolbox) jsonText(given string) ([]byte, error) {
	in := io.Reader(strings.NewReader(given))
	if given == "-" {
		in = b.In
	} else if path, isFile := strings.CutPrefix(given, "@"); isFile {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // only read
		in = file
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxArgsBytes+1))
	if err == nil && len(raw) > maxArgsBytes {
		err = fmt.Errorf("the arguments are larger than %d bytes", maxArgsBytes)
	}
	return raw, err
}

// argumentValue parses an argument by the tool's schema: strings are taken as they are, everything
// else is JSON.
func argumentValue(schema map[string]any, given []string) (any, error) {
	kinds := schemaTypes(schema)
	if slices.Contains(kinds, "array") && (len(given) > 1 || !strings.HasPrefix(given[0], "[")) {
		items, _ := schema["items"].(map[string]any)
		values := make([]any, len(given))
		for i, one := range given {
			var err error
			if values[i], err = argumentValue(items, []string{one}); err != nil {
				return nil, err
			}
		}
		return values, nil
	}
	if len(given) > 1 {
		return nil, errors.New("it is given twice, and is no list")
	}
	if slices.Contains(kinds, "string") && len(kinds) == 1 {
		return given[0], nil
	}
	if raw := json.RawMessage(given[0]); json.Valid(raw) {
		return raw, nil
	}
	if len(kinds) == 0 || slices.Contains(kinds, "string") {
		return given[0], nil
	}
	return nil, fmt.Errorf("%q is no %s", given[0], strings.Join(kinds, " or "))
}

// schemaTypes returns the types of a schema.
func schemaTypes(schema map[string]any) []string {
	switch value := schema["type"].(type) {
	case string:
		return []string{value}
	case []any:
		var kinds []string
		for _, one := range value {
			if name, ok := one.(string); ok {
				kinds = append(kinds, name)
			}
		}
		return kinds
	}
	return nil
}
