package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/sessions"
)

// announcer appends the events of closed sessions.
type announcer struct {
	sessions *sessions.Service
	seal     *seal.Keyring
	hasAudio func(ctx context.Context, db bun.IDB, session sessions.Session) (bool, error)
}

// appendPostCall appends the event of a closed session. The event's id is made from the session's,
// so that the outbox refuses a second one.
func (a announcer) appendPostCall(
	ctx context.Context, tx bun.Tx, session sessions.Session, turns []sessions.Turn, found map[Kind]Analysis, at time.Time,
) error {
	event := events.Event{
		ID:       string(idgen.Event) + strings.TrimPrefix(string(session.ID), string(idgen.Session)),
		TenantID: string(session.TenantID), WorkspaceID: string(session.WorkspaceID),
		Type: events.PostCallTranscription, Subject: string(session.ID), CreatedAt: at,
	}
	if session.KeepsNothing() {
		return a.appendSealed(ctx, tx, event, session, turns)
	}
	payload, err := newPostCall(session, turns)
	if err != nil {
		return err
	}
	if payload.Analysis, err = newCallAnalysis(found[Judging]); err != nil {
		return err
	}
	if payload.HasAudio, err = a.hasAudio(ctx, tx, session); err != nil {
		return err
	}
	payload.HasUserAudio, payload.HasResponseAudio = payload.HasAudio, payload.HasAudio // both channels of one file
	if session.Config.Memory.Enabled {
		learnt, err := memory.LearntTx(ctx, tx, session.Ref(), session.UserID, string(session.ID))
		if err != nil {
			return err
		}
		payload.Memory = newCallMemory(learnt, turns, string(cmp.Or(found[Learning].Status, None)))
	}
	if err := limitPayload(&event, payload, a.sessions.TranscriptURL(session.ID)); err != nil {
		return err
	}
	_, err = events.Append(ctx, tx, event)
	return err
}

// appendSealed appends the event of a session that keeps nothing: what endpoints get is sealed, and
// the feed has an event without content. Nothing is left out when it is large, because it cannot be
// read elsewhere.
func (a announcer) appendSealed(
	ctx context.Context, tx bun.Tx, event events.Event, session sessions.Session, turns []sessions.Turn,
) error {
	opened, err := a.sessions.OpenTurns(ctx, session, turns)
	if err != nil {
		return err
	}
	whole := session
	if whole.DynamicVariables, err = a.sessions.OpenVariables(ctx, session, session.DynamicVariables); err != nil {
		return err
	}
	payload, err := newPostCall(whole, opened)
	if err != nil {
		return err
	}
	event.Payload = payload
	body, err := events.Body(event)
	if err != nil {
		return err
	}
	if event.Sealed, err = a.seal.Seal(ctx, body, events.SealedBinding(event.TenantID, event.ID)); err != nil {
		return fmt.Errorf("sealing an event: %w", err)
	}
	payload.Withheld = new("zero_retention")
	payload.Transcript, payload.ConversationInitiationClientData = nil, &events.ConversationInitiation{}
	_, err = events.Append(ctx, tx, event)
	return err
}

// limitPayload sets the payload. While the event's body is too large, it leaves out the largest
// parts that can be read elsewhere.
func limitPayload(event *events.Event, payload *events.PostCallTranscriptionData, transcriptURL string) error {
	event.Payload = payload
	for _, cut := range []func(){
		func() {},
		func() { payload.Transcript, payload.Truncated, payload.TranscriptUrl = nil, true, transcriptURL },
		func() { payload.ConversationInitiationClientData.ConversationConfigOverride = nil },
		func() { payload.ConversationInitiationClientData.DynamicVariables = nil },
		func() {
			if payload.Memory != nil {
				payload.Memory.Learnt = nil
			}
		},
	} {
		cut()
		body, err := events.Body(*event)
		if err != nil || len(body) <= maxPostCallBytes {
			return err
		}
	}
	return nil
}

// needsAnalysis reports whether a session that is closing is to be analysed. Analyse finds out
// whether a language model answers.
func needsAnalysis(session sessions.Session, turns []sessions.Turn) bool {
	return session.Config.Analysis.Enabled && session.Config.Model.Provider != extractive.Name && userSpoke(turns)
}

// needsLearning reports whether a session that is closing is searched for facts about its user. A
// language model must have answered in it.
func needsLearning(session sessions.Session, turns []sessions.Turn) bool {
	config := session.Config.Memory
	return config.Enabled && !config.SkipExtraction && session.Config.Model.Provider != extractive.Name && userSpoke(turns) &&
		slices.ContainsFunc(turns, func(t sessions.Turn) bool { return t.Model != "" && t.Model != extractive.Name })
}

// userSpoke reports whether the user said anything.
func userSpoke(turns []sessions.Turn) bool {
	return slices.ContainsFunc(turns, func(t sessions.Turn) bool { return t.UserText != "" })
}
