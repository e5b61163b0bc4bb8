package kb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// maxQuestionsBytes limits a file of questions; 200 questions of the maximum length take less.
const maxQuestionsBytes = 16 << 20

// evalOptions are the flags of `parlance kb eval`.
type evalOptions struct {
	name, compareTo string
	rankings        []string
	topK            int
	misses, json    bool
}

func newEval() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use: "eval FILE", Short: "Measure how well questions with known answers are found", Args: command.ExactArgs("FILE"),
		Long: `Asks an agent's sources questions of which you know the sources that answer them, and says how many
were hits (an expected source among the first --top-k passages), and the mean reciprocal rank: 1 when
the right source is always first, ½ when always second. Only the search is run, no model. The result
is stored; do it before and after a change and compare.

The questions are at most 200, in one of these forms:

  CSV, with a line of titles          q,sources
                                      How long can I return a book?,returns.md
                                      When do you close?,hours.html;holidays.md
  JSON, an array or one a line        {"q": "How long can I return a book?", "sources": ["returns.md"]}

A source is named by its name or id.`,
		Example: `  parlance kb eval questions.csv --name before
  parlance kb eval questions.csv --name after --compare-to evl_01j… --misses
  parlance kb eval questions.json --ranking hybrid --top-k 3 --json`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error {
			questions, err := readQuestions(k.In, args[0])
			if err != nil {
				return command.Usage(err)
			}
			return k.evaluate(ctx, o, questions)
		}),
	}
	cmd.Flags().String("agent", "", "agent whose sources are searched, agt_… ["+command.EnvAgent+"]")
	cmd.Flags().StringVar(&o.name, "name", "", "what this evaluation is called")
	cmd.Flags().StringVar(&o.compareTo, "compare-to", "", "an earlier evaluation, evl_…: say what got better and worse")
	cmd.Flags().StringSliceVar(&o.rankings, "ranking", nil, "similarity or hybrid; default: both")
	cmd.Flags().IntVar(&o.topK, "top-k", 5, "how many passages a question may take, 1 to 50")
	cmd.Flags().BoolVar(&o.misses, "misses", false, "list the questions that were not found, and why")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer of the API as JSON")
	return cmd
}

// readQuestions reads a file, or - for the standard input.
func readQuestions(stdin io.Reader, path string) ([]*parlancev1.EvaluationQuestion, error) {
	from := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // only read
		from = file
	}
	content, err := io.ReadAll(io.LimitReader(from, maxQuestionsBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the questions: %w", err)
	case len(content) > maxQuestionsBytes:
		return nil, errors.New("the file of questions is larger than 16 MiB")
	}
	return parseQuestions(content)
}

func (k *kb) evaluate(ctx context.Context, o evalOptions, questions []*parlancev1.EvaluationQuestion) error {
	agent, err := k.ChooseAgent(k.AgentID)
	if err != nil {
		return err
	}
	topK := int32(max(min(o.topK, 1<<20), -1))
	made, err := k.knowledge.CreateKnowledgeEvaluation(ctx, &parlancev1.CreateKnowledgeEvaluationRequest{
		WorkspaceId: k.WorkspaceID, AgentId: agent, Name: o.name, TopK: &topK, Rankings: o.rankings, Questions: questions,
	})
	if err != nil {
		return k.Explain("evaluate", err)
	}
	if o.compareTo != "" {
		made, err = k.knowledge.GetKnowledgeEvaluation(ctx, &parlancev1.GetKnowledgeEvaluationRequest{
			WorkspaceId: k.WorkspaceID, EvaluationId: made.GetId(), CompareTo: o.compareTo,
		})
		if err != nil {
			return k.Explain("compare", err)
		}
	}
	if o.json {
		return k.PrintMessage(made)
	}
	k.showEvaluation(made)
	if o.misses {
		k.showMisses(made)
	}
	if made.GetComparison() != nil {
		k.showComparison(made.GetComparison())
	}
	k.Screen.Line("\nStored as %s. After a change: parlance kb eval FILE --compare-to %s", made.GetId(), made.GetId())
	return nil
}

// showEvaluation prints a line for each ranking.
func (k *kb) showEvaluation(made *parlancev1.KnowledgeEvaluation) {
	columns := []term.Column{{Title: "RANKING"}, {Title: "HITS", Right: true}, {Title: "HIT RATE", Right: true}, {Title: "MRR", Right: true}}
	var rows [][]term.Cell
	for _, one := range made.GetMetrics() {
		rows = append(rows, []term.Cell{
			{Text: one.GetRanking()},
			{Text: fmt.Sprintf("%d of %d", one.GetHits(), made.GetQuestionCount())},
			{Text: fmt.Sprintf("%.1f %%", one.GetHitRate()*100)},
			{Text: fmt.Sprintf("%.3f", one.GetMrr())},
		})
	}
	k.Screen.Draw(k.Screen.Table(columns, rows), nil)
}

// showMisses prints the questions whose sources were not found, for each ranking.
func (k *kb) showMisses(made *parlancev1.KnowledgeEvaluation) {
	for _, result := range made.GetResults() {
		for _, place := range result.GetPlaces() {
			if place.GetRank() == 0 {
				k.Line("\n%s  %s\n    %s: %s, similarity %.2f", "✗", result.GetQ(), place.GetRanking(),
					strings.ReplaceAll(place.GetOutcome(), "_", " "), place.GetSimilarity())
			}
		}
	}
}

// showComparison prints what changed since the earlier evaluation.
func (k *kb) showComparison(change *parlancev1.EvaluationComparison) {
	for _, one := range change.GetChanges() {
		k.Line("\n%s since %s: hit rate %+.1f %%, MRR %+.3f; %d better, %d worse, %d the same", one.GetRanking(), change.GetComparedTo(),
			one.GetHitRateChange()*100, one.GetMrrChange(), len(one.GetBetter()), len(one.GetWorse()), int(one.GetSame()))
		for _, move := range one.GetBetter() {
			k.Line("  %s %s: %s → %s", "↑", move.GetQ(), rankWords(move.GetRankBefore()), rankWords(move.GetRank()))
		}
		for _, move := range one.GetWorse() {
			k.Line("  %s %s: %s → %s", "↓", move.GetQ(), rankWords(move.GetRankBefore()), rankWords(move.GetRank()))
		}
	}
	if only := change.GetOnlyHere(); only > 0 {
		k.Line("\n%s only here", term.Count(int(only), "question is", "questions are"))
	}
}

func rankWords(rank int32) string {
	if rank == 0 {
		return "not found"
	}
	return fmt.Sprintf("place %d", rank)
}
