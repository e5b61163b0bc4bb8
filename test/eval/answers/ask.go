package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"parlance.dev/parlance/cli/client"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/provider/embedding/words"
	"parlance.dev/parlance/test/figures"
)

// question is a line of answers.jsonl or paraphrased.jsonl.
type question struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	Question string   `json:"question"`
	Document string   `json:"document"`
	Expect   []string `json:"expect"`
	Wrong    []string `json:"wrong"`
	Answer   string   `json:"answer"`
}

func read(file string) ([]question, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	var all []question
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		var q question
		if err := json.Unmarshal(scanner.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, q)
	}
	return all, scanner.Err()
}

// asker asks an agent.
type asker struct {
	workspace, agent string
	sessions         parlancev1connect.SessionServiceClient
	knowledge        parlancev1connect.KnowledgeServiceClient
}

// newAsker makes an agent with default settings.
func newAsker(ctx context.Context, where client.Installation) (asker, error) {
	caller, err := where.Client()
	if err != nil {
		return asker{}, err
	}
	agents := parlancev1connect.NewAgentServiceClient(caller, where.Base, where.Options()...)
	agent, err := agents.CreateAgent(ctx, &parlancev1.CreateAgentRequest{WorkspaceId: where.WorkspaceID, Name: "Answers"})
	if err != nil {
		return asker{}, fmt.Errorf("making the agent: %w", err)
	}
	return asker{
		workspace: where.WorkspaceID, agent: agent.GetId(),
		sessions:  parlancev1connect.NewSessionServiceClient(caller, where.Base, where.Options()...),
		knowledge: parlancev1connect.NewKnowledgeServiceClient(caller, where.Base, where.Options()...),
	}, nil
}

// ask asks in a session of its own.
func (a asker) ask(ctx context.Context, text string) (*parlancev1.CreateTurnResponse, error) {
	session, err := a.sessions.CreateSession(ctx, &parlancev1.CreateSessionRequest{AgentId: a.agent, UserId: "reader", Modality: "text"})
	if err != nil {
		return nil, fmt.Errorf("making a session: %w", err)
	}
	answer, err := a.sessions.CreateTurn(ctx, &parlancev1.CreateTurnRequest{SessionId: session.GetId(), Text: text})
	if err != nil {
		return nil, fmt.Errorf("asking %q: %w", text, err)
	}
	if _, err := a.sessions.EndSession(ctx, &parlancev1.EndSessionRequest{SessionId: session.GetId(), Status: "completed"}); err != nil {
		return nil, fmt.Errorf("ending a session: %w", err)
	}
	return answer, nil
}

// verdict says how a question was answered.
type verdict string

// The verdicts; doc.go describes them.
const (
	right   verdict = "right"
	mixed   verdict = "mixed"
	wrong   verdict = "wrong"
	refused verdict = "refused"
	falsely verdict = "false"
)

func judge(q question, turn *parlancev1.CreateTurnResponse) verdict {
	text := plain(turn.GetText())
	holds := func(part string) bool { return strings.Contains(text, plain(part)) }
	refusal := len(turn.GetCitations()) == 0
	switch {
	case q.Kind == "smalltalk" && refusal && !holds("I have no passage"):
		return right
	case q.Kind == "smalltalk":
		return wrong
	case len(q.Expect) == 0 && refusal: // no document answers
		return right
	case len(q.Expect) == 0:
		return falsely
	case refusal:
		return refused
	case !slices.ContainsFunc(q.Expect, holds):
		return wrong
	case slices.ContainsFunc(q.Wrong, holds):
		return mixed
	}
	return right
}

// plain is a text as texts are compared here: without case, layout and Markdown's marks.
func plain(text string) string {
	text = strings.NewReplacer("*", "", "’", "'", "`", "").Replace(strings.ToLower(text))
	return strings.Join(strings.Fields(text), " ")
}

// counts are the verdicts by kind of question.
type counts map[string]map[verdict]int

func (a asker) answers(ctx context.Context, file string, log io.Writer) (counts, error) {
	questions, err := read(file)
	if err != nil {
		return nil, err
	}
	all := counts{}
	for _, q := range questions {
		turn, err := a.ask(ctx, q.Question)
		if err != nil {
			return nil, err
		}
		v := judge(q, turn)
		if all[q.Kind] == nil {
			all[q.Kind] = map[verdict]int{}
		}
		all[q.Kind][v]++
		fmt.Fprintf(log, "%-8s %s %s %q\n         expect %q\n         %q\n", v, q.ID, q.Kind, q.Question, q.Expect, turn.GetText())
	}
	return all, nil
}

// The targets. Source: the project's plan for answers.
const (
	rightLeast = 70
	wrongMost  = 5
	falseMost  = 0.1
)

