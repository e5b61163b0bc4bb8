package interceptor

import (
	"cmp"
	"strings"
	"unicode"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// idSuffix ends the names of fields that hold an id.
const idSuffix = "_id"

// auditedMethod is a method whose calls get an entry in the audit log.
type auditedMethod struct {
	descriptor protoreflect.MethodDescriptor
	// action is the resource and the verb: agent.update.
	action string
	// ids are the fields of the path of the REST route that hold ids, without workspace_id.
	ids []string
	// inWorkspace reports whether the path names a workspace.
	inWorkspace bool
	// creates reports whether the resource is the one in the answer.
	creates bool
	// keysOnly leaves out calls with the token of a session.
	keysOnly bool
	// before is the procedure that returns the settings before the call, and beforeField the field
	// of its answer that they are in. Empty: there are none, or the whole answer.
	before      string
	beforeField protoreflect.Name
}

// auditedMethods returns the methods of the contract that the audit log records, by procedure.
func auditedMethods(policies Policies) map[string]*auditedMethod {
	methods := map[string]*auditedMethod{}
	for _, service := range contractServices() {
		for i := range service.Methods().Len() {
			method := service.Methods().Get(i)
			stated, _ := proto.GetExtension(method.Options(), parlancev1.E_Policy).(*parlancev1.MethodPolicy)
			changes := policies[procedureOf(method)].Changes() && stated.GetAudit() != parlancev1.Audit_AUDIT_NEVER
			if changes || stated.GetAudit() == parlancev1.Audit_AUDIT_ALWAYS {
				methods[procedureOf(method)] = newAuditedMethod(method, stated)
			}
		}
	}
	return methods
}

func newAuditedMethod(method protoreflect.MethodDescriptor, stated *parlancev1.MethodPolicy) *auditedMethod {
	verb, noun := splitName(string(method.Name()))
	m := &auditedMethod{
		descriptor: method, action: snake(noun) + "." + snake(verb),
		keysOnly: stated.GetAudit() == parlancev1.Audit_AUDIT_KEYS,
	}
	for _, name := range routeFields(method) {
		switch {
		case name == "workspace_id":
			m.inWorkspace = true
		case strings.HasSuffix(name, idSuffix):
			m.ids = append(m.ids, name)
		}
	}
	rest, _ := proto.GetExtension(method.Options(), parlancev1.E_Rest).(*parlancev1.RestPolicy)
	m.creates = len(m.ids) == 0 && verb != "Update" && verb != "Delete" || rest.GetSuccessStatus() == 201
	m.setBefore(stated.GetAuditBefore(), verb, noun)
	return m
}

// setBefore finds the method that returns the settings before a call: the one that the policy
// states, or else the method Get of the same resource.
func (m *auditedMethod) setBefore(stated, verb, noun string) {
	service, ok := m.descriptor.Parent().(protoreflect.ServiceDescriptor)
	if !ok || m.creates || m.descriptor.IsStreamingServer() {
		return
	}
	if stated != "" {
		procedure, field, _ := strings.Cut(stated, " ")
		m.before = "/" + string(service.ParentFile().Package()) + "." + strings.Replace(procedure, ".", "/", 1)
		m.beforeField = protoreflect.Name(field)
		return
	}
	get := service.Methods().ByName(protoreflect.Name("Get" + noun))
	if get == nil {
		return
	}
	output := m.descriptor.Output().FullName()
	if output == get.Output().FullName() || verb == "Delete" {
		m.before = procedureOf(get)
	}
}

// resourceKinds returns the types of resources, by the fields of paths that name them: endpoint_id
// names a webhook_endpoint. They are the messages that methods return which get one resource.
func resourceKinds() map[string]string {
	kinds := map[string]string{}
	for _, service := range contractServices() {
		for i := range service.Methods().Len() {
			method := service.Methods().Get(i)
			fields, output := routeFields(method), method.Output()
			if len(fields) > 0 && string(method.Name()) == "Get"+string(output.Name()) && output.Fields().ByName("id") != nil {
				kinds[fields[len(fields)-1]] = snake(string(output.Name()))
			}
		}
	}
	return kinds
}

// routeFields returns the fields in the path of the REST route of a method, in its order.
func routeFields(method protoreflect.MethodDescriptor) (names []string) {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	rest, _ := proto.GetExtension(method.Options(), parlancev1.E_Rest).(*parlancev1.RestPolicy)
	pattern := cmp.Or(rule.GetGet(), rule.GetPost(), rule.GetPut(), rule.GetPatch(), rule.GetDelete(), rest.GetManual())
	for segment := range strings.SplitSeq(pattern, "/") {
		if name, isField := strings.CutPrefix(segment, "{"); isField {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// splitName splits the name of a method into its verb and its noun: Update, ToolsConfig.
func splitName(name string) (verb, noun string) {
	second := strings.IndexFunc(name[1:], unicode.IsUpper)
	if second < 0 {
		return name, ""
	}
	return name[:second+1], name[second+1:]
}

// snake turns ToolsConfig into tools_config.
func snake(name string) string {
	var out strings.Builder
	for i, char := range name {
		if unicode.IsUpper(char) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(char))
	}
	return out.String()
}

// idOf returns the field of a request, or of the metadata of an upload, as text.
func idOf(message proto.Message, name string) string {
	if message == nil {
		return ""
	}
	if id := textField(message, protoreflect.Name(name)); id != "" {
		return id
	}
	m := message.ProtoReflect()
	metadata := m.Descriptor().Fields().ByName("metadata")
	if metadata == nil || metadata.Message() == nil || !m.Has(metadata) {
		return ""
	}
	return idOf(m.Get(metadata).Message().Interface(), name)
}
