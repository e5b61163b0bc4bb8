package importer

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/importer/exports"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
)

// options are the flags.
type options struct {
	name, prefix   string
	secrets        []string
	dryRun, asJSON bool
	noModel        bool
	noWait         bool
	keepSpeech     bool
}

// help is what the help of each provider's command says.
type help struct{ long, example string }

var helps = map[exports.Provider]help{
	exports.ElevenLabs: {
		`Makes an agent of the answer to GET /v1/convai/agents/{agent_id}. Tools, MCP servers and documents that the
agent names by their ids are in exports of their own: give those files too. The import says which are missing.

  curl -H "xi-api-key: $ELEVENLABS_API_KEY" https://api.elevenlabs.io/v1/convai/agents/AGENT_ID > agent.json
  curl -H "xi-api-key: $ELEVENLABS_API_KEY" https://api.elevenlabs.io/v1/convai/tools/TOOL_ID > tool.json
  curl -H "xi-api-key: $ELEVENLABS_API_KEY" https://api.elevenlabs.io/v1/convai/mcp-servers/ID > mcp.json
  curl -H "xi-api-key: $ELEVENLABS_API_KEY" https://api.elevenlabs.io/v1/convai/knowledge-base/ID > document.json`,
		`  parlance import elevenlabs agent.json --dry-run
  parlance import elevenlabs agent.json tool.json document.json
  parlance import elevenlabs agent.json --secret find_order:Authorization=env:ORDERS_TOKEN`,
	},
	exports.Vapi: {
		`Makes agents of the answer to GET /assistant/{id}, or of the list that GET /assistant answers. Tools that an
assistant names by their ids are in an export of their own: give that file too, one tool or the list of GET /tool.
Squads that hold their assistants are read as well.

  curl -H "Authorization: Bearer $VAPI_API_KEY" https://api.vapi.ai/assistant/ASSISTANT_ID > assistant.json
  curl -H "Authorization: Bearer $VAPI_API_KEY" https://api.vapi.ai/tool > tools.json`,
		`  parlance import vapi assistant.json tools.json --dry-run
  parlance import vapi assistant.json tools.json --name "Front desk"
  parlance import vapi assistants.json --prefix vapi`,
	},
	exports.Retell: {
		`Makes an agent of the answer to GET /get-agent/{agent_id}, with its response engine from
GET /get-retell-llm/{llm_id} as a second file or in the same one, and its knowledge bases.

  curl -H "Authorization: Bearer $RETELL_API_KEY" https://api.retellai.com/get-agent/AGENT_ID > agent.json
  curl -H "Authorization: Bearer $RETELL_API_KEY" https://api.retellai.com/get-retell-llm/LLM_ID > llm.json
  curl -H "Authorization: Bearer $RETELL_API_KEY" https://api.retellai.com/get-knowledge-base/ID > kb.json`,
		`  parlance import retell agent.json llm.json --dry-run
  parlance import retell agent.json llm.json kb.json
  curl … | parlance import retell - llm.json`,
	},
}

