package main

import (
	"strings"
	"unicode"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// snake writes a name as Python does: "CreateAgent" is create_agent.
func snake(name string) string {
	var out strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// keywords are words of Python that a contract may name a field with.
var keywords = map[string]bool{
	"and": true, "as": true, "async": true, "await": true, "class": true, "def": true, "del": true, "from": true, "global": true,
	"if": true, "import": true, "in": true, "is": true, "not": true, "or": true, "pass": true, "return": true, "with": true, "yield": true,
}

// argument is the name of a field as a keyword argument.
func argument(field *protogen.Field) string {
	name := string(field.Desc.Name())
	if keywords[name] {
		return name + "_"
	}
	return name
}

// typeOf is the type of a keyword argument.
func (s *services) typeOf(field *protogen.Field) string {
	switch {
	case field.Desc.IsMap():
		return "Mapping[str, " + s.itemType(field.Message.Fields[1]) + "]"
	case !field.Desc.IsList():
		return s.itemType(field)
	case field.Message == nil: // a text is a sequence of texts, so that Sequence would take one
		item := s.itemType(field)
		return "Union[List[" + item + "], Tuple[" + item + ", ...]]"
	}
	return "Sequence[" + s.itemType(field) + "]"
}

func (s *services) itemType(field *protogen.Field) string {
	switch field.Desc.Kind() {
	case protoreflect.StringKind:
		return "str"
	case protoreflect.BytesKind:
		return "bytes"
	case protoreflect.BoolKind:
		return "bool"
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return "float"
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return s.messageType(field.Message)
	default:
		return "int"
	}
}

// messageType is what may be given for a message; see build in _messages.py.
func (s *services) messageType(message *protogen.Message) string {
	name := s.use(message)
	switch message.Desc.FullName() {
	case "google.protobuf.Timestamp":
		return "Union[" + name + ", datetime]"
	case "google.protobuf.FieldMask":
		return "Union[" + name + ", List[str], Tuple[str, ...]]"
	}
	return "Union[" + name + ", Mapping[str, Any]]"
}

// docLines are the lines of a comment as they stand in a docstring.
func docLines(comment string) []string {
	text := strings.TrimSpace(comment)
	if text == "" {
		return nil
	}
	text = strings.NewReplacer(`\`, `\\`, `"""`, `'''`).Replace(text)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// argumentLines describe the arguments that have a comment.
func argumentLines(fields []*protogen.Field) []string {
	var lines []string
	for _, field := range fields {
		about := docLines(string(field.Comments.Leading))
		if len(about) == 0 {
			continue
		}
		if len(lines) == 0 {
			lines = append(lines, "", "Args:")
		}
		lines = append(lines, "    "+argument(field)+": "+about[0])
		for _, line := range about[1:] {
			lines = append(lines, "        "+line)
		}
	}
	return lines
}
