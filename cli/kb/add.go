package kb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/kb/intake"
	"parlance.dev/parlance/cli/term"
)

// addOptions are the flags of `parlance kb add`.
type addOptions struct {
	userAgent string
	intake.Params
	intake.Rules
	json bool
}

func newAdd(version string) *cobra.Command {
	o := addOptions{userAgent: "parlance-kb/" + version}
	cmd := &cobra.Command{
		Use: "add PATH|URL|-…", Short: "Add files, folders and web pages", Args: command.SomeArgs("PATH or URL"),
		Long: `Adds files, folders (to their bottom), web pages and the standard input, and shows how each is
uploaded, read, cut into passages and embedded, until all are ready.

Accepted are ` + intake.AcceptedTypes() + `. In folders everything else is skipped,
and so are hidden files, links, and what tools leave (node_modules, __pycache__, ~$report.docx).
A file in a folder is named by its path in the folder, a page by its title and address.

What is there already, the same bytes under the same name, is not sent again. Other bytes under the
same name need a word: --replace puts them in the place of the source, which keeps its id and its
agents, and answers from its old passages until the new ones are ready; --again adds a second source.
When the command is interrupted, run it again: it goes on with what is missing.

It ends with 0 when all are ready, 1 when some are not, and 2 when it was called wrongly.`,
		Example: `  parlance kb add handbook.pdf notes/ "faq *.html"
  parlance kb add https://example.org/returns --attach default
  pandoc report.odt -t markdown | parlance kb add - --name "Report.md"
  parlance kb add handbook/ --replace
  parlance kb add scans/ --force-ocr --ocr-languages deu,eng --parallel 8
  parlance kb add docs/ --exclude drafts --exclude "*.json" --no-wait --json`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error { return k.add(ctx, o, args) }),
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Parallel, "parallel", 4, "how many are uploaded at once, 1 to 16")
	flags.StringVar(&o.Attach, "attach", "", "attach what is ready to this agent, agt_…; default: that of "+command.EnvAgent)
	flags.StringVar(&o.Name, "name", "", "name of the source, for a single one")
	flags.StringVar(&o.MediaType, "type", "", "what named files are, when their endings do not say it: "+intake.AcceptedTypes())
	flags.StringSliceVar(&o.Exclude, "exclude", nil, "leave files or folders out that match this pattern; may be repeated")
	flags.StringSliceVar(&o.Tags, "tag", nil, "tag of what is added; may be repeated (of what is there: parlance kb tag)")
	flags.BoolVar(&o.ForceOCR, "force-ocr", false, "read every page of PDFs as a picture, also those with text")
	flags.StringSliceVar(&o.OCRLanguages, "ocr-languages", nil,
		"languages of scans and pictures, as tesseract names them: deu,eng; default: those of the server")
	flags.BoolVar(&o.Again, "again", false, "upload also what is there already, as a second source")
	flags.BoolVar(&o.Replace, "replace", false, "put files in the place of the sources that have their names and other content")
	flags.BoolVar(&o.NoWait, "no-wait", false, "do not wait until the sources are ready")
	flags.BoolVar(&o.json, "json", false, "print a line of JSON for each, at its end")
	waits := flags.Bool("wait", true, "wait until the sources are ready, or not (--no-wait)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if o.NoWait = o.NoWait || !*waits; o.NoWait && o.Attach != "" {
			return command.Usagef("--attach needs sources that are ready: leave --no-wait out")
		}
		if o.Again && o.Replace {
			return command.Usagef("--again adds a second source and --replace does not: give one of them")
		}
		return nil
	}
	return cmd
}

// add ingests what the arguments name, and prints a summary.
func (k *kb) add(ctx context.Context, o addOptions, args []string) error {
	if o.Parallel < 1 || o.Parallel > 16 {
		return command.Usagef("--parallel must be 1 to 16")
	}
	if o.Attach != "" {
		var err error
		if o.Attach, err = k.FindAgent(ctx, o.Attach); err != nil {
			return err
		}
	}
	selected, err := intake.Select(args, o.Rules)
	if err != nil {
		return command.Usage(err)
	}
	states, err := k.ingest(ctx, o, selected.Items)
	if err != nil {
		return err
	}
	if !o.json {
		k.printSummary(states, selected.Skipped, o.Attach)
	}
	return exitError(ctx, states)
}

