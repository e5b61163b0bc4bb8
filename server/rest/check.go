package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/platform/stablejson"
)

const (
	// maxDepth is how deep JSON may be nested: every level costs stack here and in what reads it
	// later.
	maxDepth = 100
	// maxViolations is how many violations one answer lists; callers read no more.
	maxViolations = 50
)

// checkJSON compares a body with a message descriptor and lists everything that differs, by its
// path. protojson stops at the first problem, names fields in lowerCamelCase and words its
// errors differently from build to build, so it only ever sees what passed here.
func checkJSON(body []byte, message protoreflect.MessageDescriptor, prefix string) (presence, error) {
	return (&checker{}).check(body, message, prefix)
}

// checkLenient is checkJSON but accepts unknown fields, as clients of Connect expect.
func checkLenient(body []byte, message protoreflect.MessageDescriptor) (presence, error) {
	return (&checker{lenient: true}).check(body, message, "")
}

func (c *checker) check(body []byte, message protoreflect.MessageDescriptor, prefix string) (presence, error) {
	if !utf8.Valid(body) {
		return presence{}, fault.New(fault.InvalidRequest, "The body is not valid UTF-8.")
	}
	if bytes.HasPrefix(body, byteOrderMark) {
		return presence{}, fault.New(fault.InvalidRequest, "The body begins with a byte order mark; send UTF-8 without one.")
	}
	if !json.Valid(body) {
		var whole json.RawMessage
		return presence{}, malformed(body, json.Unmarshal(body, &whole))
	}
	if prefix == "" && bytes.TrimLeft(body, " \t\r\n")[0] != '{' {
		return presence{}, fault.New(fault.InvalidRequest, "The body must be a JSON object.")
	}
	c.body, c.decoder = body, json.NewDecoder(bytes.NewReader(body))
	c.decoder.UseNumber()
	if prefix != "" {
		c.path = []step{{name: prefix}}
	}
	present := c.object(message, c.next())
	if len(c.violations) > 0 {
		return presence{}, fault.InvalidFields(c.violations...)
	}
	return presence{keys: slices.Collect(maps.Keys(present)), paths: c.paths, body: c.inserted()}, nil
}

// presence lists what a body has, by the snake_case names of the fields.
type presence struct {
	// keys are the top-level fields.
	keys []string
	// paths are the fields with a value or null. A field inside an object of the contract is named
	// by its path (model.name), in place of the object. A free JSON object, a map or a list is one
	// value.
	paths []string
	// body is the body to read. Beside a Struct with numbers that a double cannot hold it has the
	// field with the exact text (stablejson.ExactField), as if the caller had sent it.
	body []byte
}

// inserted returns the body with the insertions. They are in the order of their places.
func (c *checker) inserted() []byte {
	if len(c.exact) == 0 {
		return c.body
	}
	var out []byte
	from := int64(0)
	for _, i := range c.exact {
		out = append(append(out, c.body[from:i.at]...), i.text...)
		from = i.at
	}
	return append(out, c.body[from:]...)
}

var byteOrderMark = []byte("\ufeff")

func malformed(body []byte, err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		line := 1 + bytes.Count(body[:min(int(syntax.Offset), len(body))], []byte("\n"))
		return fault.Wrap(err, fault.InvalidRequest, "The body is not valid JSON: line %d, byte %d: %s.", line, syntax.Offset, syntax)
	}
	return fault.Wrap(err, fault.InvalidRequest, "The body is not valid JSON.")
}

// checker walks the tokens of a JSON text that is known to be well-formed. The path is a stack
// that is only written out for a violation: as strings, the paths of a long list under a long
// key would take the square of the body's size.
type checker struct {
	// lenient accepts unknown fields.
	lenient bool

	body       []byte
	decoder    *json.Decoder
	path       []step
	paths      []string
	violations []fault.Field
	// exact are the members to insert for the exact fields of Structs, by their place in the body.
	exact []insertion
}

// insertion is a text to insert into the body at an offset.
type insertion struct {
	at   int64
	text string
}

