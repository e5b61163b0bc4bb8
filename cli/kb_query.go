package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// kbQueryOptions are the flags of `parlance kb query`.
type kbQueryOptions struct {
	ranking, explain string
	topK             int
	floor            float64
	whole, json      bool
}

func newKBQuery() *cobra.Command {
	var o kbQueryOptions
	cmd := &cobra.Command{
		Use: "query QUESTION…", Short: "Ask what an agent would find", Args: someArgs("QUESTION"),
		Long: `Shows the passages nearest to a question among the sources attached to an agent, best first, with
their similarity (0 to 1), heading and page. --explain says why a source is not among them.`,
		Example: `  parlance kb query "How long can I return a book?"
  parlance kb query --agent agt_01j… --ranking hybrid --top-k 10 opening hours on Saturday
  parlance kb query "opening hours" --explain house-rules.md
  parlance kb query "opening hours" --json | jq '.chunks[].source_name'`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error { return k.query(ctx, o, strings.Join(args, " ")) }),
	}
	cmd.Flags().String("agent", "", "agent whose sources are searched, agt_… ["+envAgent+"]")
	cmd.Flags().StringVar(&o.ranking, "ranking", "", "similarity, or hybrid: with the words of the question too")
	cmd.Flags().IntVar(&o.topK, "top-k", 5, "how many passages, 1 to 50")
	cmd.Flags().Float64Var(&o.floor, "min-similarity", 0, "leave out passages that are less similar, 0 to 1")
	cmd.Flags().StringVar(&o.explain, "explain", "", "say why this source is not found; its id or name")
	cmd.Flags().BoolVar(&o.whole, "whole", false, "print whole passages")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer of the API as JSON")
	return cmd
}

func (k *kb) query(ctx context.Context, o kbQueryOptions, question string) error {
	if o.ranking != "" && o.ranking != "similarity" && o.ranking != "hybrid" {
		return usageError{errors.New("--ranking is similarity or hybrid")}
	}
	agent, err := k.agentID(k.where.agentID)
	if err != nil {
		return err
	}
	topK := int32(max(min(o.topK, 1<<20), -1)) //nolint:gosec // within its bounds; the API says which make sense
	req := &parlancev1.QueryKnowledgeRequest{WorkspaceId: k.where.workspaceID, AgentId: agent, Q: question, TopK: &topK, Ranking: o.ranking}
	if o.floor != 0 {
		req.MinSimilarity = &o.floor
	}
	var explained *parlancev1.Source
	if o.explain != "" {
		if explained, err = k.source(ctx, o.explain); err != nil {
			return err
		}
		req.Explain, req.ExplainSourceId = true, explained.GetId()
	}
	answer, err := k.knowledge.QueryKnowledge(ctx, req)
	switch {
	case err != nil:
		return k.where.explainCall("ask the knowledge base", err)
	case o.json:
		return k.printMessage(answer)
	}
	if len(answer.GetChunks()) == 0 {
		k.nothingFound(ctx, agent)
	}
	for i, chunk := range answer.GetChunks() {
		k.found(i+1, chunk, o.whole)
	}
	if why := answer.GetExplanation(); why != nil {
		k.screen.Line("\n%s: %s", k.screen.Strong(term.Clean(explained.GetName())), strings.ReplaceAll(term.Clean(why.GetOutcome()), "_", " "))
		k.passage(why.GetMessage(), "", 0)
	}
	return nil
}

// found prints one passage.
func (k *kb) found(place int, chunk *parlancev1.ScoredChunk, whole bool) {
	const bar = 10
	where := term.Clean(chunk.GetSourceName())
	if at := placeWords(chunk.GetHeading(), chunk.GetPageStart(), chunk.GetPageEnd()); at != "" {
		where += ": " + term.Clean(at)
	}
	head := fmt.Sprintf("%2d  %.2f ", place, chunk.GetSimilarity())
	room := max(k.screen.Columns()-len(head)-bar-3, 20)
	if !k.screen.Terminal {
		room = term.Width(where)
	}
	k.screen.Line("%s%s%s  %s", gapBefore(place), head, k.screen.Bar(chunk.GetSimilarity(), bar), k.screen.Strong(term.CutMiddle(where, room)))
	most := 3
	if whole {
		most = 0
	}
	k.passage(chunk.GetContent(), chunk.GetHeading(), most)
}

// gapBefore puts an empty line between passages.
func gapBefore(place int) string {
	if place == 1 {
		return ""
	}
	return "\n"
}

// nothingFound says what may be the reason.
func (k *kb) nothingFound(ctx context.Context, agent string) {
	list, err := k.knowledge.ListSourceAttachments(ctx, &parlancev1.ListSourceAttachmentsRequest{WorkspaceId: k.where.workspaceID, AgentId: agent, PageSize: 1})
	if err == nil && len(list.GetAttachments()) == 0 {
		k.line("Nothing is attached to %s: parlance kb attach --agent %s SOURCE…", agent, agent)
		return
	}
	k.line("Nothing was found. With --explain SOURCE you are told why a source is not among the passages.")
}
