package interceptor

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/workspaces"
)

// Policy is what a method requires of its caller.
type Policy struct {
	Scope workspaces.Scope
	// SessionToken allows the token of the session in the path, too.
	SessionToken bool
	// Rate is the bucket: read, write, session or upload.
	Rate string
	// Twin is, of a method that streams the answer of another one, that method's procedure.
	Twin string
	// Path are the fields of the request that are in the path of the REST route.
	Path []string
	// Billing allows people with that role, whatever the scope.
	Billing bool
	// Spends says that a call costs money of a model or of the telephone.
	Spends bool
	// Personal refuses analysts.
	Personal bool
	// Deprecation is nil for a method that stays.
	Deprecation *Deprecation
}

// otherRole says what people can do whose role does not allow a call.
const otherRole = "An owner can give you another role."

// admitRole refuses a person whose role may not call the method. Errors: Forbidden auth-scope.
func (p Policy) admitRole(caller workspaces.Principal) error {
	switch caller.Role {
	case workspaces.RoleBilling:
		if p.Billing {
			return nil
		}
		return fault.New(fault.AuthScope, "Your role \"billing\" allows usage, the plan and payments only. "+otherRole)
	case workspaces.RoleAnalyst:
		if p.Personal {
			return fault.New(fault.AuthScope, "Your role \"analyst\" does not show this: it is full of personal data. "+otherRole)
		}
	case workspaces.RoleNone:
		return fault.New(fault.AuthScope, "You have no role here. An owner can give you one.")
	case workspaces.RoleOwner, workspaces.RoleOperator:
	}
	return caller.Require(p.Scope)
}

// Changes reports whether the method may change something, so that an Idempotency-Key counts.
func (p Policy) Changes() bool { return p.Rate != "" && p.Rate != "read" }

// Policies maps procedures ("/parlance.v1.ToolService/RunTool") to their policies.
type Policies map[string]Policy

// NewPolicies reads the policies of all services of the contract.
// Error: a mistake in the protos: a method states no scope, or is deprecated without saying since
// when and until when.
func NewPolicies() (Policies, error) {
	policies := Policies{}
	for _, service := range contractServices() {
		methods := service.Methods()
		for i := range methods.Len() {
			method := methods.Get(i)
			policy, err := policyOf(method)
			if err != nil {
				return nil, err
			}
			policies[procedureOf(method)] = policy
		}
		for i := range methods.Len() {
			policies.pair(methods.Get(i))
		}
	}
	return policies, nil
}

// pair notes the twin of the method that streams the answer of this one, if there is one.
func (p Policies) pair(method protoreflect.MethodDescriptor) {
	rest, _ := proto.GetExtension(method.Options(), parlancev1.E_Rest).(*parlancev1.RestPolicy)
	service, ok := method.Parent().(protoreflect.ServiceDescriptor)
	if !ok || rest.GetEventStream() == "" {
		return
	}
	stream := service.Methods().ByName(protoreflect.Name(rest.GetEventStream()))
	policy := p[procedureOf(stream)]
	policy.Twin, policy.Path = procedureOf(method), pathFields(method)
	p[procedureOf(stream)] = policy
}

// pathFields returns the fields in the path of a method's REST route, in its order.
func pathFields(method protoreflect.MethodDescriptor) (names []string) {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	pattern := cmp.Or(rule.GetGet(), rule.GetPost(), rule.GetPut(), rule.GetPatch(), rule.GetDelete())
	for segment := range strings.SplitSeq(pattern, "/") {
		if name, isField := strings.CutPrefix(segment, "{"); isField {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// procedureOf returns the path of a method: "/parlance.v1.ToolService/RunTool".
func procedureOf(method protoreflect.MethodDescriptor) string {
	return "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
}

// ServiceNames lists the services of the contract in order: "parlance.v1.AgentService", ….
func ServiceNames() []string {
	var names []string
	for _, service := range contractServices() {
		names = append(names, string(service.FullName()))
	}
	slices.Sort(names)
	return names
}

// contractServices finds the services by their descriptors. A list kept by hand could leave one
// out, which would then be served without asking for a key.
func contractServices() []protoreflect.ServiceDescriptor {
	var services []protoreflect.ServiceDescriptor
	contract := parlancev1.File_parlance_v1_workspaces_proto.Package()
	protoregistry.GlobalFiles.RangeFilesByPackage(contract, func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			services = append(services, file.Services().Get(i))
		}
		return true
	})
	return services
}

func policyOf(method protoreflect.MethodDescriptor) (Policy, error) {
	stated, _ := proto.GetExtension(method.Options(), parlancev1.E_Policy).(*parlancev1.MethodPolicy)
	scope := workspaces.Scope(stated.GetScope())
	if scope == workspaces.ScopeNone || scope > workspaces.ScopeAdmin {
		return Policy{}, fmt.Errorf("the method %s states no scope", method.FullName())
	}
	policy := Policy{
		Scope: scope, SessionToken: stated.GetSessionToken(), Rate: stated.GetRate(), Path: pathFields(method),
		Billing: stated.GetBilling(), Personal: stated.GetPersonal(), Spends: stated.GetSpends(),
	}
	deprecation, err := deprecationOf(method)
	if err != nil {
		return Policy{}, err
	}
	policy.Deprecation = deprecation
	if policy.Rate == "" {
		policy.Rate = "write"
		if verb(method) == http.MethodGet {
			policy.Rate = "read"
		}
	}
	return policy, nil
}

// verb returns the HTTP method of a method's REST route, "" if it has none.
func verb(method protoreflect.MethodDescriptor) string {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	if rule.GetGet() != "" {
		return http.MethodGet
	}
	rest, _ := proto.GetExtension(method.Options(), parlancev1.E_Rest).(*parlancev1.RestPolicy)
	manual, _, _ := strings.Cut(rest.GetManual(), " ")
	return manual
}
