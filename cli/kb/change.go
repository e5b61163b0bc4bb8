package kb

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/kb/intake"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// attachPage is how many sources are attached by one call.
const attachPage = 100

func newAttach() *cobra.Command {
	var inPrompt bool
	cmd := &cobra.Command{
		Use: "attach SOURCE…", Short: "Let an agent see sources", Args: command.SomeArgs("SOURCE"),
		Long: `Attaches ready sources to an agent: only attached ones are searched when it answers. With
--in-prompt the whole text is in every prompt of the agent, for small sources that always matter.`,
		Example: `  parlance kb attach handbook.pdf
  parlance kb attach --agent agt_01j… house-rules.md --in-prompt`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error {
			agent, err := k.ChooseAgent(k.AgentID)
			if err != nil {
				return err
			}
			sources, err := k.sources(ctx, args)
			if err != nil {
				return err
			}
			req := &parlancev1.AttachSourcesRequest{WorkspaceId: k.WorkspaceID, AgentId: agent}
			if inPrompt {
				req.UsageMode = "prompt"
			}
			for from := 0; from < len(sources); from += attachPage {
				req.SourceIds = nil
				for _, source := range sources[from:min(from+attachPage, len(sources))] {
					req.SourceIds = append(req.SourceIds, source.GetId())
				}
				if _, err := k.knowledge.AttachSources(ctx, req); err != nil {
					return k.Explain("attach", err)
				}
			}
			k.Line("%s attached to %s.", term.Count(len(sources), "source is", "sources are"), agent)
			return nil
		}),
	}
	cmd.Flags().String("agent", "", "agent, agt_… ["+command.EnvAgent+"]")
	cmd.Flags().BoolVar(&inPrompt, "in-prompt", false, "always put the whole text into the agent's prompt")
	return cmd
}

func newDetach() *cobra.Command {
	cmd := &cobra.Command{
		Use: "detach SOURCE…", Short: "Hide sources from an agent", Args: command.SomeArgs("SOURCE"),
		Example: "  parlance kb detach --agent agt_01j… old-prices.pdf",
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error {
			agent, err := k.ChooseAgent(k.AgentID)
			if err != nil {
				return err
			}
			sources, err := k.sources(ctx, args)
			if err != nil {
				return err
			}
			for _, source := range sources {
				_, err := k.knowledge.DetachSource(ctx, &parlancev1.DetachSourceRequest{
					WorkspaceId: k.WorkspaceID,
					AgentId:     agent, SourceId: source.GetId(),
				})
				if err != nil {
					return k.Explain("detach "+source.GetName(), err)
				}
			}
			k.Line("%s hidden from %s.", term.Count(len(sources), "source is", "sources are"), agent)
			return nil
		}),
	}
	cmd.Flags().String("agent", "", "agent, agt_… ["+command.EnvAgent+"]")
	return cmd
}

func newRemove() *cobra.Command {
	return &cobra.Command{
		Use: "rm SOURCE…", Aliases: []string{
			"remove",
			"delete",
		}, Short: "Delete sources with their files and passages", Args: command.SomeArgs("SOURCE"),
		Long: `Deletes sources: their files, their passages, and what agents see of them. A name that several
sources have is refused, so that nothing is deleted by mistake.`,
		Example: `  parlance kb rm old-prices.pdf
  parlance kb ls --status failed --json | jq -r .id | xargs -r parlance kb rm`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error {
			sources, err := k.sources(ctx, args)
			if err != nil {
				return err
			}
			for _, source := range sources {
				_, err := k.knowledge.DeleteSource(ctx, &parlancev1.DeleteSourceRequest{WorkspaceId: k.WorkspaceID, SourceId: source.GetId()})
				if err != nil && connect.CodeOf(err) != connect.CodeNotFound { // another command deleted it
					return k.Explain("delete "+source.GetName(), err)
				}
				k.Line("deleted %s (%s)", source.GetName(), source.GetId())
			}
			return nil
		}),
	}
}