func (c counts) rows() []figures.Row {
	total := func(v verdict) (n int) {
		for _, kind := range c {
			n += kind[v]
		}
		return n
	}
	asked := 0
	for _, v := range []verdict{right, mixed, wrong, refused, falsely} {
		asked += total(v)
	}
	note := ""
	for _, kind := range []string{"answerable", "paraphrased", "language", "off-topic", "smalltalk"} {
		of := c[kind]
		note += fmt.Sprintf("%s: %d right, %d mixed, %d wrong, %d refused; ", kind, of[right], of[mixed], of[wrong], of[refused])
	}
	offTopic := c["off-topic"][right] + c["off-topic"][falsely]
	unit := fmt.Sprintf("of %d", asked)
	return []figures.Row{
		figures.Row{
			Name: "right answers of the built-in responder", Value: float64(total(right) + total(mixed)), Unit: unit, Better: "higher",
			Note: strings.TrimSuffix(note, "; "),
		}.To(rightLeast),
		figures.Row{Name: "wrong answers", Value: float64(total(wrong)), Unit: unit, Better: "lower"}.To(wrongMost),
		figures.Row{
			Name: "false answers off topic", Value: figures.Round(float64(c["off-topic"][falsely]) / float64(max(1, offTopic))),
			Unit: fmt.Sprintf("of %d", offTopic), Better: "lower",
		}.To(falseMost),
	}
}

// topHits is how many passages of a query are looked at.
const topHits = 3

// hits counts the questions whose answer is among the first passages, by words and meaning and by
// similarity alone.
func (a asker) hits(ctx context.Context, file string, log io.Writer) ([]figures.Row, error) {
	questions, err := read(file)
	if err != nil {
		return nil, err
	}
	var rows []figures.Row
	for _, ranking := range []string{"hybrid", "similarity"} {
		hit := 0
		for _, q := range questions {
			found, err := a.knowledge.QueryKnowledge(ctx, &parlancev1.QueryKnowledgeRequest{
				WorkspaceId: a.workspace, AgentId: a.agent, Q: q.Question, TopK: new(int32(topHits)), Ranking: ranking,
			})
			if err != nil {
				return nil, fmt.Errorf("querying %q: %w", q.Question, err)
			}
			if slices.ContainsFunc(found.GetChunks(), func(c *parlancev1.ScoredChunk) bool {
				return strings.Contains(plain(c.GetContent()), plain(q.Answer))
			}) {
				hit++
			} else {
				fmt.Fprintf(log, "missed by %s: %s %q\n", ranking, q.ID, q.Question)
			}
		}
		rows = append(rows, figures.Row{
			Name:  fmt.Sprintf("paraphrased questions with their answer in the first %d, %s ranking", topHits, ranking),
			Value: figures.Round(float64(hit) / float64(len(questions))), Unit: fmt.Sprintf("of %d", len(questions)), Better: "higher",
		})
	}
	return rows, nil
}

// floors counts what the floor of the built-in embedder lets through with hybrid ranking: questions
// off topic that get a passage, and questions that the documents answer whose answer is not among
// the five passages of a turn.
func (a asker) floors(ctx context.Context, file string, log io.Writer) ([]figures.Row, error) {
	questions, err := read(file)
	if err != nil {
		return nil, err
	}
	floor := words.New().Model().DefaultFloor
	var offTopic, through, answered, lost float64
	for _, q := range questions {
		if q.Kind == "smalltalk" || q.Kind == "paraphrased" {
			continue
		}
		found, err := a.knowledge.QueryKnowledge(ctx, &parlancev1.QueryKnowledgeRequest{
			WorkspaceId: a.workspace, AgentId: a.agent, Q: q.Question, Ranking: "hybrid", MinSimilarity: &floor,
		})
		if err != nil {
			return nil, fmt.Errorf("querying %q: %w", q.Question, err)
		}
		switch chunks := found.GetChunks(); {
		case len(q.Expect) == 0:
			offTopic++
			if len(chunks) > 0 {
				through++
				fmt.Fprintf(log, "let through: %s %q: %q\n", q.ID, q.Question, chunks[0].GetContent())
			}
		default:
			answered++
			if !slices.ContainsFunc(chunks, func(c *parlancev1.ScoredChunk) bool {
				return slices.ContainsFunc(q.Expect, func(part string) bool { return strings.Contains(plain(c.GetContent()), plain(part)) })
			}) {
				lost++
				fmt.Fprintf(log, "lost: %s %q, %d passages\n", q.ID, q.Question, len(chunks))
			}
		}
	}
	return []figures.Row{
		{
			Name: "questions off topic that get a passage", Value: figures.Round(through / max(1, offTopic)),
			Unit: fmt.Sprintf("of %.0f", offTopic), Better: "lower",
		},
		{
			Name: "questions whose answer is not among the passages", Value: figures.Round(lost / max(1, answered)),
			Unit: fmt.Sprintf("of %.0f", answered), Better: "lower",
		},
	}, nil
}
