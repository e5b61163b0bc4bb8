package turns

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns/history"
	"parlance.dev/parlance/turns/prompt"
)

// prepare collects what the model needs: earlier turns, memory, passages, tools. A turn whose
// passages, memory or tools cannot be read goes on without them.
func (r *Runner) prepare(ctx context.Context) error {
	var err error = OfflineError(errNotKept)
	if !r.offline {
		err = r.S.ReachSession(ctx, r.Session.ID, r.prepareOnline)
	}
	if IsOffline(err) {
		err = r.prepareOffline(ctx)
	} else if err == nil {
		r.Start.Cache.setPrepared(prepared{r.before, r.summary, r.values, r.tools})
	}
	if err != nil {
		return err
	}
	r.Receipt.ToolsLeftOut = nil
	for tool := range r.tools.LeftOut() {
		r.Receipt.ToolsLeftOut = append(r.Receipt.ToolsLeftOut, sessions.ReceiptToolLeftOut{
			Reason: string(tool.DisabledReason), Slug: tool.Tool.Slug, ToolID: string(tool.Tool.ID),
		})
	}
	return r.addExtraTools()
}

func (r *Runner) prepareOnline(ctx context.Context) error {
	if err := r.readHistory(ctx); err != nil {
		return err
	}
	var err error
	if r.values, err = r.S.Variables(ctx, r.Session); err != nil {
		return err
	}
	r.readMemory(ctx)
	r.retrieve(ctx)
	if r.S.tools == nil || r.Aside {
		return ctx.Err()
	}
	begun := r.S.sessions.Now()
	defer func() { r.Receipt.Stage(sessions.StageToolList, begun, r.S.sessions.Now()) }()
	var ahead *tools.Prefetch
	if r.begun != nil {
		ahead = r.begun.Tools
	}
	r.tools, err = r.S.tools.ComposeSession(ctx, r.Session.Ref(), AgentOf(r.Session), string(r.Session.ID), r.values, ahead)
	if err != nil && ctx.Err() == nil {
		r.S.log.ErrorContext(ctx, "tools left out of the turn", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
		if r.Start.Cache != nil && postgres.IsAway(err) {
			return err
		}
	}
	return ctx.Err()
}

// prepareOffline collects what the model needs from the session cache. There are no passages.
func (r *Runner) prepareOffline(ctx context.Context) error {
	if r.Start.Cache == nil {
		return OfflineError(errNotKept)
	}
	k := r.Start.Cache.lastPrepared()
	r.summary, r.before, r.Earlier = k.summary, k.before, k.before.Messages()
	r.Receipt.History = &sessions.ReceiptHistory{Turns: len(k.before.Turns), Tokens: k.before.Tokens, SummarizedTurns: k.summary.Turns}
	if k.summary.Text != "" {
		r.Receipt.History.SummaryHash = sessions.HashOf(k.summary.Text)
	}
	values, err := r.S.sessions.PublicVariables(ctx, r.Session)
	if err != nil {
		return err
	}
	r.values = tools.NewVariables(values)
	r.values.Secret = k.values.Secret
	r.unreachable = r.S.retriever != nil && r.Turn.UserText != "" && !strings.HasPrefix(r.Turn.UserText, "/tool ")
	if !r.Aside {
		r.tools = k.tools
	}
	return ctx.Err()
}

// readHistory reads the summary and the earlier turns that the model sees.
func (r *Runner) readHistory(ctx context.Context) error {
	begun := r.S.sessions.Now()
	var told Summary
	var first *HistoryPage
	if r.begun != nil {
		told, first = r.begun.Summary, &r.begun.History
	} else {
		found, err := selectSummary(ctx, r.S.db, r.Session)
		if err != nil {
			return fmt.Errorf("reading summary: %w", err)
		}
		told = Summary{Text: found.Text, Turns: found.Turns}
	}
	session := r.Session
	session.SummarizedTurns = told.Turns // a summary may have been written since the session was read
	before, err := r.S.readPast(ctx, session, r.Turn.ID, history.Budget(r.Session), first)
	if err != nil {
		return err
	}
	r.summary = told
	r.before, r.Earlier = before, before.Messages()
	r.Receipt.History = &sessions.ReceiptHistory{Turns: len(before.Turns), Tokens: before.Tokens, SummarizedTurns: told.Turns}
	if told.Text != "" {
		r.Receipt.History.SummaryHash = sessions.HashOf(told.Text)
	}
	r.Receipt.Stage(sessions.StageHistory, begun, r.S.sessions.Now())
	return nil
}

// readPast reads finished turns, newest first, until the budget is spent, so its time does not
// depend on the session's length. except is left out. first is the first page when it has been read
// already; nil: it has not.
func (s *Service) readPast(
	ctx context.Context, session sessions.Session, except sessions.TurnID, budget int, first *HistoryPage,
) (history.Past, error) {
	var p history.Past
	page := first
	below := math.MaxInt32
	for {
		if page == nil {
			read, err := s.store.History(ctx, session, HistoryParams{Below: below, Limit: HistoryPageTurns})
			if err != nil {
				return history.Past{}, err
			}
			page = &HistoryPage{Turns: read, More: len(read) == HistoryPageTurns}
		}
		p.Turns = slices.Grow(p.Turns, len(page.Turns))
		for _, turn := range page.Turns {
			below = turn.Index
			if turn.Status == sessions.TurnInProgress || turn.ID == except {
				continue
			}
			if !p.Prepend(history.NewTurn(turn), budget) {
				p.Truncated = true
				slices.Reverse(p.Turns)
				return p, nil
			}
		}
		if !page.More {
			slices.Reverse(p.Turns)
			return p, nil
		}
		page = nil
	}
}

// searchable reports whether passages are searched for a text.
func (s *Service) searchable(text string) bool {
	return s.retriever != nil && text != "" && !strings.HasPrefix(text, "/tool ")
}

// retrieve searches passages for what the user said.
func (r *Runner) retrieve(ctx context.Context) {
	if !r.S.searchable(r.Turn.UserText) {
		return
	}
	settings, begun := r.Session.Config.Retrieval, r.S.sessions.Now()
	var search Search
	if r.begun != nil {
		search = r.begun.Search
	}
	if search == nil {
		search = r.S.retriever.Search(r.Session.Ref(), r.Session.AgentID, r.Session.Config.Retrieval.Filters())
	}
	passages, retrieval, err := search.Retrieve(ctx, r.Turn.UserText, RetrieveParams{
		TopK: settings.TopK, MinSimilarity: settings.MinSimilarity, Ranking: settings.Ranking, Rerank: settings.Rerank,
	})
	ended := r.S.sessions.Now()
	r.Turn.Retrieval = retrieval
	r.Receipt.Stage(sessions.StageRetrieval, begun, ended)
	r.Turn.Metrics.RetrievalMS = sessions.Milliseconds(ended.Sub(begun))
	if err != nil {
		r.unreachable = true
		if ctx.Err() == nil {
			r.S.log.WarnContext(ctx, "turn without passages", "session_id", r.Session.ID, "turn_id", r.Turn.ID, "error", err)
		}
		return
	}
	r.passages, r.Turn.Citations = passages, prompt.Citations(passages)
	r.Receipt.Passages = passages
}
