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

// queryOptions are the flags of `parlance kb query`.
type queryOptions struct {
	ranking, explain string
	topK             int
	floor            float64
	rerank           bool
	whole, json      bool
	tags             tagFilter
}

func newQuery() *cobra.Command {
	var o queryOptions
	cmd := &cobra.Command{
		Use: "query QUESTION…", Short: "Ask what an agent would find", Args: command.SomeArgs("QUESTION"),
		Long: `Shows the passages that answer a question best among the sources attached to an agent, best first, with
their similarity (0 to 1), heading and page. Hybrid ranking, which turns of conversations use too, joins
an order by words and one by similarity: each passage says where it stood in both, and its scores there.
--explain says why a source is not among them.`,
		Example: `  parlance kb query "How long can I return a book?"
  parlance kb query --agent agt_01j… --ranking similarity --top-k 10 opening hours on Saturday
  parlance kb query "opening hours" --rerank
  parlance kb query "opening hours" --explain house-rules.md
  parlance kb query "opening hours" --json | jq '.chunks[].source_name'`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error { return k.query(ctx, o, strings.Join(args, " ")) }),
	}
	cmd.Flags().String("agent", "", "agent whose sources are searched, agt_… ["+command.EnvAgent+"]")
	cmd.Flags().StringVar(&o.ranking, "ranking", "hybrid", "hybrid: by words and similarity; or similarity")
	cmd.Flags().BoolVar(&o.rerank, "rerank", false, "have the reranking server order the best 30 anew, where the installation has one")
	cmd.Flags().IntVar(&o.topK, "top-k", 5, "how many passages, 1 to 50")
	cmd.Flags().Float64Var(&o.floor, "min-similarity", 0, "leave out passages that are less similar, 0 to 1")
	cmd.Flags().StringVar(&o.explain, "explain", "", "say why this source is not found; its id or name")
	o.tags.addTo(cmd)
	cmd.Flags().BoolVar(&o.whole, "whole", false, "print whole passages")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer of the API as JSON")
	return cmd
}

func (k *kb) query(ctx context.Context, o queryOptions, question string) error {
	if o.ranking != "similarity" && o.ranking != "hybrid" {
		return command.Usagef("--ranking is similarity or hybrid")
	}
	agent, err := k.ChooseAgent(k.AgentID)
	if err != nil {
		return err
	}
	topK := int32(max(min(o.topK, 1<<20), -1))
	req := &parlancev1.QueryKnowledgeRequest{
		WorkspaceId: k.WorkspaceID, AgentId: agent, Q: question, TopK: &topK,
		Ranking: o.ranking, Rerank: o.rerank, Tags: o.tags.proto(),
	}
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
		return k.Explain("ask the knowledge base", err)
	case o.json:
		return k.PrintMessage(answer)
	}
	if len(answer.GetChunks()) == 0 {
		k.nothingFound(ctx, agent)
	}
	for i, chunk := range answer.GetChunks() {
		k.found(i+1, chunk, o)
	}
	k.Screen.Line("\n%s", k.Screen.Dim(answer.GetRanking()+" ranking, embedding model "+term.Clean(answer.GetEmbeddingModel())))
	if said := rerankWords(answer.GetRerank()); said != "" {
		k.Screen.Line("%s", said)
	}
	if why := answer.GetExplanation(); why != nil {
		k.Screen.Line("\n%s: %s", k.Screen.Strong(term.Clean(explained.GetName())), strings.ReplaceAll(term.Clean(why.GetOutcome()), "_", " "))
		k.passage(why.GetMessage(), "", 0)
		if why.GetSimilarityPlace()+why.GetWordPlace() > 0 {
			k.Screen.Line("      its best: %s", strings.Join(placesWords(why.GetBestSimilarity(), why.GetSimilarityPlace(), 0,
				why.GetWordPlace()), "; "))
		}
	}
	return nil
}

// rerankWords explains why passages are not in the order of the reranking server.
func rerankWords(outcome string) string {
	switch outcome {
	case "failed":
		return "The reranking server failed or was too slow: this is the order from before it. The server's log says why."
	case "not_configured":
		return "The installation has no reranking server (PARLANCE_RERANK_BASE_URL): this is the order without one."
	}
	return ""
}

// scoresWords lists the ranks and scores of a passage in the rankings that were merged.
func scoresWords(chunk *parlancev1.ScoredChunk) string {
	words := placesWords(chunk.GetSimilarity(), chunk.GetSimilarityPlace(), chunk.GetWordScore(), chunk.GetWordPlace())
	if chunk.GetFusedScore() > 0 {
		words = append(words, fmt.Sprintf("fused %.4f", chunk.GetFusedScore()))
	}
	if chunk.RerankScore != nil {
		words = append(words, fmt.Sprintf("rerank %.3f", chunk.GetRerankScore()))
	}
	return strings.Join(words, "; ")
}

func placesWords(similarity float64, similarityPlace int32, wordScore float64, wordPlace int32) []string {
	place := func(n int32) string {
		if n == 0 {
			return "no place"
		}
		return fmt.Sprintf("place %d", n)
	}
	words := []string{fmt.Sprintf("similarity %.3f, %s", similarity, place(similarityPlace))}
	switch {
	case wordScore > 0:
		words = append(words, fmt.Sprintf("words %.2f, %s", wordScore, place(wordPlace)))
	case wordPlace > 0:
		words = append(words, "words "+place(wordPlace))
	}
	return words
}

// found prints one passage.
func (k *kb) found(place int, chunk *parlancev1.ScoredChunk, o queryOptions) {
	const bar = 10
	where := term.Clean(chunk.GetSourceName())
	if at := client.Place(chunk.GetHeading(), chunk.GetPageStart(), chunk.GetPageEnd()); at != "" {
		where += ": " + term.Clean(at)
	}
	head := fmt.Sprintf("%2d  %.2f ", place, chunk.GetSimilarity())
	room := max(k.Screen.Columns()-len(head)-bar-3, 20)
	if !k.Screen.Terminal {
		room = term.Width(where)
	}
	k.Screen.Line("%s%s%s  %s", gapBefore(place), head, k.Screen.Bar(chunk.GetSimilarity(), bar), k.Screen.Strong(term.CutMiddle(where, room)))
	if o.ranking == "hybrid" || o.rerank {
		k.Screen.Line("      %s", scoresWords(chunk))
	}
	most := 3
	if o.whole {
		most = 0
	}
	k.passage(chunk.GetContent(), chunk.GetHeading(), most)
}

// gapBefore separates passages by an empty line.
func gapBefore(place int) string {
	if place == 1 {
		return ""
	}
	return "\n"
}

// nothingFound prints the likely reason.
func (k *kb) nothingFound(ctx context.Context, agent string) {
	list, err := k.knowledge.ListSourceAttachments(ctx,
		&parlancev1.ListSourceAttachmentsRequest{WorkspaceId: k.WorkspaceID, AgentId: agent, PageSize: 1})
	if err == nil && len(list.GetAttachments()) == 0 {
		k.Line("Nothing is attached to %s: parlance kb attach --agent %s SOURCE…", agent, agent)
		return
	}
	k.Line("Nothing was found. With --explain SOURCE you are told why a source is not among the passages.")
}
