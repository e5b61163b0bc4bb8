package jsonvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// DecodeStrict decodes value into target. It refuses null, unknown members, and anything after the
// value. Names of members are compared exactly, see findUnknown.
func DecodeStrict(value json.RawMessage, target any) error {
	if bytes.Equal(bytes.TrimSpace(value), []byte("null")) {
		return errors.New("null")
	}
	if unknown := findUnknown(value, reflect.TypeOf(target).Elem()); unknown != nil { // the decoder ignores the case of names
		return unknown
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(target); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// UnknownMember is the error for a member of an object that its type does not have.
type UnknownMember struct {
	// Path leads to the member from the value that was looked at, such as fallbacks[0].Name.
	Path string
	// Known are the names of the members that the type has.
	Known []string
}

func (u *UnknownMember) Error() string {
	return "there is no field " + strconv.Quote(u.Path) + "; use one of " + strings.Join(u.Known, ", ")
}

// Within returns the error for the value that contains, under name, the value that was looked at.
func (u *UnknownMember) Within(name string) *UnknownMember {
	if !strings.HasPrefix(u.Path, "[") {
		name += "."
	}
	return &UnknownMember{Path: name + u.Path, Known: u.Known}
}

// findUnknown finds a member, at any depth, whose name is not exactly that of a field of t; it
// returns nil when there is none. encoding/json ignores the case of names, even when it refuses
// unknown members, and would let callers write a locked field under another spelling. Other
// mistakes are left to the decoder.
func findUnknown(value json.RawMessage, t reflect.Type) *UnknownMember {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return findUnknown(value, t.Elem())
	case reflect.Slice:
		var items []json.RawMessage
		_ = json.Unmarshal(value, &items) // the decoder reports a value that is not a list
		for i, item := range items {
			if unknown := findUnknown(item, t.Elem()); unknown != nil {
				return unknown.Within("[" + strconv.Itoa(i) + "]")
			}
		}
	case reflect.Map:
		return findUnknownInObject(value, func(string) (reflect.Type, bool) { return t.Elem(), true })
	case reflect.Struct:
		fields, known := jsonFields(t)
		unknown := findUnknownInObject(value, func(name string) (reflect.Type, bool) { of, ok := fields[name]; return of, ok })
		if unknown != nil && unknown.Known == nil {
			unknown.Known = known
		}
		return unknown
	}
	return nil
}

// findUnknownInObject is findUnknown for an object. typeOf returns the type of a member, and false
// for an unknown one.
func findUnknownInObject(value json.RawMessage, typeOf func(name string) (reflect.Type, bool)) *UnknownMember {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(value, &members) // the decoder reports a value that is not an object
	for _, name := range slices.Sorted(maps.Keys(members)) {
		t, ok := typeOf(name)
		if !ok {
			return &UnknownMember{Path: name}
		}
		if unknown := findUnknown(members[name], t); unknown != nil {
			return unknown.Within(name)
		}
	}
	return nil
}

// jsonFields returns the fields of a struct by their names in JSON, and the names in order.
func jsonFields(t reflect.Type) (fields map[string]reflect.Type, names []string) {
	fields = make(map[string]reflect.Type, t.NumField())
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" {
			name = field.Name
		}
		fields[name], names = field.Type, append(names, name)
	}
	return fields, names
}

// FindMisspelled finds a member whose name equals that of a field but for its case, in an object
// that may also have members of other names; it returns nil when there is none.
func FindMisspelled(value json.RawMessage, t reflect.Type) *UnknownMember {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(value, &members)
	fields, known := jsonFields(t)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		_, exact := fields[name]
		if !exact && slices.ContainsFunc(known, func(field string) bool { return strings.EqualFold(field, name) }) {
			return &UnknownMember{Path: name, Known: known}
		}
	}
	return nil
}
