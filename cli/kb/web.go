package kb

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/client"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/kb/intake"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// webOptions are the flags of `parlance kb web`.
type webOptions struct {
	name, every     string
	tags            []string
	sitemap, noWait bool
	maxPages        int
}

func newWeb() *cobra.Command {
	var o webOptions
	cmd := &cobra.Command{
		Use: "web URL…", Short: "Have the server fetch web pages, and keep them up to date", Args: command.SomeArgs("URL"),
		Long: `Makes sources that the server fetches itself, from public addresses. With --every they are asked
again and again: a page that has changed takes the place of what it was, and until it is read the old
passages answer. --sitemap reads the pages that a sitemap names, of its own host.

A page that this machine can reach and the server cannot is added with parlance kb add URL.`,
		Example: `  parlance kb web https://example.org/returns --every 24h --tag faq
  parlance kb web https://example.org/sitemap.xml --sitemap --max-pages 200 --every 7d
  parlance kb refresh example.org/returns`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error { return k.web(ctx, o, args) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.every, "every", "", `how often it is fetched again, "15m" to "30d"; default: once`)
	flags.StringVar(&o.name, "name", "", "name of the source, for a single page; default: its address")
	flags.StringSliceVar(&o.tags, "tag", nil, "tag of the sources; may be repeated")
	flags.BoolVar(&o.sitemap, "sitemap", false, "the URLs are sitemaps")
	flags.IntVar(&o.maxPages, "max-pages", 100, "with --sitemap: how many pages at most, 1 to 500")
	flags.BoolVar(&o.noWait, "no-wait", false, "do not wait until they are ready")
	return cmd
}

func (k *kb) web(ctx context.Context, o webOptions, urls []string) error {
	if o.name != "" && (o.sitemap || len(urls) > 1) {
		return command.Usagef("--name is for a single page")
	}
	var made []*parlancev1.Source
	for _, url := range urls {
		if o.sitemap {
			pages := int32(max(min(o.maxPages, 1<<20), -1))
			got, err := k.knowledge.CreateSitemapSources(ctx, &parlancev1.CreateSitemapSourcesRequest{
				WorkspaceId: k.WorkspaceID, Url: url, MaxPages: &pages, RefreshEvery: o.every, Tags: o.tags,
			})
			if err != nil {
				return k.Explain("read the sitemap", err)
			}
			k.Line("%s of %d in the sitemap; %d were there already.", term.Count(len(got.GetSources()), "page", "pages"),
				got.GetPagesFound(), got.GetPagesKnown())
			made = append(made, got.GetSources()...)
			continue
		}
		source, err := k.knowledge.CreateUrlSource(ctx, &parlancev1.CreateUrlSourceRequest{
			WorkspaceId: k.WorkspaceID, Url: url, Name: o.name, RefreshEvery: o.every, Tags: o.tags,
		})
		if err != nil {
			return k.Explain("add "+url, err)
		}
		made = append(made, source)
	}
	return k.await(ctx, made, o.noWait)
}

func newRefresh() *cobra.Command {
	var noWait bool
	cmd := &cobra.Command{
		Use: "refresh SOURCE…", Short: "Have the server fetch web pages now", Args: command.SomeArgs("SOURCE"),
		Example: `  parlance kb refresh example.org/returns`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error {
			sources, err := k.sources(ctx, args)
			if err != nil {
				return err
			}
			for i, source := range sources {
				sources[i], err = k.knowledge.RefreshSource(ctx, &parlancev1.RefreshSourceRequest{
					WorkspaceId: k.WorkspaceID, SourceId: source.GetId(),
				})
				if err != nil {
					return k.Explain("refresh "+source.GetName(), err)
				}
			}
			return k.await(ctx, sources, noWait)
		}),
	}
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until they are fetched")
	return cmd
}

// await says how sources end that were queued.
func (k *kb) await(ctx context.Context, sources []*parlancev1.Source, noWait bool) error {
	failed := 0
	for _, source := range sources {
		name := term.Clean(source.GetName())
		if noWait {
			k.Line("%s  %s is fetched by the server: parlance kb show %[1]s", source.GetId(), name)
			continue
		}
		ended, err := intake.Watch(ctx, k.knowledge, k.WorkspaceID, source.GetId(), func(*parlancev1.Source) {})
		if err != nil {
			return k.Explain("watch "+name, err)
		}
		why := ended.GetFetchError()
		if why == "" {
			why = ended.GetError().GetMessage()
		}
		switch {
		case ended.GetStatus() == "failed" || why != "":
			failed++
			k.Screen.Line("%s %s (%s): %s", k.Screen.Bad("✗"), name, ended.GetId(), term.Clean(why))
		default:
			k.Screen.Line("%s %s (%s): %s", k.Screen.Good("✓"), name, ended.GetId(), holdsWords(ended))
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d could not be fetched or read", failed, len(sources))
	}
	return nil
}

// webRows describe how a source with a URL is fetched.
func (k *kb) webRows(source *parlancev1.Source, row func(name, value string)) {
	if source.GetUrl() == "" {
		return
	}
	row("url", term.Clean(source.GetUrl()))
	every := "when asked: parlance kb refresh"
	if source.GetRefreshEvery() != "" {
		every = "every " + source.GetRefreshEvery()
	}
	row("fetched", strings.TrimPrefix(client.Moment(source.GetFetchedAt())+", "+every, ", "))
	row("not now", term.Clean(source.GetFetchError()))
}
