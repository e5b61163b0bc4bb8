package turns

import (
	"context"
	"strings"
	"time"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
)

// offlineLookup bounds the search for what answers while Postgres is away.
const offlineLookup = 2 * time.Second

// prepareOffline collects what the model needs from the session cache. There are no passages.
func (r *Runner) prepareOffline(ctx context.Context) error {
	k := r.Start.Cache
	if k == nil {
		return OfflineError(errNotKept)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r.summary, r.before, r.Earlier = k.summary, k.before, k.before.messages()
	r.Receipt.History = &sessions.ReceiptHistory{Turns: len(k.before.turns), Tokens: k.before.tokens, SummarizedTurns: k.summary.Turns}
	if k.summary.Text != "" {
		r.Receipt.History.SummaryHash = sessions.HashOf(k.summary.Text)
	}
	r.values = tools.NewVariables(sessions.PublicVariables(r.Session, r.S.sessions.Now()))
	r.values.Secret = k.values.Secret
	r.unreachable = r.S.retriever != nil && r.Turn.UserText != "" && !strings.HasPrefix(r.Turn.UserText, "/tool ")
	if !r.Aside {
		r.tools = k.tools
	}
	return ctx.Err()
}

// answering finds what answers. While Postgres is away it is what answered last: the workspace's
// own keys cannot be read.
func (r *Runner) answering(ctx context.Context) (provider model.Provider, err error) {
	k := r.Start.Cache
	find := func(ctx context.Context) error {
		provider, err = r.provider(ctx)
		return err
	}
	if k != nil && (r.offline || r.S.Offline()) {
		k.mu.Lock()
		provider = k.provider
		k.mu.Unlock()
		if provider != nil {
			return provider, nil
		}
		bounded, cancel := context.WithTimeout(ctx, offlineLookup)
		defer cancel()
		return provider, find(bounded)
	}
	if err := find(ctx); err != nil {
		return nil, err
	}
	k.setProvider(provider)
	return provider, nil
}