// next returns the next token. It returns a string with half a surrogate pair, which the decoder
// replaces by U+FFFD, as a string that is not UTF-8, so that it is refused where it stands.
func (c *checker) next() json.Token {
	begin := c.decoder.InputOffset()
	token, err := c.decoder.Token()
	if err != nil {
		return nil // does not happen: the text is well-formed
	}
	text, _ := token.(string)
	if strings.ContainsRune(text, utf8.RuneError) && loneSurrogate(c.body[begin:c.decoder.InputOffset()]) {
		return strings.ReplaceAll(text, string(utf8.RuneError), "\xff")
	}
	return token
}

// loneSurrogate looks for \ud800 to \udfff without its other half in the text of a JSON string.
func loneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // the escaped character is skipped with its backslash
		unit, _ := jsonvalue.EscapedUnit(raw[i-1:])
		if !utf16.IsSurrogate(unit) {
			continue
		}
		other, _ := jsonvalue.EscapedUnit(raw[min(i+5, len(raw)):])
		if utf16.DecodeRune(unit, other) == utf8.RuneError {
			return true
		}
		i += 10
	}
	return false
}

// more reports whether the object or list has another member; it consumes the closing token
// otherwise.
func (c *checker) more() bool {
	if c.decoder.More() {
		return true
	}
	c.next()
	return false
}

func (c *checker) refuse(code string, message sentence) {
	if len(c.violations) < maxViolations {
		c.violations = append(c.violations, fault.Field{Field: render(c.path), Code: code, Message: string(message)})
	}
}

// at calls do with the step appended to the path.
func (c *checker) at(s step, do func()) {
	c.path = append(c.path, s)
	do()
	c.path = c.path[:len(c.path)-1]
}

// opens reports whether first opens a value of a shape that is not too deep. Otherwise it
// adds a violation and skips the value.
func (c *checker) opens(first json.Token, opening json.Delim, otherwise sentence) bool {
	if first != opening {
		c.refuse("wrong_type", otherwise)
		c.skip(first)
		return false
	}
	return !c.tooDeep()
}

// tooDeep refuses the value that has just been opened and skips it without recursion.
func (c *checker) tooDeep() bool {
	if len(c.path) < maxDepth {
		return false
	}
	c.refuse("too_deep", sentence("Is nested more than "+strconv.Itoa(maxDepth)+" levels deep."))
	for open := 1; open > 0; {
		switch c.next() {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
	}
	return true
}

// object checks a message whose first token has been read; it returns the fields present.
func (c *checker) object(message protoreflect.MessageDescriptor, first json.Token) map[string]bool {
	if !c.opens(first, '{', errObject) {
		return nil
	}
	present, exact := map[string]bool{}, map[string]string{}
	for c.more() {
		key, _ := c.next().(string)
		value := c.next()
		begin := c.decoder.InputOffset() - 1 // of an object: its brace
		field := fieldNamed(message, key)
		ofRequest := len(c.path) == 0
		if field == nil || (ofRequest && field.Name() == maskField && !c.lenient) {
			c.unknown(message, key, value)
			continue
		}
		name := string(field.Name())
		c.at(step{name: name}, func() {
			if present[name] {
				c.refuse("duplicate", "The field is given more than once.")
			}
			c.sent(field, value)
			c.field(field, value)
		})
		present[name] = true
		if twin := stablejson.ExactField(field); twin != nil && value == json.Delim('{') {
			exact[string(twin.Name())] = string(c.body[begin:c.decoder.InputOffset()])
		}
	}
	c.insert(present, exact)
	return present
}

// insert adds the exact fields of an object that ends here: the texts of its Structs that have long
// numbers, unless the caller has sent the field.
func (c *checker) insert(present map[string]bool, exact map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(exact)) {
		if present[name] || !stablejson.HasLongNumber([]byte(exact[name])) {
			continue
		}
		quoted, _ := json.Marshal(exact[name]) // a string that is UTF-8 can be encoded
		c.exact = append(c.exact, insertion{at: c.decoder.InputOffset() - 1, text: fmt.Sprintf(",%q:%s", name, quoted)})
	}
}

func (c *checker) unknown(message protoreflect.MessageDescriptor, key string, value json.Token) {
	c.at(step{name: key}, func() {
		if !c.lenient {
			c.refuse("unknown_field", "There is no such field"+listed(slices.DeleteFunc(namesOf(message),
				func(name string) bool { return name == maskField })))
		}
		c.skip(value)
	})
}

// listed ends a sentence about an unknown name with the names that exist.
func listed(names []string) sentence {
	if len(names) == 0 {
		return "; there are none."
	}
	return sentence(". There are: " + strings.Join(names, ", ") + ".")
}

