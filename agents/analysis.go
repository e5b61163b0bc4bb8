package agents

import (
	"fmt"
	"slices"
	"strconv"

	"parlance.dev/parlance/fault"
)

// Analysis is what a model evaluates in each conversation after its end.
type Analysis struct {
	Enabled  bool            `json:"enabled"`
	Criteria []Criterion     `json:"criteria"`
	Data     []AnalysisField `json:"data"`
	// Language is that of what the model writes, BCP 47. Empty means that of the conversation.
	Language string `json:"language"`
}

// Criterion is a condition that a conversation meets or does not meet.
type Criterion struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Prompt describes when the criterion is met.
	Prompt string `json:"prompt"`
}

// AnalysisField is a value to extract from a conversation.
type AnalysisField struct {
	ID string `json:"id"`
	// Type is one of the types below.
	Type        string `json:"type"`
	Description string `json:"description"`
	// Enum are the values of a FieldEnum. Other types have none.
	Enum []string `json:"enum,omitempty"`
}

// The types of an AnalysisField.
const (
	FieldString  = "string"
	FieldNumber  = "number"
	FieldInteger = "integer"
	FieldBoolean = "boolean"
	FieldEnum    = "enum"
)

// IsZero says whether nothing is set, so that it is left out of the stored JSON.
func (a Analysis) IsZero() bool {
	return !a.Enabled && len(a.Criteria) == 0 && len(a.Data) == 0 && a.Language == ""
}

// check is Config.Check for the analysis. The rules of the proto have checked the single fields.
func (a Analysis) check() []fault.Field {
	var fields []fault.Field
	add := func(field, code, format string, args ...any) {
		fields = append(fields, fault.Field{Field: "analysis." + field, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if a.Language != "" && !languageTag.MatchString(a.Language) {
		add("language", "bcp47", `language must be a BCP 47 tag such as "en" or "de-CH".`)
	}
	seen := map[string]bool{}
	for i, c := range a.Criteria {
		if seen[c.ID] {
			add("criteria["+strconv.Itoa(i)+"].id", "unique", "There is another criterion %q.", c.ID)
		}
		seen[c.ID] = true
	}
	clear(seen)
	for i, d := range a.Data {
		at := "data[" + strconv.Itoa(i) + "]"
		if seen[d.ID] {
			add(at+".id", "unique", "There is another field %q.", d.ID)
		}
		seen[d.ID] = true
		if (d.Type == FieldEnum) != (len(d.Enum) > 0) {
			add(at+".enum", "enum", "A field of type enum needs its values, and no other type has any.")
		}
		if sorted := slices.Sorted(slices.Values(d.Enum)); len(slices.Compact(sorted)) != len(d.Enum) {
			add(at+".enum", "unique", "A value stands there twice.")
		}
	}
	return fields
}
