package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/sessions"
)

// Bounds of what a model may write, in bytes: with the most criteria and data the event stays far below
// maxPostCallBytes.
const (
	maxSummaryBytes   = 4000
	maxRationaleBytes = 600
	maxValueBytes     = 1000
)

// analysisAnswer is the JSON that a model is asked for.
type analysisAnswer struct {
	Summary  string `json:"summary"`
	Success  string `json:"success"`
	Criteria map[string]struct {
		Result    string `json:"result"`
		Rationale string `json:"rationale"`
	} `json:"criteria"`
	Data map[string]struct {
		Value     json.RawMessage `json:"value"`
		Rationale string          `json:"rationale"`
	} `json:"data"`
}

// readAnalysis makes a result of what a model wrote. Problems are what it got wrong, for the model: what
// is concerned is unknown or null in the result. Errors: it is no such JSON at all.
func readAnalysis(text string, wanted agents.Analysis) (result AnalysisResult, problems []string, err error) {
	// Models like to put JSON into a code block, or a sentence before it.
	from, to := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if from < 0 || to < from {
		return AnalysisResult{}, nil, errors.New("it holds no JSON object")
	}
	var answer analysisAnswer
	if err := json.Unmarshal([]byte(text[from:to+1]), &answer); err != nil {
		return AnalysisResult{}, nil, fmt.Errorf("it is not the JSON that was asked for: %w", err)
	}
	result.Summary = bounded(answer.Summary, maxSummaryBytes)
	if strings.TrimSpace(result.Summary) == "" {
		return AnalysisResult{}, nil, errors.New("it has no summary")
	}
	for _, c := range wanted.Criteria {
		said := answer.Criteria[c.ID]
		if !isResult(said.Result) {
			problems = append(problems, fmt.Sprintf("criteria.%s.result must be success, failure or unknown.", c.ID))
			said.Result = Unknown
		}
		result.Criteria = append(result.Criteria, CriterionResult{ID: c.ID, Name: c.Name, Result: said.Result, Rationale: bounded(said.Rationale, maxRationaleBytes)})
	}
	for _, d := range wanted.Data {
		said, there := answer.Data[d.ID]
		value, ok := valueOf(said.Value, d)
		if !ok || !there {
			problems = append(problems, fmt.Sprintf("data.%s.value must be null or %s.", d.ID, typeInWords(d)))
		}
		result.Data = append(result.Data, DataResult{ID: d.ID, Type: d.Type, Value: value, Rationale: bounded(said.Rationale, maxRationaleBytes)})
	}
	switch {
	case len(wanted.Criteria) > 0:
		result.Success = successOf(result.Criteria)
	case isResult(answer.Success):
		result.Success = answer.Success
	default:
		problems = append(problems, "success must be success, failure or unknown.")
		result.Success = Unknown
	}
	return result, problems, nil
}

func isResult(text string) bool { return text == Success || text == Failure || text == Unknown }

// valueOf is the value if it is of the field's type; null, and whether it was that, otherwise.
func valueOf(raw json.RawMessage, field agents.AnalysisField) (value json.RawMessage, ok bool) {
	null := json.RawMessage("null")
	var parsed any
	if len(raw) == 0 || json.Unmarshal(raw, &parsed) != nil {
		return null, false
	}
	switch v := parsed.(type) {
	case nil:
		return null, true
	case string:
		if field.Type == agents.FieldString {
			return json.RawMessage(quoted(bounded(v, maxValueBytes))), true
		}
		if field.Type == agents.FieldEnum && slices.Contains(field.Enum, v) {
			return json.RawMessage(quoted(v)), true
		}
	case float64:
		if field.Type == agents.FieldNumber || (field.Type == agents.FieldInteger && v == math.Trunc(v) && math.Abs(v) <= 1<<53) {
			encoded, err := json.Marshal(v)
			return encoded, err == nil
		}
	case bool:
		if field.Type == agents.FieldBoolean {
			return raw, true
		}
	}
	return null, false
}

// bounded is a text that Postgres can keep, of at most most bytes.
func bounded(text string, most int) string {
	text = sessions.StorableText(text)
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}
