package evaluation

import "parlance.dev/parlance/knowledge"

// Comparison is what changed from one evaluation to another.
type Comparison struct {
	ComparedTo ID
	// Changes has one for each ranking that both have.
	Changes []Change
	// OnlyHere and OnlyThere count questions that one of the two has.
	OnlyHere  int
	OnlyThere int
}

// Change is what changed for a ranking, over the questions that both have.
type Change struct {
	Ranking       knowledge.Ranking
	RankingBefore knowledge.Ranking
	HitRate       float64
	MRR           float64
	Same          int
	Better        []Move
	Worse         []Move
}

// Move is a question whose answer changed its place; 0 is a miss.
type Move struct {
	Question   string
	RankBefore int
	Rank       int
}

// compare says what got better and worse from before to now. Questions are the same when their
// text is (a repeated one is taken once); a ranking is compared with itself, or with the other
// evaluation's only one when both have one.
func compare(before, now Evaluation) Comparison {
	there := byQuestion(before)
	here := byQuestion(now)
	c := Comparison{ComparedTo: before.ID}
	for question := range here {
		if _, ok := there[question]; !ok {
			c.OnlyHere++
		}
	}
	for question := range there {
		if _, ok := here[question]; !ok {
			c.OnlyThere++
		}
	}
	for i, m := range now.Metrics {
		if j, ok := counterpart(before, now, m.Ranking); ok {
			c.Changes = append(c.Changes, change(there, now, j, i, before.Metrics[j].Ranking))
		}
	}
	return c
}

// counterpart is the index of the ranking to compare with.
func counterpart(before, now Evaluation, ranking knowledge.Ranking) (int, bool) {
	for j, m := range before.Metrics {
		if m.Ranking == ranking {
			return j, true
		}
	}
	return 0, len(before.Metrics) == 1 && len(now.Metrics) == 1
}

// change compares the ranking i of now with the ranking j of what was there.
func change(there map[string]Result, now Evaluation, j, i int, rankingBefore knowledge.Ranking) Change {
	made := Change{Ranking: now.Metrics[i].Ranking, RankingBefore: rankingBefore}
	var ranksBefore, ranks []int
	seen := map[string]bool{}
	for _, result := range now.Results {
		old, ok := there[result.Question]
		if !ok || seen[result.Question] {
			continue
		}
		seen[result.Question] = true
		move := Move{Question: result.Question, RankBefore: old.Places[j].Rank, Rank: result.Places[i].Rank}
		ranksBefore, ranks = append(ranksBefore, move.RankBefore), append(ranks, move.Rank)
		switch {
		case move.Rank == move.RankBefore:
			made.Same++
		case move.Rank > 0 && (move.RankBefore == 0 || move.Rank < move.RankBefore):
			made.Better = append(made.Better, move)
		default:
			made.Worse = append(made.Worse, move)
		}
	}
	was, is := measure(ranksBefore), measure(ranks)
	made.HitRate, made.MRR = is.HitRate-was.HitRate, is.MRR-was.MRR
	return made
}

// byQuestion keeps the first result of each question.
func byQuestion(e Evaluation) map[string]Result {
	results := make(map[string]Result, len(e.Results))
	for _, result := range e.Results {
		if _, ok := results[result.Question]; !ok {
			results[result.Question] = result
		}
	}
	return results
}
