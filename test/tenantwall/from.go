package tenantwall

// from reads a FROM list into the scope, with the conditions of its joins.
func (r *reader) from(list []token, ctes *names, here *scope) {
	if len(list) > 0 && list[0].is("from", "using") {
		list = list[1:]
	}
	var left []*relation // of the item between two commas, so far
	for len(list) > 0 {
		before := len(here.relations)
		list = r.item(list, ctes, here)
		left = append(left, here.relations[before:]...)
		for len(list) > 0 && !list[0].is(",") {
			var how string
			if how, list = joinWords(list); how == "" {
				return // not a FROM list as we know it; what was passed over is noticed by unread
			}
			before = len(here.relations)
			list = r.item(list, ctes, here)
			right := here.relations[before:]
			list = r.on(list, join{how: how, left: left, right: right}, ctes, here)
			left = append(left[:len(left):len(left)], right...)
		}
		if len(list) > 0 {
			list, left = list[1:], nil
		}
	}
}

// join is two sides of a join.
type join struct {
	how         string // inner, left, right or full
	left, right []*relation
}

// bound are the relations whose rows the join's condition limits: the outer side of an outer join
// keeps all of its rows.
func (j join) bound() []*relation {
	switch j.how {
	case "left":
		return j.right
	case "right":
		return j.left
	case "full":
		return []*relation{}
	}
	return nil // all
}

// joinWords reads [NATURAL] [INNER | LEFT | RIGHT | FULL [OUTER] | CROSS] JOIN.
func joinWords(list []token) (how string, rest []token) {
	how = "inner"
	for i, t := range list {
		switch {
		case t.is("left", "right", "full"):
			how = t.text
		case t.is("join"):
			return how, list[i+1:]
		case !t.is("natural", "inner", "outer", "cross"):
			return "", list
		}
	}
	return "", list
}

// on reads ON condition or USING (columns), if one is there.
func (r *reader) on(list []token, j join, ctes *names, here *scope) []token {
	switch {
	case len(list) > 1 && list[0].is("using") && list[1].kind == group:
		for _, column := range listed(list[1].inner) {
			if len(column) == 1 && keyOf("", column[0].text) != noKey {
				for _, a := range j.left {
					for _, b := range j.right {
						r.follow(a, b, here, j.bound())
						r.follow(b, a, here, j.bound())
					}
				}
			}
		}
		return list[2:]
	case len(list) > 0 && list[0].is("on"):
		end := 1
		for end < len(list) && !list[end].is(",") && !beginsJoin(list[end:]) {
			end++
		}
		r.condition(list[1:end], here, j.bound())
		r.nested(list[1:end], ctes, here)
		return list[end:]
	}
	return list
}

// beginsJoin distinguishes LEFT JOIN from the function left(…).
func beginsJoin(list []token) bool {
	if list[0].is("left", "right", "full") {
		return len(list) > 1 && list[1].is("join", "outer")
	}
	return list[0].is("join", "inner", "cross", "natural")
}

// item reads one table, function, sub-select or join in parentheses, with its alias.
func (r *reader) item(list []token, ctes *names, here *scope) []token {
	for len(list) > 0 && list[0].is("only", "lateral") {
		list = list[1:]
	}
	if len(list) == 0 {
		return nil
	}
	made := &relation{safe: true}
	switch {
	case list[0].kind == group && isQuery(list[0].inner):
		r.statement(list[0].inner, ctes, here)
		list = list[1:]
	case list[0].kind == group:
		r.from(list[0].inner, ctes, here)
		_, list = aliasOf(list[1:], "")
		return list
	default:
		name, rest := tableName(list)
		list = rest
		switch {
		case len(list) > 0 && list[0].kind == group: // a function
			r.nested(list[:1], ctes, here)
			list = list[1:]
		case ctes.has(name.text):
			r.visited[name.at] = true
		default:
			made = r.table(name, "reads")
		}
		made.alias = name.text
	}
	if len(list) > 1 && list[0].is("with") && list[1].is("ordinality") {
		list = list[2:]
	}
	made.alias, list = aliasOf(list, made.alias)
	if len(list) > 0 && list[0].kind == group { // names of columns
		list = list[1:]
	}
	here.relations = append(here.relations, made)
	return list
}
