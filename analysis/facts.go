package analysis

import (
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
)

const (
	// maxFacts bounds the facts of one session, knownTokens the known facts in the prompt.
	maxFacts    = 20
	knownTokens = 2000
	// extractedConfidence is the confidence of a fact for which the model gives none.
	extractedConfidence = 0.7
)

// learnIntro tells the model what to look for.
//
//go:embed facts_prompt.txt
var learnIntro string

// learnRequest returns the request for facts about a user.
func learnRequest(session sessions.Session, spoken []sessions.Turn, known []memory.Item) model.Request {
	lines := make([]string, len(known))
	for i, item := range known {
		lines[i] = quote(item.Text)
	}
	return model.Request{
		Model: session.Config.Model.Name, System: learnIntro,
		Messages: []model.Message{{Role: model.RoleUser, Text: "<known>\n" + strings.Join(lines, "\n") + "\n</known>\n" +
			"<transcript>\n" + transcriptOf(spoken, session.ItemEdits) + "</transcript>\n\n" +
			"Now answer with the one JSON object, by your instructions alone."}},
		MaxOutputTokens: maxAnswerTokens,
		Metadata:        map[string]string{"session_id": string(session.ID)},
	}
}

// readFacts reads the facts from a model's answer. A fact without a word of the user's is left out.
func readFacts(text string, session sessions.Session, spoken []sessions.Turn, userText string) ([]memory.Fact, error) {
	object, ok := jsonObject(text)
	if !ok {
		return nil, errUnusable
	}
	var answer struct {
		Facts []struct {
			Text       string   `json:"text"`
			Kind       string   `json:"kind"`
			Category   string   `json:"category"`
			Attribute  string   `json:"attribute"`
			Turn       int      `json:"turn"`
			Confidence *float64 `json:"confidence"`
		} `json:"facts"`
	}
	if err := json.Unmarshal(object, &answer); err != nil {
		return nil, errors.Join(errUnusable, err)
	}
	var facts []memory.Fact
	for _, one := range answer.Facts {
		if len(facts) == maxFacts {
			break
		}
		if !memory.Grounded(one.Text, userText) {
			continue
		}
		fact := memory.Fact{SaidAt: spoken[0].StartedAt, AddParams: memory.AddParams{
			UserID: session.UserID, Kind: memory.Note, Text: sessions.StorableText(one.Text),
			Category: sessions.StorableText(one.Category), Attribute: sessions.StorableText(one.Attribute),
			Confidence: extractedConfidence, CreatedBy: memory.ByExtraction, AgentID: string(session.AgentID), SessionID: string(session.ID),
		}}
		if one.Kind == string(memory.Statement) {
			fact.Kind = memory.Statement
		}
		if one.Confidence != nil && *one.Confidence >= 0 && *one.Confidence <= 1 {
			fact.Confidence = *one.Confidence
		}
		for _, turn := range spoken {
			if turn.Index+1 == one.Turn {
				fact.TurnID, fact.SaidAt = string(turn.ID), turn.StartedAt
			}
		}
		fact.Pending = memory.NeedsConsent(session.Config.Memory.ConfirmCategories, fact.AddParams)
		facts = append(facts, fact)
	}
	return facts, nil
}
