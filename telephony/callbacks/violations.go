package callbacks

import "parlance.dev/parlance/fault"

// violations are fields that are wrong, so that one error names all of them.
type violations []fault.Field

// add adds the fields of an error, whose names begin with at then.
func (v *violations) add(at string, err error) {
	if err == nil {
		return
	}
	for _, f := range fault.From(err).Fields {
		f.Field = at + f.Field
		*v = append(*v, f)
	}
}

// err is nil when nothing is wrong.
func (v violations) err() error {
	if len(v) == 0 {
		return nil
	}
	return fault.InvalidFields(v...)
}
