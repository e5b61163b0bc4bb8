package interceptor

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

var update = flag.Bool("update", false, "write testdata/audited.txt anew")

// TestAuditedFields: testdata/audited.txt lists the methods that the audit log records and the
// fields whose values it holds, so that a new one is seen in review. Rewrite it with -update.
func TestAuditedFields(t *testing.T) {
	t.Parallel()
	policies, err := NewPolicies()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	seen := map[protoreflect.FullName]bool{}
	for procedure, method := range auditedMethods(policies) {
		line := procedure + " is " + method.action
		if method.before != "" {
			line += ", before " + method.before
		}
		lines = append(lines, line)
		if !method.descriptor.IsStreamingServer() {
			lines = append(lines, fieldsOf(method.descriptor.Output(), seen)...)
		}
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	const golden = "testdata/audited.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("see that no secret and nothing that users said is recorded, then run go test ./server/interceptor -update\n%s", diff)
	}
}

// fieldsOf lists the fields of a message, and of those in it, that are not hidden.
func fieldsOf(message protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) (lines []string) {
	if seen[message.FullName()] || strings.HasPrefix(string(message.FullName()), "google.protobuf.") {
		return nil
	}
	seen[message.FullName()] = true
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		if isExtra(field) || !isRecorded(privacyOf(field)) {
			continue
		}
		lines = append(lines, string(message.Name())+"."+string(field.Name()))
		if field.Message() != nil && !field.IsMap() {
			lines = append(lines, fieldsOf(field.Message(), seen)...)
		}
	}
	return lines
}

// secretName matches the names of fields that may hold a secret, publicName those of them that
// hold none.
var (
	secretName = regexp.MustCompile(`(^|_)(secret|token|password|credential|api_key|auth_header|secret_headers|headers|download_url)$`)
	publicName = regexp.MustCompile(`^(page_token|next_page_token|session_token)$`)
)

// TestSecretFieldsAreMarked: a field whose name says that it may hold a secret has the option
// privacy.
func TestSecretFieldsAreMarked(t *testing.T) {
	t.Parallel()
	marked := 0
	protoregistry.GlobalTypes.RangeMessages(func(message protoreflect.MessageType) bool {
		if message.Descriptor().ParentFile().Package() != "parlance.v1" {
			return true
		}
		for i := range message.Descriptor().Fields().Len() {
			field := message.Descriptor().Fields().Get(i)
			name := string(field.Name())
			if field.Message() != nil && !field.IsMap() || !secretName.MatchString(name) || publicName.MatchString(name) {
				continue
			}
			marked++
			if isRecorded(privacyOf(field)) {
				t.Errorf("%s may hold a secret: add (privacy) = PRIVACY_SECRET", field.FullName())
			}
		}
		return true
	})
	if marked < 10 {
		t.Errorf("only %d fields were looked at", marked)
	}
}
