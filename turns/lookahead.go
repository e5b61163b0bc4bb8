package turns

import (
	"context"
	"strings"
	"time"

	"parlance.dev/parlance/sessions"
)

// lookahead looks for passages while the lease is taken: what was said is known before.
type lookahead struct {
	cancel context.CancelFunc
	// done is closed behind what follows.
	done   chan struct{}
	text   string
	found  found
	broken bool
}

// found is what a retriever said.
type found struct {
	passages  []sessions.Passage
	retrieval *sessions.Retrieval
	err       error

	begun, ended time.Time
}

// askable says whether passages are looked for at all.
func (s *Service) askable(text string) bool {
	return s.retriever != nil && text != "" && !strings.HasPrefix(text, "/tool ")
}

// lookFor finds passages for a text.
func (r *Runner) lookFor(ctx context.Context, session sessions.Session, text string, ahead SourcesAhead) (f found) {
	settings := session.Config.Retrieval
	f.begun = r.S.sessions.Now()
	f.passages, f.retrieval, f.err = r.S.retriever.Retrieve(ctx, session.Ref(), session.AgentID, text,
		RetrieveParams{TopK: settings.TopK, MinSimilarity: settings.MinSimilarity, Ranking: settings.Ranking, Rerank: settings.Rerank, Ahead: ahead})
	f.ended = r.S.sessions.Now()
	return f
}

// lookAhead begins to look for passages when what was said is known; nil when it is not. Somebody calls stop.
func (r *Runner) lookAhead(ctx context.Context) *lookahead {
	known := r.Start.Known
	if known == nil || r.Config == nil || !r.S.askable(known.Said) || r.S.spill.IsAway() {
		return nil
	}
	session := known.Session
	session.Config = *r.Config
	ctx, cancel := context.WithCancel(ctx)
	l := &lookahead{cancel: cancel, done: make(chan struct{}), text: known.Said}
	sources := r.S.retriever.Ahead(session.Ref(), session.AgentID)
	known.sources = sources
	r.S.workers.Go(func() { // stop waits for it
		defer close(l.done)
		defer func() {
			l.broken = recover() != nil // it is looked for again, where a panic fails the turn
		}()
		l.found = r.lookFor(ctx, session, l.text, sources)
	})
	return l
}

// stop ends it, if it has not ended.
func (l *lookahead) Stop() {
	if l != nil {
		l.cancel()
		<-l.done
	}
}

// take is what was found for a text; false when something else was looked for, the lease had to be waited for, or the
// agent has other sources now: one that was detached must not answer.
func (l *lookahead) take(ctx context.Context, known *Known, text string) (found, bool) {
	if l == nil || !known.there || known.Said != text || l.text != text {
		return found{}, false
	}
	select {
	case <-l.done:
		return l.found, !l.broken && (known.sources == nil || known.sources.Held())
	case <-ctx.Done():
		return found{}, false
	}
}
