package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/route"
)

// router is a tree of path segments. net/http's mux is not used because it matches on the
// cleaned path and redirects, and because 404 and 405 must be problems.
type router struct{ root *node }

type node struct {
	fixed    map[string]*node
	variable *node
	routes   map[string]*entry // by verb
}

type entry struct {
	route *route.Route
	names []string // of the path variables, in order
}

// match is a route and the unescaped values of its path variables.
type match struct {
	route  *route.Route
	names  []string
	values []string
}

func newRouter(routes []route.Route) router {
	root := &node{}
	for i := range routes {
		root.add(&routes[i])
	}
	return router{root: root}
}

func (n *node) add(r *route.Route) {
	var names []string
	for segment := range strings.SplitSeq(strings.TrimPrefix(r.Pattern, "/"), "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
			if n.variable == nil {
				n.variable = &node{}
			}
			n = n.variable
			continue
		}
		if n.fixed == nil {
			n.fixed = map[string]*node{}
		}
		if n.fixed[segment] == nil {
			n.fixed[segment] = &node{}
		}
		n = n.fixed[segment]
	}
	if n.routes == nil {
		n.routes = map[string]*entry{}
	}
	n.routes[r.Method] = &entry{route: r, names: names}
}

// match finds the route of an escaped path; a fixed segment goes before a variable. Without a
// match it returns the verbs that the path does take, sorted; none when it is no path of ours.
func (r router) match(verb, escapedPath string) (found *match, allowed []string) {
	if verb == http.MethodHead {
		verb = http.MethodGet
	}
	path, rooted := strings.CutPrefix(escapedPath, "/")
	if !rooted {
		return nil, nil
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "" {
			return nil, nil
		}
		segments[i] = plain
	}
	verbs := map[string]bool{}
	if found = r.root.find(verb, segments, nil, verbs); found != nil {
		return found, nil
	}
	for v := range verbs {
		allowed = append(allowed, v)
		if v == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	slices.Sort(allowed)
	return nil, allowed
}

// find walks down from n; values are the variables so far, verbs collects what other verbs the
// path takes.
func (n *node) find(verb string, segments, values []string, verbs map[string]bool) *match {
	if len(segments) == 0 {
		if e := n.routes[verb]; e != nil {
			return &match{route: e.route, names: e.names, values: values}
		}
		for v := range n.routes {
			verbs[v] = true
		}
		return nil
	}
	if next := n.fixed[segments[0]]; next != nil {
		if found := next.find(verb, segments[1:], values, verbs); found != nil {
			return found
		}
	}
	if n.variable == nil {
		return nil
	}
	// Clipped: a branch that fails must not leave its value in the one tried next.
	return n.variable.find(verb, segments[1:], append(slices.Clip(values), segments[0]), verbs)
}
