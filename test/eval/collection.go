package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// collection is a test collection: documents, questions, and which documents answer them.
type collection struct {
	documents []document
	questions []question
}

// document is one text.
type document struct {
	id, title, text string
}

// whole is the document as it is searched, by every ranking alike.
func (d document) whole() string {
	if d.title == "" || strings.HasPrefix(d.text, d.title) {
		return d.text
	}
	return d.title + "\n\n" + d.text
}

// question has the gains of its relevant documents; a document that is not there has none.
type question struct {
	id, text string
	gains    map[string]float64
}

// load reads the collection in a directory, of either form:
//
//   - SMART's, as Cranfield, CISI and CACM come: cran.all.1400, cran.qry and cranqrel, or *.ALL,
//     *.QRY and *.REL, or *.all, query.text and qrels.text. Every judged document counts the
//     same; Cranfield's -1 are of no interest. A judgement's question is the number of its place
//     in the file: that is so in each of them, and Cranfield's own numbers have holes.
//   - BEIR's: corpus.jsonl, queries.jsonl, and qrels.tsv or qrels/test.tsv with graded gains.
//
// Documents without text and questions without a relevant document are left out.
func load(dir string) (collection, error) {
	read := loadSMART
	if _, err := os.Stat(filepath.Join(dir, "corpus.jsonl")); err == nil {
		read = loadBEIR
	}
	c, err := read(dir)
	if err != nil {
		return collection{}, err
	}
	c.documents = slices.DeleteFunc(c.documents, func(d document) bool { return strings.TrimSpace(d.whole()) == "" })
	known := make(map[string]bool, len(c.documents))
	for _, d := range c.documents {
		if known[d.id] {
			return collection{}, fmt.Errorf("%s: two documents are called %q", dir, d.id)
		}
		known[d.id] = true
	}
	for _, q := range c.questions {
		for id := range q.gains {
			if !known[id] {
				delete(q.gains, id)
			}
		}
	}
	c.questions = slices.DeleteFunc(c.questions, func(q question) bool { return len(q.gains) == 0 || strings.TrimSpace(q.text) == "" })
	if len(c.documents) == 0 || len(c.questions) == 0 {
		return collection{}, fmt.Errorf("%s: no documents, or no question with a relevant one", dir)
	}
	return c, nil
}

// oneOf opens the only file that matches a pattern.
func oneOf(dir string, patterns ...string) (*os.File, error) {
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", pattern, err)
		}
		if len(found) == 1 {
			return os.Open(found[0])
		}
	}
	return nil, fmt.Errorf("%s has no file, or several, of the names %s", dir, strings.Join(patterns, ", "))
}

func loadSMART(dir string) (collection, error) {
	var c collection
	err := eachFile(dir, func(r io.Reader) error {
		records, err := readSMART(r)
		for _, record := range records {
			c.documents = append(c.documents, document{id: record[".I"], title: record[".T"], text: record[".W"]})
		}
		return err
	}, "cran.all.1400", "*.all*", "*.ALL")
	if err != nil {
		return c, err
	}
	err = eachFile(dir, func(r io.Reader) error {
		records, err := readSMART(r)
		for i, record := range records {
			c.questions = append(c.questions, question{id: strconv.Itoa(i + 1), text: record[".W"], gains: map[string]float64{}})
		}
		return err
	}, "*.qry", "*.QRY", "query.text")
	if err != nil {
		return c, err
	}
	return c, eachFile(dir, func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		for n := 1; lines.Scan(); n++ {
			fields := strings.Fields(lines.Text())
			if len(fields) == 0 {
				continue
			}
			if len(fields) < 2 {
				return fmt.Errorf("line %d has no question and document", n)
			}
			place, err := strconv.Atoi(fields[0])
			if err != nil || place < 1 || place > len(c.questions) {
				return fmt.Errorf("line %d: there is no question %q", n, fields[0])
			}
			if len(fields) > 2 && fields[2] == "-1" {
				continue
			}
			c.questions[place-1].gains[strings.TrimLeft(fields[1], "0")] = 1
		}
		return lines.Err() //nolint:wrapcheck // eachFile names the file
	}, "cranqrel", "*.REL", "qrels.text")
}

// eachFile reads the only file that matches.
func eachFile(dir string, read func(io.Reader) error, patterns ...string) error {
	file, err := oneOf(dir, patterns...)
	if err != nil {
		return err
	}
	err = read(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
	return nil
}

// readSMART reads records of fields: a line ".I 12" begins one, a line ".T" a field of it.
func readSMART(r io.Reader) ([]map[string]string, error) {
	var records []map[string]string
	field := ""
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := strings.Map(printable, strings.ToValidUTF8(lines.Text(), "�"))
		if id, ok := strings.CutPrefix(line, ".I "); ok {
			records = append(records, map[string]string{".I": strings.TrimLeft(strings.TrimSpace(id), "0")})
			field = ""
			continue
		}
		if trimmed := strings.TrimSpace(line); len(trimmed) == 2 && trimmed[0] == '.' && trimmed[1] >= 'A' && trimmed[1] <= 'Z' {
			field = trimmed
			continue
		}
		if len(records) == 0 || field == "" {
			if strings.TrimSpace(line) == "" {
				continue
			}
			return nil, fmt.Errorf("line %d is outside a record", n)
		}
		record := records[len(records)-1]
		if record[field] != "" {
			record[field] += "\n"
		}
		record[field] += line
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading records: %w", err)
	}
	return records, nil
}

// printable leaves out control characters, which some of these old files have and no text may.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\t' {
		return -1
	}
	return r
}

func loadBEIR(dir string) (collection, error) {
	var c collection
	type line struct {
		ID    string `json:"_id"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	each := func(add func(line)) func(io.Reader) error {
		return func(r io.Reader) error {
			for decoder := json.NewDecoder(r); ; {
				var one line
				if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return fmt.Errorf("reading a line of JSON: %w", err)
				}
				add(one)
			}
		}
	}
	err := eachFile(dir, each(func(l line) { c.documents = append(c.documents, document{l.ID, l.Title, l.Text}) }), "corpus.jsonl")
	if err != nil {
		return c, err
	}
	place := map[string]int{}
	err = eachFile(dir, each(func(l line) {
		place[l.ID] = len(c.questions)
		c.questions = append(c.questions, question{id: l.ID, text: l.Text, gains: map[string]float64{}})
	}), "queries.jsonl")
	if err != nil {
		return c, err
	}
	return c, eachFile(dir, func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		for n := 1; lines.Scan(); n++ {
			fields := strings.Fields(lines.Text())
			if n == 1 && len(fields) == 3 && fields[2] == "score" || len(fields) == 0 {
				continue
			}
			if len(fields) != 3 {
				return fmt.Errorf("line %d is not a question, a document and a score", n)
			}
			gain, err := strconv.ParseFloat(fields[2], 64)
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			if i, ok := place[fields[0]]; ok && gain > 0 {
				c.questions[i].gains[fields[1]] = gain
			}
		}
		return lines.Err() //nolint:wrapcheck // eachFile names the file
	}, "qrels.tsv", "qrels/test.tsv")
}
