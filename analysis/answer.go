package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/sessions"
)

// errUnusable says that the model answered twice, and neither answer could be read.
var errUnusable = errors.New("the model's answers could not be used")

// Bounds of a model's texts, in bytes. With the largest number of criteria and data the event stays
// far below maxPostCallBytes.
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

// readAnalysis reads a model's answer. problems are sentences for the model about the answer's
// mistakes, in whose places the result has unknown or null. Errors: the text has no such JSON.
func readAnalysis(text string, config agents.Analysis) (result Result, problems []string, err error) {
	object, ok := jsonObject(text)
	if !ok {
		return Result{}, nil, errors.New("it holds no JSON object")
	}
	var answer analysisAnswer
	if err := json.Unmarshal(object, &answer); err != nil {
		return Result{}, nil, fmt.Errorf("it is not the JSON that was asked for: %w", err)
	}
	result.Summary = truncate(answer.Summary, maxSummaryBytes)
	if strings.TrimSpace(result.Summary) == "" {
		return Result{}, nil, errors.New("it has no summary")
	}
	for _, c := range config.Criteria {
		said := answer.Criteria[c.ID]
		if !isResult(said.Result) {
			problems = append(problems, fmt.Sprintf("criteria.%s.result must be success, failure or unknown.", c.ID))
			said.Result = Unknown
		}
		result.Criteria = append(result.Criteria, CriterionResult{
			ID: c.ID, Name: c.Name, Result: said.Result, Rationale: truncate(said.Rationale, maxRationaleBytes),
		})
	}
	for _, d := range config.Data {
		said, there := answer.Data[d.ID]
		value, ok := valueOf(said.Value, d)
		if !ok || !there {
			problems = append(problems, fmt.Sprintf("data.%s.value must be null or %s.", d.ID, describeType(d)))
		}
		result.Data = append(result.Data, DataResult{
			ID: d.ID, Type: d.Type, Value: value, Rationale: truncate(said.Rationale, maxRationaleBytes),
		})
	}
	switch {
	case len(config.Criteria) > 0:
		result.Success = successOf(result.Criteria)
	case isResult(answer.Success):
		result.Success = answer.Success
	default:
		problems = append(problems, "success must be success, failure or unknown.")
		result.Success = Unknown
	}
	return result, problems, nil
}

// jsonObject returns the JSON object in a model's answer. Models may put it into a code block, or
// write a sentence before it.
func jsonObject(text string) ([]byte, bool) {
	from, to := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if from < 0 || to < from {
		return nil, false
	}
	return []byte(text[from : to+1]), true
}

// isResult reports whether the text is a result of a criterion.
func isResult(text string) bool { return text == Success || text == Failure || text == Unknown }

// valueOf returns the value if it has the field's type. Otherwise it returns null, and whether the
// value was null.
func valueOf(raw json.RawMessage, field agents.AnalysisField) (value json.RawMessage, ok bool) {
	null := json.RawMessage("null")
	if len(raw) == 0 {
		return null, false
	}
	switch v := jsonvalue.Decode(raw).(type) {
	case nil:
		return null, true
	case string:
		if field.Type == agents.FieldString {
			return json.RawMessage(quote(truncate(v, maxValueBytes))), true
		}
		if field.Type == agents.FieldEnum && slices.Contains(field.Enum, v) {
			return json.RawMessage(quote(v)), true
		}
	case json.Number:
		number, err := v.Float64()
		switch {
		case err != nil:
		case field.Type == agents.FieldNumber:
			return json.RawMessage(v), true
		case field.Type == agents.FieldInteger && math.Abs(number) <= 1<<53 && number == math.Trunc(number):
			return strconv.AppendInt(nil, int64(number), 10), true
		case field.Type == agents.FieldInteger && math.Abs(number) > 1<<53 && !strings.ContainsAny(v.String(), ".eE"):
			return json.RawMessage(v), true // such as an account number
		}
	case bool:
		if field.Type == agents.FieldBoolean {
			return raw, true
		}
	}
	return null, false
}

// truncate returns a text that Postgres can store, of at most maxBytes.
func truncate(text string, maxBytes int) string {
	text = sessions.StorableText(text)
	if len(text) <= maxBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxBytes-len("…")], "") + "…"
}