// namesOf returns a message's fields in the order of the contract.
func namesOf(message protoreflect.MessageDescriptor) []string {
	names := make([]string, message.Fields().Len())
	for i := range names {
		names[i] = string(message.Fields().Get(i).Name())
	}
	return names
}

// sent notes the path of a field that an update changes as a whole.
func (c *checker) sent(field protoreflect.FieldDescriptor, first json.Token) {
	if first == json.Delim('{') && !field.IsMap() && isContract(field.Message()) {
		return // its members are noted one by one
	}
	if !slices.ContainsFunc(c.path, func(s step) bool { return s.kind != fieldName }) {
		c.paths = append(c.paths, render(c.path))
	}
}

func (c *checker) field(field protoreflect.FieldDescriptor, first json.Token) {
	switch {
	case first == nil && !isValue(field.Message()): // null: as absent, or cleared by the mask
	case field.IsMap():
		if c.opens(first, '{', errObject) {
			c.members(func(value json.Token) { c.member(field, value) })
		}
	case field.IsList():
		if c.opens(first, '[', errList) {
			c.elements(func(value json.Token) { c.single(field, value) })
		}
	default:
		c.single(field, first)
	}
}

// member checks one value of a map. accommodate has made texts of those that a map of texts may
// have beside them.
func (c *checker) member(field protoreflect.FieldDescriptor, first json.Token) {
	_, isText := first.(string)
	accommodated := !c.lenient && accommodations[field.ContainingMessage().FullName()][string(field.Name())] != nil
	if isText || !accommodated {
		c.single(field.MapValue(), first)
		return
	}
	c.refuse("wrong_type", errTextual)
	c.skip(first)
}

// members walks an object with free keys.
func (c *checker) members(each func(value json.Token)) {
	seen := map[string]bool{}
	for c.more() {
		key, _ := c.next().(string)
		c.at(step{name: key, kind: mapKey}, func() {
			if seen[key] {
				c.refuse("duplicate", "The key is given more than once.")
			}
			if checkString(key) != nil {
				c.refuse("wrong_type", errText)
			}
			each(c.next())
		})
		seen[key] = true
	}
}

func (c *checker) elements(each func(value json.Token)) {
	for i := 0; c.more(); i++ {
		c.at(step{kind: listIndex, index: i}, func() { each(c.next()) })
	}
}

// single checks one value: a scalar, a message or a message with a JSON form of its own.
func (c *checker) single(field protoreflect.FieldDescriptor, first json.Token) {
	message := field.Message()
	switch {
	case message == nil:
		c.scalar(field, first)
	case isValue(message):
		c.skip(first)
	case textual(message):
		c.text(message, first)
	case message.FullName() == "google.protobuf.Struct":
		if c.opens(first, '{', errObject) {
			c.members(c.skip)
		}
	case message.FullName() == "google.protobuf.ListValue":
		if c.opens(first, '[', errList) {
			c.elements(c.skip)
		}
	case isWrapper(message):
		c.scalar(message.Fields().ByName("value"), first)
	default:
		c.object(message, first)
	}
}

func (c *checker) text(message protoreflect.MessageDescriptor, first json.Token) {
	text, ok := first.(string)
	if ok && parses(message, text) {
		return
	}
	c.refuse("wrong_type", textError(message))
	if !ok {
		c.skip(first)
	}
}

// skip walks over a value of any shape; its strings, keys and numbers must be valid all the same.
func (c *checker) skip(first json.Token) {
	switch first := first.(type) {
	case string:
		if checkString(first) != nil {
			c.refuse("wrong_type", errText)
		}
	case json.Number:
		// 1e999 is JSON, but no double, and a Struct holds doubles.
		if _, err := strconv.ParseFloat(first.String(), 64); err != nil {
			c.refuse("wrong_type", errNumber)
		}
	case json.Delim:
		if c.tooDeep() {
			return
		}
		if first == '{' {
			c.members(c.skip)
			return
		}
		c.elements(c.skip)
	}
}

func (c *checker) scalar(field protoreflect.FieldDescriptor, first json.Token) {
	if err := scalarError(field, first); err != "" {
		c.refuse("wrong_type", err)
	}
	if _, nested := first.(json.Delim); nested {
		c.skip(first)
	}
}