// ingest adds the items and shows their progress.
func (k *kb) ingest(ctx context.Context, o addOptions, items []intake.Item) ([]intake.State, error) {
	progress := newProgress(k, items, o.json)
	states, err := intake.Run(ctx, intake.Deps{
		Caller: k.Caller, Knowledge: k.knowledge, UserAgent: o.userAgent, Changed: progress.changed,
	}, o.Params, items)
	progress.end()
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, k.Explain("look what is there already", err)
	}
	return states, progress.broken
}

// printSummary prints the number of items by outcome, and what to do next.
func (k *kb) printSummary(states []intake.State, skipped []intake.Skipped, agent string) {
	count := map[intake.Outcome]int{}
	bytes := 0.0
	for _, s := range states {
		count[s.Outcome]++
		bytes += float64(s.SentBytes)
	}
	var parts []string
	for _, one := range []struct {
		outcome intake.Outcome
		words   string
	}{
		{intake.Ready, "ready"},
		{intake.AlreadyThere, "there already"},
		{intake.Accepted, "being ingested"},
		{intake.Failed, "failed"},
		{intake.NotSent, "not sent"},
	} {
		if n := count[one.outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one.words))
		}
	}
	if len(skipped) > 0 {
		parts = append(parts, term.Count(len(skipped), "file or folder skipped", "files and folders skipped")+" ("+skippedWords(skipped)+")")
	}
	k.Screen.Line("\n%s; %s sent", strings.Join(parts, ", "), term.Bytes(bytes))
	k.printFailures(states)
	if count[intake.Accepted] > 0 {
		k.Screen.Line("The server goes on with what it accepted: parlance kb ls")
	}
	switch {
	case agent != "" && count[intake.Ready]+count[intake.AlreadyThere] > 0:
		k.Screen.Line("\nAsk: parlance kb query --agent %s \"…\", or parlance chat --agent %s", agent, agent)
	case count[intake.Ready] > 0:
		k.Screen.Line("\nAn agent sees them when they are attached: parlance kb attach SOURCE…, or add them again with --attach default")
	}
}

// skippedWords counts the reasons why files were skipped, the most frequent first. It names the
// extensions of types that are not accepted.
func skippedWords(skipped []intake.Skipped) string {
	count := map[string]int{}
	endings := map[string]bool{}
	for _, s := range skipped {
		count[s.Why]++
		if s.Why == intake.NotAccepted {
			if ending := filepath.Ext(s.Path); ending != "" {
				endings[term.Clean(ending)] = true
			}
		}
	}
	whys := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	for i, why := range whys {
		whys[i] = fmt.Sprintf("%d %s", count[why], why)
		if why == intake.NotAccepted && len(endings) > 0 {
			whys[i] += ": " + someOf(endings, 5)
		}
	}
	return strings.Join(whys, ", ")
}

func someOf(set map[string]bool, most int) string {
	all := slices.Sorted(maps.Keys(set))
	if len(all) > most {
		all = append(all[:most], "…")
	}
	return strings.Join(all, " ")
}

// printFailures lists what failed, why, and what to do about it.
func (k *kb) printFailures(states []intake.State) {
	columns := k.Screen.Columns() - 4
	for _, s := range states {
		if s.Outcome != intake.Failed {
			continue
		}
		_, cause, advice := k.failureOf(s)
		name := term.Clean(s.Item.Name)
		if id := s.Source.GetId(); id != "" {
			name += " (" + id + ")"
		}
		k.Screen.Line("\n  %s %s", k.Screen.Bad("✗"), name)
		for _, line := range term.Wrap(term.Clean(cause), columns) {
			k.Screen.Line("    %s", line)
		}
		if advice != "" {
			for _, line := range term.Wrap("→ "+advice, columns) {
				k.Screen.Line("    %s", line)
			}
		}
	}
}

// exitError returns nil when every item is as it was asked for.
func exitError(ctx context.Context, states []intake.State) error {
	failed, notSent, accepted := 0, 0, 0
	for _, s := range states {
		switch s.Outcome {
		case intake.Failed:
			failed++
		case intake.NotSent:
			notSent++
		case intake.Accepted:
			accepted++
		case intake.Ready, intake.AlreadyThere:
		}
	}
	switch {
	case ctx.Err() != nil && notSent > 0:
		return fmt.Errorf("interrupted: %d of %d were not sent. Run it again to go on", notSent, len(states))
	case ctx.Err() != nil && accepted > 0:
		return errors.New("interrupted: everything was sent, and the server goes on")
	case failed > 0:
		return fmt.Errorf("%d of %d failed", failed, len(states))
	}
	return nil
}
