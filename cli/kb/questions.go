package kb

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// parseQuestions parses questions with their sources, in CSV or JSON.
func parseQuestions(content []byte) (questions []*parlancev1.EvaluationQuestion, err error) {
	content = bytes.TrimSpace(bytes.TrimPrefix(content, []byte("\ufeff")))
	if bytes.HasPrefix(content, []byte("{")) || bytes.HasPrefix(content, []byte("[")) {
		questions, err = questionsOfJSON(content)
	} else {
		questions, err = questionsOfCSV(content)
	}
	if err == nil && len(questions) == 0 {
		err = errors.New("the file holds no questions")
	}
	for i, question := range questions {
		if err == nil && len(question.GetSourceIds())+len(question.GetSourceNames()) == 0 {
			err = fmt.Errorf("question %d (%q) names no source", i+1, question.GetQ())
		}
	}
	return questions, err
}

// question is one question in a JSON file.
type question struct {
	Q           string   `json:"q"`
	Sources     []string `json:"sources"`
	SourceIDs   []string `json:"source_ids"`
	SourceNames []string `json:"source_names"`
}

// questionsOfJSON parses an array, an object with the array "questions", or an object per line.
func questionsOfJSON(content []byte) ([]*parlancev1.EvaluationQuestion, error) {
	var list []question
	decoder := json.NewDecoder(bytes.NewReader(content))
	for {
		var value json.RawMessage
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("the questions are no JSON: %w", err)
		}
		some, err := questionsOfValue(value)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	questions := make([]*parlancev1.EvaluationQuestion, len(list))
	for i, one := range list {
		if one.Q == "" {
			return nil, fmt.Errorf(`question %d has no "q"`, i+1)
		}
		questions[i] = newQuestion(one.Q, one.Sources)
		questions[i].SourceIds = append(questions[i].SourceIds, one.SourceIDs...)
		questions[i].SourceNames = append(questions[i].SourceNames, one.SourceNames...)
	}
	return questions, nil
}

func questionsOfValue(value json.RawMessage) ([]question, error) {
	strict := func(into any) error {
		decoder := json.NewDecoder(bytes.NewReader(value))
		decoder.DisallowUnknownFields() // reports misspelt fields
		return decoder.Decode(into)
	}
	if value[0] == '[' {
		var list []question
		if err := strict(&list); err != nil {
			return nil, fmt.Errorf("the questions: %w", err)
		}
		return list, nil
	}
	var whole struct {
		Questions []question `json:"questions"`
	}
	if strict(&whole) == nil {
		return whole.Questions, nil
	}
	var one question
	if err := strict(&one); err != nil {
		return nil, fmt.Errorf("the questions: %w", err)
	}
	return []question{one}, nil
}

// questionsOfCSV parses columns by their titles; several sources are separated by semicolons.
func questionsOfCSV(content []byte) ([]*parlancev1.EvaluationQuestion, error) {
	reader := csv.NewReader(bytes.NewReader(content))
	reader.FieldsPerRecord, reader.TrimLeadingSpace = -1, true
	rows, err := reader.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("the questions are no CSV: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	titles := rows[0]
	q := slices.IndexFunc(titles, func(title string) bool { return slices.Contains([]string{"q", "question"}, strings.ToLower(title)) })
	sources := slices.IndexFunc(titles, func(title string) bool {
		return slices.Contains([]string{"sources", "source", "source_names", "source_ids"}, strings.ToLower(title))
	})
	if q < 0 || sources < 0 {
		return nil, errors.New(`the first line must hold the titles of the columns: q,sources`)
	}
	var questions []*parlancev1.EvaluationQuestion
	for i, row := range rows[1:] {
		if len(row) <= max(q, sources) {
			return nil, fmt.Errorf("line %d of the questions has %s, and needs the columns q and sources", i+2,
				term.Count(len(row), "column", "columns"))
		}
		questions = append(questions, newQuestion(row[q], strings.Split(row[sources], ";")))
	}
	return questions, nil
}

// newQuestion distinguishes ids from names.
func newQuestion(q string, sources []string) *parlancev1.EvaluationQuestion {
	made := &parlancev1.EvaluationQuestion{Q: q}
	for _, source := range sources {
		switch source = strings.TrimSpace(source); {
		case source == "":
		case strings.HasPrefix(source, "src_"):
			made.SourceIds = append(made.SourceIds, source)
		default:
			made.SourceNames = append(made.SourceNames, source)
		}
	}
	return made
}
