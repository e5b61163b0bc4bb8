package main

import (
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "parlance.dev/parlance/gen/parlance/v1" // registers the contract
)

// page is the answer of a method that lists something, by its names in Go.
type page struct {
	// Message is the answer, Field its list, and Item what the list holds.
	Message, Field, Item string
}

// pages returns the answers with a next_page_token and one list of messages, sorted by name.
func pages() ([]page, error) {
	var found []page
	var failed error
	protoregistry.GlobalTypes.RangeMessages(func(message protoreflect.MessageType) bool {
		list := listOf(message.Descriptor())
		if list == nil {
			return true
		}
		item, err := protoregistry.GlobalTypes.FindMessageByName(list.Message().FullName())
		if err != nil {
			failed = err
			return false
		}
		found = append(found, page{Message: goName(message), Field: fieldName(list), Item: goName(item)})
		return true
	})
	slices.SortFunc(found, func(a, b page) int { return strings.Compare(a.Message, b.Message) })
	return found, failed
}

// listOf returns the list of an answer with pages; nil for other messages.
func listOf(message protoreflect.MessageDescriptor) (list protoreflect.FieldDescriptor) {
	fields := message.Fields()
	if message.ParentFile().Package() != "parlance.v1" || fields.ByName("next_page_token") == nil {
		return nil
	}
	for i := range fields.Len() {
		field := fields.Get(i)
		if !field.IsList() || field.Message() == nil {
			continue
		}
		if list != nil {
			return nil
		}
		list = field
	}
	return list
}

// goName is the name of the Go type of a message.
func goName(message protoreflect.MessageType) string {
	return reflect.TypeOf(message.Zero().Interface()).Elem().Name()
}

// fieldName is the name of a field in Go: "tool_calls" is ToolCalls.
func fieldName(field protoreflect.FieldDescriptor) string {
	words := strings.Split(string(field.Name()), "_")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
