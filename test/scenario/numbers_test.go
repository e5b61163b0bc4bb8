package scenario

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// TestNumbersAreNumbers: no field of the contract has a type whose JSON is a string although it is
// a number.
func TestNumbersAreNumbers(t *testing.T) {
	t.Parallel()
	strung := []protoreflect.Kind{
		protoreflect.Int64Kind, protoreflect.Uint64Kind, protoreflect.Sint64Kind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind,
	}
	looked := 0
	var walk func(protoreflect.MessageDescriptors)
	walk = func(messages protoreflect.MessageDescriptors) {
		for i := range messages.Len() {
			message := messages.Get(i)
			walk(message.Messages())
			for j := range message.Fields().Len() {
				looked++
				if field := message.Fields().Get(j); slices.Contains(strung, field.Kind()) {
					t.Errorf("%s is a string in JSON: use int32, uint32 or double", field.FullName())
				}
			}
		}
	}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(string(file.Package()), "parlance.") {
			walk(file.Messages())
		}
		return true
	})
	if looked == 0 {
		t.Error("there are no fields")
	}
}
