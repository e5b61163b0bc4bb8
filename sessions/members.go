package sessions

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/fault"
)

// encoding/json finds the field of a member whatever the case of its name, also where unknown members are refused. Who looks
// at the names of members, as locked_overrides does, would overlook those, so they are held to the letter here.

// unknownMember says that an object has a member which is none of its type's.
type unknownMember struct {
	// path is the member's, from the value that was looked at: fallbacks[0].Name.
	path string
	// known are the names of the members that there are.
	known []string
}

func (u *unknownMember) Error() string {
	return "there is no field " + strconv.Quote(u.path) + "; use one of " + strings.Join(u.known, ", ")
}

// inside is the error as it is said of the value that holds the one that was looked at.
func (u *unknownMember) inside(name string) *unknownMember {
	if !strings.HasPrefix(u.path, "[") {
		name += "."
	}
	return &unknownMember{path: name + u.path, known: u.known}
}

// unknownIn looks for a member, at any depth, whose name is not that of a field of t; nil: there is none. What does not fit
// t otherwise is left to the decoder.
func unknownIn(value json.RawMessage, t reflect.Type) *unknownMember {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return unknownIn(value, t.Elem())
	case reflect.Slice:
		var items []json.RawMessage
		_ = json.Unmarshal(value, &items) // not a list: the decoder says so
		for i, item := range items {
			if unknown := unknownIn(item, t.Elem()); unknown != nil {
				return unknown.inside("[" + strconv.Itoa(i) + "]")
			}
		}
	case reflect.Map:
		return unknownOf(value, func(string) (reflect.Type, bool) { return t.Elem(), true })
	case reflect.Struct:
		fields, known := fieldsOf(t)
		unknown := unknownOf(value, func(name string) (reflect.Type, bool) { of, ok := fields[name]; return of, ok })
		if unknown != nil && unknown.known == nil {
			unknown.known = known
		}
		return unknown
	}
	return nil
}

// unknownOf is unknownIn for an object; typeOf knows its members.
func unknownOf(value json.RawMessage, typeOf func(name string) (reflect.Type, bool)) *unknownMember {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(value, &members) // not an object: the decoder says so
	for _, name := range slices.Sorted(maps.Keys(members)) {
		t, ok := typeOf(name)
		if !ok {
			return &unknownMember{path: name}
		}
		if unknown := unknownIn(members[name], t); unknown != nil {
			return unknown.inside(name)
		}
	}
	return nil
}

// fieldsOf are the fields of a struct by their names in JSON, and the names in order.
func fieldsOf(t reflect.Type) (fields map[string]reflect.Type, names []string) {
	fields = make(map[string]reflect.Type, t.NumField())
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		fields[name], names = field.Type, append(names, name)
	}
	return fields, names
}

// misspelt is a member of an object which may have any, whose name is that of a field but for its case; nil: there is none.
func misspelt(value json.RawMessage, t reflect.Type) *unknownMember {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(value, &members)
	fields, known := fieldsOf(t)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		_, exact := fields[name]
		if !exact && slices.ContainsFunc(known, func(field string) bool { return strings.EqualFold(field, name) }) {
			return &unknownMember{path: name, known: known}
		}
	}
	return nil
}

// wrong is what is answered to a value that cannot be decoded, or is not what it must be: the member that is unknown, if it is
// that.
func wrong(err error, must string) error {
	if unknown, ok := errors.AsType[*unknownMember](err); ok {
		return unknown
	}
	return errors.New(must)
}

// notSet names the field of an override that could not be set.
func notSet(field string, err error) *fault.Error {
	if unknown, ok := errors.AsType[*unknownMember](err); ok {
		return fault.InvalidField(unknown.inside(field).path, "unknown", "There is no such field. Use one of %s.", strings.Join(unknown.known, ", "))
	}
	return fault.InvalidField(field, "type", "%s.", err.Error())
}
