package kb

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/ticker"
)

// listEvery is the interval of `kb ls --watch`.
const listEvery = time.Second

// listOptions are the flags of `parlance kb ls`.
type listOptions struct {
	status      string
	tags        []string
	search      client.SearchOptions
	watch, json bool
}

func newList() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the sources with what is being done with them", Args: command.ExactArgs(),
		Long: `Lists the workspace's sources, newest first. A source is queued, processing (with its stage and
progress), ready or failed. --watch keeps the list up to date until Ctrl-C.`,
		Example: `  parlance kb ls
  parlance kb ls --status failed
  parlance kb ls --query handbook --order-by name
  parlance kb ls --watch
  parlance kb ls --json | jq -r 'select(.chunk_count > 1000) | .name'`,
		RunE: withKB(func(ctx context.Context, k *kb, _ []string) error { return k.list(ctx, o) }),
	}
	cmd.Flags().StringVar(&o.status, "status", "", "only those that are queued, processing, ready or failed")
	cmd.Flags().StringSliceVar(&o.tags, "tag", nil, "only those with this tag; may be repeated")
	o.search.Add(cmd.Flags(), "name")
	cmd.Flags().BoolVar(&o.watch, "watch", false, "keep it up to date until Ctrl-C")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each")
	return cmd
}

func (k *kb) list(ctx context.Context, o listOptions) error {
	if o.watch && (o.json || !k.Screen.Terminal) {
		return command.Usagef("--watch is for terminals; a script asks again, or watches …/sources/{source_id}/events")
	}
	for {
		list, err := k.page(ctx, o)
		if err != nil {
			return err
		}
		if o.json || !o.watch {
			return nil
		}
		_, rows := k.Screen.Size()
		lines := k.listLines(list)
		if most := rows - 2; len(lines) > most {
			lines = append(lines[:max(most-1, 1)], k.Screen.Dim(fmt.Sprintf("… %d more", len(lines)-most+1)))
		}
		k.Screen.Clear()
		k.Screen.Draw(append(lines, k.Screen.Dim(k.Now().Format(time.TimeOnly)+"  Ctrl-C ends it")), nil)
		if err := ticker.Wait(ctx, listEvery); err != nil {
			return err
		}
	}
}

// page lists the sources. It also prints them unless --watch is given.
func (k *kb) page(ctx context.Context, o listOptions) ([]*parlancev1.Source, error) {
	if o.json {
		_, _, err := command.Each(0, k.pages(ctx, o), func(source *parlancev1.Source) error { return k.PrintMessage(source) })
		return nil, err
	}
	list, err := command.All(k.pages(ctx, o))
	if err != nil || o.watch {
		return list, err
	}
	if len(list) == 0 {
		switch {
		case o.search.Query != "":
			k.Line("There is no such source.")
		case o.status != "":
			k.Line("No source is %s.", o.status)
		default:
			k.Line("The knowledge base is empty. Fill it: parlance kb add FILE…")
		}
		return nil, nil
	}
	k.Screen.Draw(k.listLines(list), nil)
	return list, nil
}

// listLines formats the table.
func (k *kb) listLines(list []*parlancev1.Source) []string {
	columns := []term.Column{
		{Title: "STATUS"},
		{Title: "NAME", Shrinks: true},
		{Title: "TYPE"},
		{Title: "SIZE", Right: true},
		{Title: "PAGES", Right: true},
		{Title: "CHUNKS", Right: true},
		{Title: "AGE", Right: true},
		{Title: "ID"},
	}
	rows := make([][]term.Cell, len(list))
	for i, source := range list {
		pages := ""
		if source.GetPageCount() > 0 {
			pages = fmt.Sprint(source.GetPageCount())
		}
		rows[i] = []term.Cell{
			k.statusCell(source),
			{Text: term.Clean(source.GetName())},
			{Text: typeWords(source.GetMediaType())},
			{Text: term.Bytes(float64(source.GetSizeBytes()))},
			{Text: pages},
			{Text: fmt.Sprint(source.GetChunkCount())},
			{Text: term.Age(k.Now().Sub(source.GetCreatedAt().AsTime()))},
			{Text: source.GetId(), Paint: k.Screen.Dim},
		}
	}
	return k.Screen.Table(columns, rows)
}

// statusCell formats the status of a source.
func (k *kb) statusCell(source *parlancev1.Source) term.Cell {
	switch source.GetStatus() {
	case "ready":
		return term.Cell{Text: "ready", Paint: k.Screen.Good}
	case "failed":
		return term.Cell{Text: "failed " + term.Clean(source.GetError().GetCode()), Paint: k.Screen.Bad}
	case "processing":
		return term.Cell{Text: fmt.Sprintf("%s %d %%", stageWords(source), source.GetProgress()), Paint: k.Screen.Busy}
	}
	return term.Cell{Text: source.GetStatus(), Paint: k.Screen.Busy}
}
