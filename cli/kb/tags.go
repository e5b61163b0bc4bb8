package kb

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func newTag() *cobra.Command {
	var add, remove []string
	cmd := &cobra.Command{
		Use: "tag SOURCE…", Short: "Add tags to sources, and remove them", Args: command.SomeArgs("SOURCE"),
		Long: `Tags are words by which a query (kb query --tag), an agent (retrieval.tags) or a session
(overrides.retrieval.tags) chooses among its sources: a language, a product, who may read it.`,
		Example: `  parlance kb tag handbook.pdf --add product:mpl-2 --add lang:de
  parlance kb tag handbook.pdf --remove draft`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error {
			if len(add)+len(remove) == 0 {
				return command.Usagef("say which: --add or --remove")
			}
			sources, err := k.sources(ctx, args)
			if err != nil {
				return err
			}
			for _, source := range sources {
				tags := slices.DeleteFunc(source.GetTags(), func(tag string) bool { return slices.Contains(remove, tag) })
				changed, err := k.knowledge.UpdateSource(ctx, &parlancev1.UpdateSourceRequest{
					WorkspaceId: k.WorkspaceID, SourceId: source.GetId(), Tags: append(tags, add...),
					UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"tags"}},
				})
				if err != nil {
					return k.Explain("tag "+source.GetName(), err)
				}
				k.Line("%s: %s", changed.GetName(), tagWords(changed.GetTags()))
			}
			return nil
		}),
	}
	cmd.Flags().StringSliceVar(&add, "add", nil, "tag to add; may be repeated")
	cmd.Flags().StringSliceVar(&remove, "remove", nil, "tag to remove; may be repeated")
	return cmd
}

func tagWords(tags []string) string {
	if len(tags) == 0 {
		return "no tags"
	}
	return term.Clean(strings.Join(tags, ", "))
}

// tagFilter are the flags that choose sources by their tags.
type tagFilter struct{ all, any, none []string }

func (f *tagFilter) addTo(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.all, "tag", nil, "only sources with this tag; with all of them when it is repeated")
	cmd.Flags().StringSliceVar(&f.any, "any-tag", nil, "only sources with one of these tags")
	cmd.Flags().StringSliceVar(&f.none, "no-tag", nil, "no sources with this tag; may be repeated")
}

func (f *tagFilter) proto() *parlancev1.TagFilter {
	return &parlancev1.TagFilter{AllOf: f.all, AnyOf: f.any, NoneOf: f.none}
}

func newPassage() *cobra.Command {
	var off, on bool
	cmd := &cobra.Command{
		Use: "passage SOURCE NUMBER", Short: "Switch a passage of a source off or on", Args: command.ExactArgs("SOURCE", "NUMBER"),
		Long: `A passage that is off is neither found nor in a prompt. It stays off when its source is processed
again, as long as its text is the same. The numbers are those of parlance kb show.`,
		Example: `  parlance kb passage handbook.pdf 12 --off
  parlance kb passage handbook.pdf 12 --on`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error {
			number, err := strconv.Atoi(strings.TrimPrefix(args[1], "#"))
			if err != nil || off == on {
				return command.Usagef("give the number of a passage, as parlance kb show has it, and --off or --on")
			}
			source, err := k.source(ctx, args[0])
			if err != nil {
				return err
			}
			chunk, err := k.chunk(ctx, source, number)
			if err != nil {
				return err
			}
			_, err = k.knowledge.UpdateChunk(ctx, &parlancev1.UpdateChunkRequest{
				WorkspaceId: k.WorkspaceID, SourceId: source.GetId(), ChunkId: chunk.GetId(), Disabled: &off,
			})
			if err != nil {
				return k.Explain("switch the passage", err)
			}
			k.Line("Passage #%d of %s is %s.", number, source.GetName(), map[bool]string{true: "off", false: "on"}[off])
			return nil
		}),
	}
	cmd.Flags().BoolVar(&off, "off", false, "neither found nor in a prompt")
	cmd.Flags().BoolVar(&on, "on", false, "found again")
	return cmd
}

// chunk is a passage of a source by its number.
func (k *kb) chunk(ctx context.Context, source *parlancev1.Source, number int) (*parlancev1.Chunk, error) {
	chunks, err := command.All(k.chunkPages(ctx, source))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(chunks, func(chunk *parlancev1.Chunk) bool { return int(chunk.GetIndex()) == number })
	if at < 0 {
		return nil, command.Usagef("%s has no passage #%d: they are #0 to #%d", source.GetName(), number, source.GetChunkCount()-1)
	}
	return chunks[at], nil
}
