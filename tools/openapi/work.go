package openapi

// maxWork bounds the work for all operations of a document, in steps: a schema that is visited, two
// values that are compared, a member that is copied. The bound takes one or two seconds.
const maxWork = 6_000_000

// work counts the steps for a document. Small documents can refer to the same large schemas from
// thousands of places, and each place is described anew.
type work struct {
	left int
	// ended is closed when nobody waits for the result any more; nil: somebody does.
	ended <-chan struct{}
	// sinceLook are the steps since ended was looked at.
	sinceLook int
}

// spend counts steps.
func (w *work) spend(steps int) {
	w.left -= steps
	if w.sinceLook += steps; w.sinceLook < 1000 {
		return
	}
	w.sinceLook = 0
	select {
	case <-w.ended:
		w.left = -1
	default:
	}
}

// over reports whether no steps are left. What is being made is then left out.
func (w *work) over() bool { return w.left < 0 }

// weight is how many steps it takes to read the members of a schema.
func weight(schema map[string]any) int {
	steps := 1 + len(schema)/8
	for _, value := range schema {
		switch value := value.(type) {
		case []any:
			steps += len(value) / 8
		case map[string]any:
			steps += len(value) / 8
		}
	}
	return steps
}

// same compares two values of a schema.
func (w *work) same(a, b any) bool {
	w.spend(1)
	if w.over() {
		return false
	}
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for name, member := range a {
			if value, there := other[name]; !there || !w.same(member, value) {
				return false
			}
		}
		return true
	case []any:
		other, ok := b.([]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for i, item := range a {
			if !w.same(item, other[i]) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}
