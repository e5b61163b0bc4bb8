package guards

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Text is a text from outside. Tool is the tool whose answer it is, empty for other texts.
type Text struct{ Tool, Text string }

// Findings are what Inspect found in the texts that came into a turn from outside.
type Findings struct {
	texts []outsideText
	// instructs says that the texts, read as one, instruct a model; mayInstruct that they may.
	instructs, mayInstruct bool
	// values are the ids, numbers and other single words of JSON answers of tools, which are data.
	values map[string]bool
}

// outsideText is one text with its findings.
type outsideText struct {
	// tool is the tool whose answer it is; empty for other texts.
	tool                   string
	views                  []*view
	instructs, mayInstruct bool
}

// Inspect examines the texts that came into a turn from outside.
func Inspect(texts []Text) Findings {
	found := Findings{values: map[string]bool{}}
	var all []string
	for _, p := range texts {
		all = append(all, p.Text)
		one := outsideText{tool: p.Tool, views: viewsOf(p.Text)}
		one.instructs, one.mayInstruct = findDirectives(one.views, false)
		found.instructs, found.mayInstruct = found.instructs || one.instructs, found.mayInstruct || one.mayInstruct
		found.texts = append(found.texts, one)
		var value any
		if p.Tool != "" && json.Unmarshal([]byte(p.Text), &value) == nil {
			for _, leaf := range leaves(value) {
				if !strings.ContainsFunc(leaf, unicode.IsSpace) && len(leaf) <= maxValueBytes {
					found.values[fold(leaf)] = true
				}
			}
		}
	}
	if !found.instructs && len(all) > 1 { // a directive may be split over two texts
		instructs, mayInstruct := findDirectives(viewsOf(strings.Join(all, " ")), found.mayInstruct)
		found.instructs, found.mayInstruct = instructs, found.mayInstruct || mayInstruct // a pattern may match the beginning of one text only
		for i := range found.texts {
			found.texts[i].instructs, found.texts[i].mayInstruct = found.instructs, found.mayInstruct
		}
	}
	return found
}

// maxValueBytes is the longest single word that counts as data.
const maxValueBytes = 64

// directives compiles the patterns when a call is first examined, so that commands that talk to
// nobody start without them.
var directives = sync.OnceValue(func() *matcher { return newMatcher(directiveFiles) })

// findDirectives reports whether a view of a text instructs a model, in words for models, or may
// instruct one, in words that people also use. It does not look for the latter when known is set.
func findDirectives(views []*view, known bool) (instructs, mayInstruct bool) {
	mayInstruct = known
	for _, view := range views {
		if instructs, mayInstruct = directives().match(collapseBlanks(view.text), mayInstruct); instructs {
			return true, true
		}
	}
	return false, mayInstruct
}

// mentions reports whether a text has the words of the tool's name, or synonyms of them.
func (t outsideText) mentions(name string) bool {
	return hasAll(t.views[0].stemSet(), actionStems(name))
}

// speaksOf reports whether a text, in any disguise, has one of the words of the tool's name, or a
// synonym of it.
func (t outsideText) speaksOf(name string) bool {
	stems := actionStems(name)
	return slices.ContainsFunc(t.views, func(view *view) bool {
		return slices.ContainsFunc(stems, func(stem string) bool { return saidOrSynonym(view.stemSet(), stem) })
	})
}

// leaves returns the strings and numbers of a JSON value.
func leaves(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case float64:
		text, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		return []string{string(text)}
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, leaves(one)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, one := range v {
			all = append(all, leaves(one)...)
		}
		return all
	}
	return nil
}