// New makes the command.
func New(version string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import", Short: "Bring agents over from ElevenLabs, Vapi and Retell", GroupID: "use", Args: command.ExactArgs(),
		Long: `Reads what another service exports, and makes agents, tools and sources of it. At the end it says of each part of
the export what it became, what is left to do, with the next command, and what has no counterpart, and why.

Look at it with --dry-run first: that makes nothing and needs no installation. What is there already
is left as it is and not made twice, so an import that was interrupted is finished by running it again.
docs/migrate has what changes in your own programs.`,
		Example: `  parlance import elevenlabs agent.json --dry-run
  parlance import vapi assistant.json tools.json
  parlance import retell agent.json llm.json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, provider := range exports.Providers {
		cmd.AddCommand(newProvider(provider, version))
	}
	return cmd
}

func newProvider(provider exports.Provider, version string) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: string(provider) + " FILE…", Short: "Bring an agent over from " + provider.Title(), Args: command.SomeArgs("FILE"),
		Long: helps[provider].long + `

Secrets are never printed. Values of headers that stand in the export are stored encrypted; those that do not are
set by running the import again with --secret. docs/migrate/` + string(provider) + `.md has what changes in your programs.`,
		Example: helps[provider].example,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		plan, given, err := read(cmd.InOrStdin(), provider, o, args)
		if err != nil {
			return err
		}
		if o.dryRun {
			if _, err := given.fill(plan); err != nil {
				return err
			}
			foresee(plan, o.keepSpeech)
			screen := term.Open(cmd.OutOrStdout(), app.OSSource(nil).LookupEnv)
			return (&report{screen: screen, plan: plan, provider: provider, files: args, o: o}).print(planned(plan))
		}
		return client.With(func(c client.Caller) *maker {
			c.HTTP.Transport = proxied{c.HTTP.Transport}
			options := append(c.Options(), connect.WithInterceptors(newPatience(c.Base, cmd.ErrOrStderr())))
			c.Agents = parlancev1connect.NewAgentServiceClient(c.HTTP, c.Base, options...)
			return &maker{
				Caller: c, plan: plan, secrets: given, prefix: o.prefix, noWait: o.noWait, keepSpeech: o.keepSpeech,
				userAgent:   "parlance-import/" + version,
				tools:       parlancev1connect.NewToolServiceClient(c.HTTP, c.Base, options...),
				knowledge:   parlancev1connect.NewKnowledgeServiceClient(c.HTTP, c.Base, options...),
				credentials: parlancev1connect.NewProviderCredentialServiceClient(c.HTTP, c.Base, options...),
			}
		}, func(ctx context.Context, m *maker, _ []string) error {
			done, err := m.run(ctx)
			if done == nil {
				return err
			}
			printed := (&report{screen: m.Screen, plan: plan, provider: provider, files: args, o: o}).print(done)
			if err != nil {
				return err
			}
			return printed
		})(cmd, args)
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.dryRun, "dry-run", false, "only show what would be made; needs no installation")
	flags.StringVar(&o.name, "name", "", "name of the agent, for an export with one; default: as it was")
	flags.StringVar(&o.prefix, "prefix", "", "stands before the name of each tool: find_order with shop is shop_find_order")
	flags.BoolVar(&o.noModel, "no-model", false, "leave models and fallbacks to the installation")
	flags.BoolVar(&o.keepSpeech, "keep-speech", false, "the installation has the providers of speech that the export names")
	flags.StringArrayVar(&o.secrets, "secret", nil,
		"a header of a tool that is never shown, TOOL:HEADER=@file or TOOL:HEADER=env:NAME; may be repeated")
	flags.BoolVar(&o.noWait, "no-wait", false, "do not wait until sources are ready; they are attached by running the import again")
	flags.BoolVar(&o.asJSON, "json", false, "print a line of JSON for each part of the export and each thing that was made")
	client.AddWorkspace(cmd)
	return cmd
}

// read reads the files and applies the flags to the plan.
func read(stdin io.Reader, provider exports.Provider, o options, paths []string) (*exports.Plan, secrets, error) {
	given, err := readSecrets(o.secrets)
	if err != nil {
		return nil, nil, err
	}
	files := make([]exports.File, len(paths))
	for i, path := range paths {
		if slices.Index(paths, path) != i {
			return nil, nil, command.Usagef("%s is given twice", path)
		}
		if files[i], err = readFile(stdin, path); err != nil {
			return nil, nil, command.Usage(err)
		}
	}
	plan, err := exports.Read(provider, files)
	if err != nil {
		return nil, nil, command.Usage(err)
	}
	if o.name != "" && len(plan.Agents) > 1 {
		return nil, nil, command.Usagef("--name is for an export with one agent; this one has %d", len(plan.Agents))
	}
	for _, agent := range plan.Agents {
		if o.name != "" {
			agent.Want.Name, agent.Base = o.name, o.name
		}
		if model := agent.Want.GetModel(); o.noModel && model != nil {
			model.Provider, model.Name, model.Fallbacks = "", "", nil
		}
	}
	for _, tool := range plan.Tools {
		if o.prefix != "" {
			tool.Want.Slug, tool.Base = o.prefix+"_"+tool.Want.GetSlug(), o.prefix+"_"+tool.Base
		}
	}
	return plan, given, nil
}

func readFile(stdin io.Reader, path string) (exports.File, error) {
	in, name := stdin, "the standard input"
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return exports.File{}, err
		}
		defer func() { _ = file.Close() }() // only read
		in, name = file, path
	}
	data, err := io.ReadAll(io.LimitReader(in, exports.MaxBytes+1))
	if err != nil {
		return exports.File{}, fmt.Errorf("read %s: %w", name, err)
	}
	return exports.File{Name: strings.ToValidUTF8(term.Clean(name), "?"), Data: data}, nil
}
