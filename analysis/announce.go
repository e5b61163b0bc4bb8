package analysis

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"google.golang.org/protobuf/encoding/protojson"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/sessions"
)

// appendPostCall appends the event of a closed session. The event's id is made from the session's,
// so that the outbox refuses a second one.
func appendPostCall(
	ctx context.Context, tx bun.Tx, session sessions.Session, turns []sessions.Turn, found map[Kind]Analysis,
	at time.Time, transcriptURL string,
) error {
	event := events.Event{
		ID:       string(idgen.Event) + strings.TrimPrefix(string(session.ID), string(idgen.Session)),
		TenantID: string(session.TenantID), WorkspaceID: string(session.WorkspaceID),
		Type: events.PostCallTranscription, Subject: string(session.ID), CreatedAt: at,
	}
	payload := newPostCall(session, turns)
	payload.Analysis = newCallAnalysis(found[Judging])
	if session.Config.Memory.Enabled {
		learnt, err := memory.LearntTx(ctx, tx, session.Ref(), session.UserID, string(session.ID))
		if err != nil {
			return err
		}
		payload.Memory = newCallMemory(learnt, turns, string(cmp.Or(found[Learning].Status, None)))
	}
	if err := limitPayload(&event, payload, transcriptURL); err != nil {
		return err
	}
	_, err := events.Append(ctx, tx, event)
	return err
}

// limitPayload sets the payload. While the event's body is too large, it leaves out the largest
// parts that can be read elsewhere.
func limitPayload(event *events.Event, payload postCall, transcriptURL string) error {
	for _, cut := range []func(){
		func() {},
		func() { payload.Transcript, payload.Truncated, payload.TranscriptURL = nil, true, transcriptURL },
		func() { payload.Initiation.Overrides = nil },
		func() { payload.Initiation.Variables = nil },
		func() {
			if payload.Memory != nil {
				payload.Memory.Learnt = nil
			}
		},
	} {
		cut()
		if err := setPayload(event, payload); err != nil {
			return err
		}
		body, err := events.Body(*event)
		if err != nil || len(body) <= maxPostCallBytes {
			return err
		}
	}
	return nil
}

// setPayload converts the payload to the event's message.
func setPayload(event *events.Event, payload postCall) error {
	encoded, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("encoding post_call_transcription: %w", err)
	}
	event.Payload = events.NewPayload(event.Type)
	if err := protojson.Unmarshal(encoded, event.Payload); err != nil {
		return fmt.Errorf("converting post_call_transcription: %w", err)
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
