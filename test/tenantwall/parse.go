package tenantwall

import (
	"slices"
	"strings"
)

// relation is a table, or what stands for one, in a FROM list or as a statement's target.
type relation struct {
	// table is empty for CTEs, sub-selects and functions.
	table string
	alias string
	// verb is what the statement does to it, for people.
	verb string
	// safe says that the rows are bound to a tenant.
	safe bool
	// follows are relations to whose rows this one's are bound.
	follows []*relation
}

// scope is what column names mean in a query.
type scope struct {
	relations []*relation
	outer     *scope
}

// names are the CTEs that a query sees.
type names struct {
	name  string
	outer *names
}

func (n *names) has(name string) bool {
	return n != nil && (n.name == name || n.outer.has(name))
}

// reader takes a statement apart.
type reader struct {
	schema *Schema
	// relations are all of guarded tables.
	relations []*relation
	// visited are the places of tables that were understood.
	visited map[int]bool
	// tenants are the values that tenant ids are compared with or set to.
	tenants  []string
	problems []string
}

func (r *reader) problem(what string) {
	if !slices.Contains(r.problems, what) {
		r.problems = append(r.problems, what)
	}
}

// statement reads a whole statement; outer is nil unless it stands in another.
func (r *reader) statement(list []token, ctes *names, outer *scope) {
	if len(list) == 0 {
		return
	}
	if list[0].is("with") {
		list, ctes = r.with(list[1:], ctes, outer)
		if len(list) == 0 {
			return
		}
	}
	switch {
	case list[0].is("insert"):
		r.insert(list, ctes, outer)
	case list[0].is("update"):
		r.update(list, ctes, outer)
	case list[0].is("delete"):
		r.delete(list, ctes, outer)
	case list[0].kind == group, list[0].is("select", "values"):
		for part := range split(list, "union", "intersect", "except") {
			if len(part) > 0 && part[0].is("all", "distinct") {
				part = part[1:]
			}
			r.query(part, ctes, outer)
		}
	case list[0].is("explain"):
		r.statement(list[1:], ctes, outer)
	}
}

// with reads the CTEs and returns the rest and what it sees.
func (r *reader) with(list []token, ctes *names, outer *scope) ([]token, *names) {
	recursive := len(list) > 0 && list[0].is("recursive")
	if recursive {
		list = list[1:]
	}
	for i := 0; i+2 < len(list); {
		name := list[i].text
		for i++; i < len(list) && !list[i].is("as"); i++ { // perhaps (columns)
		}
		for i++; i < len(list) && list[i].kind != group; i++ { // perhaps NOT MATERIALIZED
		}
		if i >= len(list) {
			break
		}
		visible := &names{name: name, outer: ctes}
		if recursive {
			ctes = visible
		}
		r.statement(list[i].inner, ctes, outer)
		ctes = visible
		i++
		if i >= len(list) || !list[i].is(",") {
			return list[i:], ctes
		}
		i++
	}
	return nil, ctes
}

// query reads one SELECT or VALUES.
func (r *reader) query(list []token, ctes *names, outer *scope) {
	if len(list) == 0 {
		return
	}
	if list[0].kind == group {
		r.statement(list[0].inner, ctes, outer)
		r.nested(list[1:], ctes, outer)
		return
	}
	here := &scope{outer: outer}
	parts := clauses(list, "from", "where", "group", "having", "window", "order", "limit", "offset", "fetch", "for")
	r.from(parts["from"], ctes, here)
	r.condition(parts["where"], here, nil)
	for name, part := range parts {
		if name != "from" { // which has read its own
			r.nested(part, ctes, here)
		}
	}
}

// nested reads the queries that stand in parentheses anywhere in the list.
func (r *reader) nested(list []token, ctes *names, here *scope) {
	for _, t := range list {
		switch {
		case t.kind != group:
		case isQuery(t.inner):
			r.statement(t.inner, ctes, here)
		default:
			r.nested(t.inner, ctes, here)
		}
	}
}

func isQuery(list []token) bool {
	for len(list) == 1 && list[0].kind == group {
		list = list[0].inner
	}
	return len(list) > 0 && (list[0].is("select", "with", "values", "insert", "update", "delete") ||
		list[0].kind == group && isQuery(list[0].inner))
}

