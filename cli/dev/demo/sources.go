package demo

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

//go:embed knowledge/*.md
var documents embed.FS

// document is one text of the knowledge base. Its first line is "# " and its name.
type document struct {
	name    string
	content string
}

func readDocuments() ([]document, error) {
	paths, err := fs.Glob(documents, "knowledge/*.md")
	if err != nil {
		return nil, err
	}
	list := make([]document, len(paths))
	for i, path := range paths {
		content, err := documents.ReadFile(path)
		if err != nil {
			return nil, err
		}
		title, _, _ := strings.Cut(string(content), "\n")
		name, ok := strings.CutPrefix(title, "# ")
		if !ok {
			return nil, fmt.Errorf("%s does not begin with its title", path)
		}
		list[i] = document{name, string(content)}
	}
	return list, nil
}

// sources makes missing sources, and replaces those whose text is not this binary's.
func (d Deps) sources(ctx context.Context, ref workspaces.Ref) ([]knowledge.SourceID, error) {
	wanted, err := readDocuments()
	if err != nil {
		return nil, err
	}
	there, err := d.inlineSources(ctx, ref)
	if err != nil {
		return nil, err
	}
	ids := make([]knowledge.SourceID, len(wanted))
	for i, doc := range wanted {
		if ids[i], err = d.source(ctx, ref, doc, there[doc.name]); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// source keeps, replaces or makes one source. there is the zero Source when it is missing.
func (d Deps) source(ctx context.Context, ref workspaces.Ref, doc document, there knowledge.Source) (knowledge.SourceID, error) {
	sum := sha256.Sum256([]byte(doc.content))
	if there.SHA256 == hex.EncodeToString(sum[:]) {
		if there.Status != knowledge.StatusFailed {
			return there.ID, nil
		}
		again, err := d.Knowledge.Reprocess(ctx, ref, there.ID, knowledge.ReprocessParams{})
		return again.ID, err
	}
	if there.ID != "" {
		if err := d.Knowledge.Delete(ctx, ref, there.ID); err != nil {
			return "", err
		}
	}
	made, err := d.Knowledge.CreateInline(ctx, ref, doc.name, doc.content)
	return made.ID, err
}

func (d Deps) inlineSources(ctx context.Context, ref workspaces.Ref) (map[string]knowledge.Source, error) {
	list, err := command.All(func(token string) ([]knowledge.Source, string, error) {
		return d.Knowledge.List(ctx, ref, knowledge.ListParams{PageParams: postgres.PageParams{Size: postgres.MaxPageSize, Token: token}})
	})
	byName := map[string]knowledge.Source{}
	for _, source := range list {
		if source.Kind == knowledge.KindInline {
			byName[source.Name] = source
		}
	}
	return byName, err
}

// AttachWhenReady waits until a worker has ingested the sources, and attaches them to the agent. It
// returns the names of failed sources with the reasons.
func AttachWhenReady(ctx context.Context, d Deps, made Installation) (failed []string, err error) {
	var ready []knowledge.SourceID
	for _, id := range made.Sources {
		var last knowledge.Source
		err := d.Knowledge.Watch(ctx, made.Ref, id, func(source knowledge.Source) error { last = source; return nil })
		if err != nil {
			return failed, fmt.Errorf("wait for a source: %w", err)
		}
		if !last.Usable() {
			failed = append(failed, last.Name+": "+last.ErrorMessage)
			continue
		}
		ready = append(ready, id)
	}
	if len(ready) == 0 {
		return failed, nil
	}
	_, err = d.Knowledge.Attach(ctx, made.Ref, knowledge.AttachParams{AgentID: made.AgentID, SourceIDs: ready})
	if err != nil {
		return failed, fmt.Errorf("attach the sources: %w", err)
	}
	return failed, nil
}
