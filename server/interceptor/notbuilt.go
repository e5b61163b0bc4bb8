package interceptor

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/fault"
)

// notBuilt are fields of requests that are in the contract and have no effect yet. A request that
// sets one is refused, so that nobody relies on it.
var notBuilt = map[protoreflect.FullName]bool{
	"parlance.v1.ListAgentsRequest.q":         true,
	"parlance.v1.ListAgentsRequest.order_by":  true,
	"parlance.v1.ListToolsRequest.q":          true,
	"parlance.v1.ListToolsRequest.order_by":   true,
	"parlance.v1.ListSourcesRequest.q":        true,
	"parlance.v1.ListSourcesRequest.order_by": true,
}

// refuseNotBuilt errors: Unimplemented not-implemented with the field.
func refuseNotBuilt(message protoreflect.Message) (err error) {
	message.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if notBuilt[field.FullName()] {
			err = fault.New(fault.NotImplemented, "The field %s is not built yet; leave it out.", field.Name())
		}
		return err == nil
	})
	return err
}
