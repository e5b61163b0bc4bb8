package tenantwall

import (
	"iter"
	"slices"
)

// condition notes what a condition binds: relations of this scope only, and of these only the ones
// in bound (nil: all).
func (r *reader) condition(list []token, here *scope, bound []*relation) {
	if len(list) > 0 && list[0].is("where") {
		list = list[1:]
	}
	for len(list) == 1 && list[0].kind == group && !isQuery(list[0].inner) {
		list = list[0].inner
	}
	if hasOr(list) {
		return // holds on one path only
	}
	for part := range split(list, "and") {
		if len(part) == 1 && part[0].kind == group && !isQuery(part[0].inner) {
			r.condition(part[0].inner, here, bound)
			continue
		}
		r.predicate(part, here, bound)
	}
}

// hasOr reports whether the list is a disjunction.
func hasOr(list []token) bool {
	n := 0
	for range split(list, "or") {
		n++
	}
	return n > 1
}

// predicate looks for column = value, column = column and column IN (values).
func (r *reader) predicate(list []token, here *scope, bound []*relation) {
	if n := len(list); n >= 3 && list[n-2].is("in") && list[n-1].kind == group {
		if rel, which := here.column(list[:n-2], r.schema); which != noKey && r.allValues(list[n-1].inner, which) {
			r.bind(rel, which, here, bound)
		}
		return
	}
	at := slices.IndexFunc(list, func(t token) bool { return t.is("=") })
	if at < 0 {
		return
	}
	left, right := list[:at], list[at+1:]
	a, aKey := here.column(left, r.schema)
	b, bKey := here.column(right, r.schema)
	switch {
	case aKey != noKey && aKey == bKey:
		r.follow(a, b, here, bound)
		r.follow(b, a, here, bound)
	case aKey != noKey:
		if value, ok := valueOf(right); ok && (isCoalesce(left) || r.given(value, aKey)) {
			r.bind(a, aKey, here, bound)
		}
	case bKey != noKey:
		if value, ok := valueOf(left); ok && r.given(value, bKey) {
			r.bind(b, bKey, here, bound)
		}
	}
}

// isCoalesce reports whether the list is coalesce(column, value). Such a condition includes rows
// without a tenant on purpose, so an empty value is not a mistake.
func isCoalesce(list []token) bool {
	return len(list) == 2 && list[0].is("coalesce") && list[1].kind == group && len(list[1].inner) > 0
}

// allValues reports whether a list of values names tenants, or workspaces.
func (r *reader) allValues(list []token, which key) bool {
	all := true
	for _, one := range listed(list) {
		value, ok := valueOf(one)
		all = all && ok && r.given(value, which)
	}
	return all
}

// given notes a value that an id is compared with; it reports false for an empty value.
func (r *reader) given(value token, which key) bool {
	if which == tenantKey {
		return r.value(value)
	}
	return value.kind != text || value.text != ""
}

// value notes a tenant; it reports false for an empty value.
func (r *reader) value(value token) bool {
	if value.kind != text {
		return true
	}
	if value.text == "" {
		r.problem("the tenant's id is empty")
		return false
	}
	r.tenants = append(r.tenants, value.text)
	return true
}

// bind notes that the rows of a relation belong to a value. In workspaces only the tenant's id
// counts, because the id of a workspace can be guessed.
func (r *reader) bind(rel *relation, which key, here *scope, bound []*relation) {
	if which == workspaceKey && rel.table == workspacesTable || !mayBind(rel, here, bound) {
		return
	}
	rel.safe = true
}

// follow notes that the rows of a relation belong to the tenant of those of another.
func (r *reader) follow(rel, other *relation, here *scope, bound []*relation) {
	if mayBind(rel, here, bound) {
		rel.follows = append(rel.follows, other)
	}
}

func mayBind(rel *relation, here *scope, bound []*relation) bool {
	return slices.Contains(here.relations, rel) && (bound == nil || slices.Contains(bound, rel))
}

// column finds the relation of an unqualified name, if the column is a tenant's or workspace's id.
func (s *scope) column(list []token, schema *Schema) (*relation, key) {
	list = withoutCast(list)
	switch {
	case isCoalesce(list):
		return s.column(listed(list[1].inner)[0], schema)
	case len(list) == 1 && list[0].isName():
		return s.plain(list[0].text, schema)
	case len(list) == 3 && list[0].isName() && list[1].is(".") && list[2].isName():
		for at := s; at != nil; at = at.outer {
			for _, rel := range at.relations {
				if rel.alias == list[0].text {
					return rel, keyOf(rel.table, list[2].text)
				}
			}
		}
	}
	return nil, noKey
}

// plain finds the only relation that has the column; a CTE or sub-select may have any column.
func (s *scope) plain(column string, schema *Schema) (*relation, key) {
	for at := s; at != nil; at = at.outer {
		var found []*relation
		for _, rel := range at.relations {
			if schema.columns[rel.table][column] || rel.table == "" && rel.alias != "excluded" && len(at.relations) == 1 {
				found = append(found, rel)
			}
		}
		if len(found) == 1 {
			return found[0], keyOf(found[0].table, column)
		}
	}
	return nil, noKey
}

// valueOf returns a lone value, perhaps in parentheses or with a cast.
func valueOf(list []token) (token, bool) {
	list = withoutCast(list)
	for len(list) == 1 && list[0].kind == group {
		list = withoutCast(list[0].inner)
	}
	if len(list) == 1 && list[0].isValue() {
		return list[0], true
	}
	return token{}, false
}

// withoutCast removes ::type from the end.
func withoutCast(list []token) []token {
	if at := slices.IndexFunc(list, func(t token) bool { return t.is("::") }); at > 0 {
		return list[:at]
	}
	return list
}

// clauses cuts a list at the first place of each word. Each part begins with its word; what comes
// before the first word is under "".
func clauses(list []token, words ...string) map[string][]token {
	parts := map[string][]token{}
	name, from := "", 0
	for i, t := range list {
		if !t.is(words...) || parts[t.text] != nil || t.text == name || !beginsClause(list, i) {
			continue
		}
		parts[name] = list[from:i]
		name, from = t.text, i
	}
	parts[name] = list[from:]
	return parts
}

// beginsClause distinguishes a clause from a column named like it and from IS DISTINCT FROM.
func beginsClause(list []token, i int) bool {
	if i == 0 {
		return true
	}
	before := list[i-1]
	if before.is(".", "as") {
		return false
	}
	return !(list[i].is("from") && before.is("distinct") && i > 1 && list[i-2].is("is", "not"))
}

// split yields the parts of a list between the words, on its top level. CASE … END and the AND of
// BETWEEN stay whole.
func split(list []token, words ...string) iter.Seq[[]token] {
	return func(yield func([]token) bool) {
		from, cases, between := 0, 0, false
		for i, t := range list {
			switch {
			case t.is("case"):
				cases++
			case t.is("end") && cases > 0:
				cases--
			case t.is("between"):
				between = true
			case t.is("and") && between:
				between = false
			case t.is(words...) && cases == 0:
				if !yield(list[from:i]) {
					return
				}
				from = i + 1
			}
		}
		yield(list[from:])
	}
}

// listed returns the parts between commas; none for an empty list.
func listed(list []token) [][]token {
	if len(list) == 0 {
		return nil
	}
	return slices.Collect(split(list, ","))
}