// insert reads INSERT INTO table [AS alias] (columns) source [ON CONFLICT …] [RETURNING …].
func (r *reader) insert(list []token, ctes *names, outer *scope) {
	target, rest := r.target(from(list, 2), "inserts into") // after INTO
	var columns []token
	if len(rest) > 0 && rest[0].kind == group && !isQuery(rest[0].inner) {
		columns, rest = rest[0].inner, rest[1:]
	}
	place := -1
	for i, column := range listed(columns) {
		if len(column) == 1 && column[0].isName() && column[0].text == tenantColumn(target.table) {
			place = i
		}
	}
	guarded := r.schema.guarded(target.table)
	if guarded && place < 0 {
		r.problem("it inserts into " + target.table + " without " + tenantColumn(target.table) + " among the columns")
	}
	target.safe = true
	parts := clauses(rest, "conflict", "returning")
	source := parts[""]
	if n := len(source); parts["conflict"] != nil && n > 0 && source[n-1].is("on") {
		source = source[:n-1]
	}
	if len(source) > 0 && source[0].is("overriding") {
		source = from(source, 3) // OVERRIDING SYSTEM VALUE
	}
	if len(source) > 0 && source[0].is("values") && guarded && place >= 0 {
		r.inserted(source[1:], place)
	}
	r.statement(source, ctes, outer)
	if parts["conflict"] != nil {
		r.conflict(parts["conflict"], target, ctes, outer)
	}
	r.nested(parts["returning"], ctes, &scope{relations: []*relation{target}, outer: outer})
}

// inserted notes the tenants of rows of values.
func (r *reader) inserted(rows []token, place int) {
	for _, row := range rows {
		if row.kind != group {
			continue
		}
		if values := listed(row.inner); place < len(values) {
			if value, ok := valueOf(values[place]); ok {
				r.value(value)
			}
		}
	}
}

// conflict reads [(columns)] [WHERE …] DO UPDATE SET … [WHERE …], or DO NOTHING.
func (r *reader) conflict(list []token, target *relation, ctes *names, outer *scope) {
	list = from(list, 1) // after CONFLICT
	parts := clauses(list, "do")
	action := parts["do"]
	if len(action) < 2 || !action[1].is("update") {
		return
	}
	target.safe, target.verb = false, "may change, on conflict,"
	if len(list) > 0 && list[0].kind == group {
		for _, column := range listed(list[0].inner) {
			if len(column) == 1 && column[0].text == tenantColumn(target.table) {
				target.safe = true
			}
		}
	}
	here := &scope{relations: []*relation{target, {alias: "excluded", safe: true}}, outer: outer}
	r.condition(clauses(action, "where")["where"], here, nil)
	r.nested(action, ctes, here)
}

// update reads UPDATE table [AS alias] SET … [FROM …] [WHERE …] [RETURNING …].
func (r *reader) update(list []token, ctes *names, outer *scope) {
	target, rest := r.target(from(list, 1), "updates")
	here := &scope{relations: []*relation{target}, outer: outer}
	parts := clauses(rest, "from", "where", "returning")
	r.from(parts["from"], ctes, here)
	r.condition(parts["where"], here, nil)
	for _, name := range []string{"", "where", "returning"} {
		r.nested(parts[name], ctes, here)
	}
}

// delete reads DELETE FROM table [AS alias] [USING …] [WHERE …] [RETURNING …].
func (r *reader) delete(list []token, ctes *names, outer *scope) {
	target, rest := r.target(from(list, 2), "deletes from") // after FROM
	here := &scope{relations: []*relation{target}, outer: outer}
	parts := clauses(rest, "using", "where", "returning")
	r.from(parts["using"], ctes, here)
	r.condition(parts["where"], here, nil)
	for _, name := range []string{"where", "returning"} {
		r.nested(parts[name], ctes, here)
	}
}

// from is the list without its first n tokens.
func from(list []token, n int) []token { return list[min(n, len(list)):] }

// target reads [ONLY] table [AS alias] and returns what follows.
func (r *reader) target(list []token, verb string) (*relation, []token) {
	if len(list) > 0 && list[0].is("only") {
		list = list[1:]
	}
	if len(list) == 0 {
		return &relation{safe: true}, nil
	}
	name, list := tableName(list)
	made := r.table(name, verb)
	made.alias, list = aliasOf(list, name.text)
	return made, list
}

// table registers a table of the database.
func (r *reader) table(name token, verb string) *relation {
	made := &relation{table: name.text, alias: name.text, verb: verb}
	r.visited[name.at] = true
	if r.schema.guarded(name.text) {
		r.relations = append(r.relations, made)
	} else {
		made.safe = r.schema.columns[name.text] == nil // what is no table of ours says nothing
	}
	return made
}

// tableName reads name or schema.name.
func tableName(list []token) (token, []token) {
	if len(list) > 2 && list[1].is(".") {
		return list[2], list[3:]
	}
	return list[0], list[1:]
}

// afterTable are the words that cannot be an alias without AS.
const afterTable = " on using join inner left right full cross natural where set values select returning default " +
	"overriding tablesample with group order limit for as having "

// aliasOf reads [AS] alias.
func aliasOf(list []token, otherwise string) (string, []token) {
	switch {
	case len(list) > 1 && list[0].is("as") && list[1].isName():
		return list[1].text, list[2:]
	case len(list) > 0 && (list[0].kind == quoted || list[0].kind == word && !strings.Contains(afterTable, " "+list[0].text+" ")):
		return list[0].text, list[1:]
	}
	return otherwise, list
}