func newRestore() *cobra.Command {
	return &cobra.Command{
		Use: "restore SOURCE", Short: "Go back to the content before the last replacement", Args: command.ExactArgs("SOURCE"),
		Long: `Gives a source the content that it had before it was replaced, and reads it again; until it is ready
the present passages answer. The present content becomes the one before: restore again to undo it.`,
		Example: "  parlance kb restore handbook.pdf",
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error {
			source, err := k.source(ctx, args[0])
			if err != nil {
				return err
			}
			source, err = k.knowledge.RestoreSource(ctx, &parlancev1.RestoreSourceRequest{WorkspaceId: k.WorkspaceID, SourceId: source.GetId()})
			if err != nil {
				return k.Explain("restore", err)
			}
			k.Line("%s (%s) gets its content before back: parlance kb show %s", source.GetName(), source.GetId(), source.GetId())
			return nil
		}),
	}
}

func newRename() *cobra.Command {
	return &cobra.Command{
		Use: "rename SOURCE NAME", Short: "Give a source another name", Args: command.ExactArgs("SOURCE", "NAME"),
		Long:    "The words of a name are searched too. Names of files decide what kb add takes for the same source.",
		Example: `  parlance kb rename scan0042.pdf "House rules.pdf"`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error {
			source, err := k.source(ctx, args[0])
			if err != nil {
				return err
			}
			renamed, err := k.knowledge.UpdateSource(ctx, &parlancev1.UpdateSourceRequest{
				WorkspaceId: k.WorkspaceID, SourceId: source.GetId(), Name: &args[1],
			})
			if err != nil {
				return k.Explain("rename", err)
			}
			k.Line("%s is now called %s.", source.GetId(), renamed.GetName())
			return nil
		}),
	}
}

func newReprocess(version string) *cobra.Command {
	o := addOptions{userAgent: "parlance-kb/" + version}
	var failed bool
	cmd := &cobra.Command{
		Use: "reprocess SOURCE…", Short: "Ingest the stored files again",
		Long: `Reads, cuts and embeds the stored files again. Until the new passages replace the old ones, the old
ones answer. --force-ocr reads every page of a PDF as a picture: for PDFs whose text is garbage.`,
		Example: `  parlance kb reprocess scan.pdf --force-ocr
  parlance kb reprocess brief.png --ocr-languages deu,eng
  parlance kb reprocess --failed`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error {
			sources, err := k.toReprocess(ctx, args, failed)
			if err != nil || len(sources) == 0 {
				return err
			}
			items := make([]intake.Item, len(sources))
			for i, source := range sources {
				items[i] = intake.Item{Given: source.GetId(), SourceID: source.GetId(), Name: source.GetName()}
			}
			o.Parallel, o.Again = 1, true
			states, err := k.ingest(ctx, o, items)
			if err != nil {
				return err
			}
			if !o.json {
				k.printFailures(states)
			}
			return exitError(ctx, states)
		}),
	}
	cmd.Flags().BoolVar(&o.ForceOCR, "force-ocr", false, "read every page of a PDF as a picture")
	cmd.Flags().StringSliceVar(&o.OCRLanguages, "ocr-languages", nil,
		"languages of scans and pictures from now on, as tesseract names them: deu,eng; default: as before")
	cmd.Flags().BoolVar(&failed, "failed", false, "all sources that failed")
	cmd.Flags().BoolVar(&o.NoWait, "no-wait", false, "do not wait until they are ready")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each, at its end")
	return cmd
}

// toReprocess returns the named sources, or all that failed.
func (k *kb) toReprocess(ctx context.Context, named []string, failed bool) ([]*parlancev1.Source, error) {
	if failed == (len(named) > 0) {
		return nil, command.Usagef("name sources, or give --failed for all that failed")
	}
	if !failed {
		return k.sources(ctx, named)
	}
	list, err := command.All(k.pages(ctx, listOptions{status: "failed"}))
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		fmt.Fprintln(k.Screen.Out, "No source failed.")
	}
	return list, nil
}
