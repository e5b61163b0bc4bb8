package tenantwall

import (
	"strconv"
	"strings"

	"parlance.dev/parlance/platform/postgres"
)

// Verdict is the result of checking a statement.
type Verdict struct {
	// Problems is empty for a statement that passes.
	Problems []string
	// Tenants are the values that the statement compares tenant ids with or sets them to.
	Tenants []string
	// Mark is the reason why the statement may serve all tenants; empty if it may not.
	Mark string
}

// Check checks a statement and the values of its parameters. A statement that touches no table of
// tenants passes.
func (s *Schema) Check(sql string, args ...any) Verdict {
	if reason, marked := strings.CutPrefix(leadingComment(sql), postgres.AllTenants("")); marked {
		return Verdict{Mark: strings.TrimSpace(reason)}
	}
	tokens, err := scan(sql)
	if err != nil {
		return Verdict{Problems: []string{"the wall cannot read it: " + err.Error()}}
	}
	fillIn(tokens, args)
	r := &reader{schema: s, visited: map[int]bool{}}
	r.statement(tokens, nil, nil)
	r.unread(tokens, readable(tokens))
	settle(r.relations)
	for _, rel := range r.relations {
		if !rel.safe {
			r.problem(strings.TrimSpace("it "+rel.verb+" "+rel.table+" AS "+rel.alias) + " without its " +
				tenantColumn(rel.table) + whichElse(rel.table))
		}
	}
	return Verdict{Problems: r.problems, Tenants: r.tenants}
}

// fillIn replaces parameters by their values.
func fillIn(tokens []token, args []any) {
	for i, t := range tokens {
		if t.kind == group {
			fillIn(t.inner, args)
		}
		if t.kind != param {
			continue
		}
		n, err := strconv.Atoi(t.text[1:])
		if err != nil || n < 1 || n > len(args) {
			continue
		}
		if value, is := args[n-1].(string); is {
			tokens[i] = token{kind: text, text: value, at: t.at}
		}
	}
}

func whichElse(table string) string {
	if table == tenantsTable || table == workspacesTable {
		return ""
	}
	return " or workspace_id"
}

// settle spreads safety along the relations until nothing changes.
func settle(relations []*relation) {
	for changed := true; changed; {
		changed = false
		for _, rel := range relations {
			for _, other := range rel.follows {
				if !rel.safe && other.safe {
					rel.safe, changed = true, true
				}
			}
		}
	}
}

// readable reports whether the wall can read this kind of statement.
func readable(tokens []token) bool {
	return isQuery(tokens) || len(tokens) > 1 && tokens[0].is("explain") && isQuery(tokens[1:])
}

// unread finds tables of tenants that the reader skipped: a statement that it does not understand
// fails instead of passing.
func (r *reader) unread(list []token, known bool) {
	for i, t := range list {
		if t.kind == group {
			r.unread(t.inner, known)
		}
		if !t.isName() || r.visited[t.at] || !r.schema.guarded(t.text) {
			continue
		}
		if !known || i > 0 && list[i-1].is("from", "join", "into", "update", "using", "only", "table") {
			r.problem("the wall cannot read what it does with " + t.text)
		}
	}
}
