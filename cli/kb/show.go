package kb

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// showOptions are the flags of `parlance kb show`.
type showOptions struct {
	chunks    int
	all, json bool
}

func newShow() *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use: "show SOURCE", Short: "Show a source: how it is, why it failed, and its passages", Args: command.ExactArgs("SOURCE"),
		Example: `  parlance kb show handbook.pdf
  parlance kb show src_01j… --chunks 20
  parlance kb show src_01j… --all --json > chunks.jsonl`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error { return k.show(ctx, o, args[0]) }),
	}
	cmd.Flags().IntVar(&o.chunks, "chunks", 3, "how many passages are shown")
	cmd.Flags().BoolVar(&o.all, "all", false, "show all passages, whole")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the source and each passage as a line of JSON")
	return cmd
}

func (k *kb) show(ctx context.Context, o showOptions, named string) error {
	source, err := k.source(ctx, named)
	if err != nil {
		return err
	}
	if o.json {
		if err := k.PrintMessage(source); err != nil {
			return err
		}
	} else {
		k.showSource(source)
	}
	limit := o.chunks
	if o.all {
		limit = 0
	} else if limit <= 0 {
		k.more(o, int(source.GetChunkCount()))
		return nil
	}
	shown, more, err := command.Each(limit, k.chunkPages(ctx, source), func(chunk *parlancev1.Chunk) error { return k.showChunk(o, chunk) })
	if more {
		k.more(o, int(source.GetChunkCount())-shown)
	}
	return err
}

// chunkPages lists the passages of a source.
func (k *kb) chunkPages(ctx context.Context, source *parlancev1.Source) command.PageFunc[*parlancev1.Chunk] {
	return func(token string) ([]*parlancev1.Chunk, string, error) {
		page, err := k.knowledge.ListChunks(ctx, &parlancev1.ListChunksRequest{
			WorkspaceId: k.WorkspaceID, SourceId: source.GetId(), PageSize: 200, PageToken: token,
		})
		if err != nil {
			return nil, "", k.Explain("list the passages", err)
		}
		return page.GetChunks(), page.GetNextPageToken(), nil
	}
}

func (k *kb) more(o showOptions, left int) {
	if !o.json && left > 0 {
		k.Screen.Line("\n%s", k.Screen.Dim(fmt.Sprintf("… %s more: --chunks %d, or --all", term.Count(left, "passage",
			"passages"), o.chunks+left)))
	}
}

// showSource prints the fields of a source that have a value.
func (k *kb) showSource(source *parlancev1.Source) {
	status := k.statusCell(source)
	row := func(name, value string) {
		if value != "" {
			k.Screen.Line("%s  %s", k.Screen.Dim(term.Pad(name, 10)), value)
		}
	}
	row("name", k.Screen.Strong(term.Clean(source.GetName())))
	row("id", source.GetId())
	row("status", status.Paint(status.Text))
	if failure := source.GetError(); failure != nil {
		row("why", term.Clean(failure.GetMessage()))
		if advice := adviceFor(failure.GetCode(), source); advice != "" {
			row("", "→ "+advice)
		}
	}
	if source.GetMediaType() != "" {
		row("type", typeWords(source.GetMediaType())+", "+source.GetKind())
	}
	row("size", term.Bytes(float64(source.GetSizeBytes())))
	row("holds", holdsWords(source))
	for _, warning := range source.GetWarnings() {
		row("warning", term.Clean(warning))
	}
	row("language", source.GetLanguage())
	row("OCR in", strings.Join(source.GetOcrLanguages(), ", "))
	row("embedded", source.GetEmbeddingModel())
	row("sha256", source.GetSha256())
	if before := source.GetPrevious(); before != nil {
		words := typeWords(before.GetMediaType()) + ", " + term.Bytes(float64(before.GetSizeBytes()))
		if source.GetReplacing() {
			words += ", answers until the new content is ready"
		}
		row("before", words+" (parlance kb restore)")
	}
	if len(source.GetTags()) > 0 {
		row("tags", tagWords(source.GetTags()))
	}
	k.webRows(source, row)
	row("made", client.Moment(source.GetCreatedAt()))
	row("ready", client.Moment(source.GetReadyAt()))
}

func (k *kb) showChunk(o showOptions, chunk *parlancev1.Chunk) error {
	if o.json {
		return k.PrintMessage(chunk)
	}
	place := client.Place(chunk.GetHeading(), chunk.GetPageStart(), chunk.GetPageEnd())
	if place != "" {
		place = "  " + term.Clean(place)
	}
	if chunk.GetDisabled() {
		place += "  " + k.Screen.Bad("off")
	}
	k.Screen.Line("\n%s%s  %s", k.Screen.Strong(fmt.Sprintf("#%d", chunk.GetIndex())), place,
		k.Screen.Dim(term.Count(int(chunk.GetTokenCount()), "token", "tokens")))
	most := 4
	if o.all {
		most = 0
	}
	k.passage(chunk.GetContent(), chunk.GetHeading(), most)
	return nil
}

// passage prints an indented text: all its lines when most is 0, otherwise at most that many lines.
func (k *kb) passage(text, heading string, most int) {
	const indent = "    "
	columns := min(k.Screen.Columns(), 110) - len(indent) - 1
	var lines []string
	if most > 0 {
		lines = term.Wrap(term.Clean(withoutHeading(text, heading)), columns)
		if len(lines) > most {
			lines = lines[:most]
			lines[most-1] = term.Cut(lines[most-1]+" …", columns)
		}
	} else {
		for _, line := range term.CleanLines(strings.TrimSpace(text)) {
			lines = append(lines, term.Wrap(line, columns)...)
		}
	}
	for _, line := range lines {
		k.Screen.Line("%s%s", indent, line)
	}
}

// withoutHeading removes a heading that was printed above the passage already.
func withoutHeading(text, path string) string {
	last := path[strings.LastIndex(path, ">")+1:]
	if rest, ok := strings.CutPrefix(text, strings.TrimSpace(last)+"\n"); ok && strings.TrimSpace(rest) != "" {
		return rest
	}
	return text
}
