package exports

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind is what became of a member of an export.
type Kind string

// The kinds.
const (
	// Mapped members became a field of ours, which Row.To names.
	Mapped Kind = "mapped"
	// Cut members became a field in part: Row.To names it, and Row.Why says what was left out.
	Cut Kind = "cut"
	// Lost members have no counterpart; Row.Why says why.
	Lost Kind = "lost"
	// Anew is for ids, times and the like: an installation gives its own.
	Anew Kind = "anew"
	// Empty members are null, empty, or switched off, so there is nothing to bring over.
	Empty Kind = "empty"
)

// Row says what became of a member of an export and of all that is in it.
type Row struct {
	// File is the file that the member is in.
	File string `json:"file"`
	// Path is the place of the member, e.g. "model.tools[0].name". Values are never in it.
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
	// To is the field that the member became, e.g. "agent.instructions".
	To string `json:"to,omitempty"`
	// Why is a sentence for people.
	Why string `json:"why,omitempty"`
}

// tree is a decoded file and what became of its members so far.
type tree struct {
	file string
	root any
	rows map[string]Row
	// opened are the objects and lists whose members are looked at one by one.
	opened map[string]bool
	// tables are sentences for members without counterpart, by the path of the object they belong
	// to.
	tables map[string]table
}

// table has a sentence for each member that is known to have no counterpart. Its keys are paths
// below the object that the table belongs to, with [] for any place of a list.
type table map[string]string

// cutMark begins the sentences of cut.
const cutMark = "\x00cut"

// cut is what a setter returns that used a part of a value: the sentence says what is left out.
func cut(format string, args ...any) string { return cutMark + fmt.Sprintf(format, args...) }

// anew in a table marks what an installation gives itself.
const anew = "\x00anew"

func newTree(file string, root any) *tree {
	return &tree{file: file, root: root, rows: map[string]Row{}, opened: map[string]bool{}, tables: map[string]table{}}
}

// node is a place in a tree. The zero value is a place that is not there.
type node struct {
	tree  *tree
	path  string
	value any
}

func (t *tree) top() node { return node{tree: t, value: t.root} }

func (n node) exists() bool { return n.tree != nil }

// isObject and isList say whether members of the node can be looked at.
func (n node) isObject() bool { _, ok := n.value.(map[string]any); return ok }
func (n node) isList() bool   { _, ok := n.value.([]any); return ok }

// simpleKey matches keys that can stand in a path as they are.
var simpleKey = regexp.MustCompile(`^[A-Za-z0-9_$-]+$`)

// at returns a member of an object, and marks the object as looked at.
func (n node) at(key string) node {
	object, ok := n.value.(map[string]any)
	if !ok {
		return node{}
	}
	n.tree.opened[n.path] = true
	value, ok := object[key]
	if !ok {
		return node{}
	}
	return node{tree: n.tree, path: joinPath(n.path, key), value: value}
}

func joinPath(path, key string) string {
	switch {
	case !simpleKey.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// down follows several keys.
func (n node) down(keys ...string) node {
	for _, key := range keys {
		n = n.at(key)
	}
	return n
}

// keys are the names of an object's members, in alphabetical order.
func (n node) keys() []string {
	object, ok := n.value.(map[string]any)
	if !ok {
		return nil
	}
	n.tree.opened[n.path] = true
	return slices.Sorted(maps.Keys(object))
}

// items are the members of a list.
func (n node) items() []node {
	list, ok := n.value.([]any)
	if !ok {
		return nil
	}
	n.tree.opened[n.path] = true
	items := make([]node, len(list))
	for i, value := range list {
		items[i] = node{tree: n.tree, path: n.path + "[" + strconv.Itoa(i) + "]", value: value}
	}
	return items
}

// peek returns a text member without marking anything.
func (n node) peek(key string) string {
	object, _ := n.value.(map[string]any)
	text, _ := object[key].(string)
	return text
}

// has says whether a member is there, without marking anything.
func (n node) has(key string) bool {
	object, _ := n.value.(map[string]any)
	_, ok := object[key]
	return ok
}

// isRead says whether something was made of a tool already.
func (n node) isRead() bool {
	_, ok := n.tree.rows[joinPath(n.path, "type")]
	return ok
}

// note gives the node's object sentences for what has no counterpart in it.
func (n node) note(sentences table) {
	if n.exists() {
		n.tree.opened[n.path] = true
		n.tree.tables[n.path] = sentences
	}
}

// became says that the node is now a field of ours.
func (n node) became(to string) { n.set(Row{Kind: Mapped, To: to}) }

// lost says that the node has no counterpart.
func (n node) lost(format string, args ...any) {
	n.set(Row{Kind: Lost, Why: fmt.Sprintf(format, args...)})
}

// anew says that an installation gives its own.
func (n node) anew() { n.set(Row{Kind: Anew}) }

// like says that the same became of the node as of another one.
func (n node) like(other node) { n.set(other.tree.rows[other.path]) }

func (n node) set(row Row) {
	if n.exists() {
		row.File, row.Path = n.tree.file, n.path
		n.tree.rows[n.path] = row
	}
}

// isEmpty says whether a value says nothing: null, "", false, 0, or an object or list of such.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case bool:
		return !value
	case json.Number:
		number, err := value.Float64()
		return err == nil && number == 0
	case []any:
		return !slices.ContainsFunc(value, func(item any) bool { return !isEmpty(item) })
	case map[string]any:
		for _, member := range value {
			if !isEmpty(member) {
				return false
			}
		}
		return true
	}
	return false
}

// isUnset says whether a value is null or has nothing in it.
func isUnset(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return false
}

// index matches a place of a list in a path.
var index = regexp.MustCompile(`\[[0-9]+\]`)

// finish adds a row for each member that has none yet, and returns all rows by path.
func (t *tree) finish() []Row {
	t.walk(t.top(), nil)
	rows := make([]Row, 0, len(t.rows))
	for _, path := range slices.Sorted(maps.Keys(t.rows)) {
		rows = append(rows, t.rows[path])
	}
	return rows
}

// walk goes through the members that are looked at one by one. above are the paths with tables
// that n is in, the nearest last.
func (t *tree) walk(n node, above []string) {
	if _, done := t.rows[n.path]; done {
		return
	}
	if _, ok := t.tables[n.path]; ok {
		above = append(slices.Clone(above), n.path)
	}
	if t.opened[n.path] {
		for _, key := range n.keys() {
			t.walk(n.at(key), above)
		}
		for _, item := range n.items() {
			t.walk(item, above)
		}
		if !n.isObject() && !n.isList() || isUnset(n.value) {
			n.unknown(above)
		}
		return
	}
	n.unknown(above)
}

// unknown gives a node that nothing was made of its row.
func (n node) unknown(above []string) {
	why, known := n.sentence(above)
	switch {
	case known && why == anew:
		n.anew()
	case isUnset(n.value), known && isEmpty(n.value):
		n.set(Row{Kind: Empty})
	case known:
		n.lost("%s", why)
	default:
		n.lost("This version of Parlance does not know it.")
	}
}

func (n node) sentence(above []string) (string, bool) {
	for _, path := range slices.Backward(above) {
		below := strings.TrimPrefix(strings.TrimPrefix(n.path, path), ".")
		if why, ok := n.tree.tables[path][index.ReplaceAllString(below, "[]")]; ok {
			return why, true
		}
	}
	return "", false
}
