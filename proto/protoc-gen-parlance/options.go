package main

import (
	"fmt"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

const optionsFile = "parlance/v1/options.proto"

// restPolicy mirrors parlance.v1.RestPolicy.
type restPolicy struct {
	successStatus int
	location      string
	manual        string
	eventStream   string
	maxBodyBytes  int64
}

// optionReader reads our own method options from the descriptors of the request. The plugin
// cannot import their generated Go code: it is part of what generates it.
type optionReader struct {
	types  *protoregistry.Types
	rest   protoreflect.ExtensionType
	policy protoreflect.ExtensionType
	event  protoreflect.ExtensionType // nil: no message is an event's
}

func newOptionReader(plugin *protogen.Plugin) (*optionReader, error) {
	file, ok := plugin.FilesByPath[optionsFile]
	if !ok {
		return nil, fmt.Errorf("no file imports %s", optionsFile)
	}
	reader := &optionReader{types: &protoregistry.Types{}}
	for _, extension := range file.Extensions {
		xt := dynamicpb.NewExtensionType(extension.Desc)
		if err := reader.types.RegisterExtension(xt); err != nil {
			return nil, fmt.Errorf("registering %s: %w", extension.Desc.FullName(), err)
		}
		switch extension.Desc.Name() {
		case "rest":
			reader.rest = xt
		case "policy":
			reader.policy = xt
		case "event":
			reader.event = xt
		}
	}
	if reader.rest == nil || reader.policy == nil {
		return nil, fmt.Errorf("%s lacks the extensions rest and policy", optionsFile)
	}
	return reader, nil
}

// read returns the method's google.api.http rule (nil without one) and our options.
func (o *optionReader) read(method *protogen.Method) (*annotations.HttpRule, restPolicy, error) {
	rule, _ := proto.GetExtension(method.Desc.Options(), annotations.E_Http).(*annotations.HttpRule)
	options, err := o.reparse(method)
	if err != nil {
		return nil, restPolicy{}, err
	}
	message := options.ProtoReflect().Get(o.rest.TypeDescriptor()).Message()
	get := func(name protoreflect.Name) protoreflect.Value {
		return message.Get(message.Descriptor().Fields().ByName(name))
	}
	return rule, restPolicy{
		successStatus: int(get("success_status").Int()),
		location:      get("location").String(),
		manual:        get("manual").String(),
		eventStream:   get("event_stream").String(),
		maxBodyBytes:  get("max_body_bytes").Int(),
	}, nil
}

// scope is the least scope of the method in lower case ("operator"), and whether the token of
// a session is accepted too.
func (o *optionReader) scope(method *protogen.Method) (name string, sessionToken bool, err error) {
	options, err := o.reparse(method)
	if err != nil {
		return "", false, err
	}
	message := options.ProtoReflect().Get(o.policy.TypeDescriptor()).Message()
	fields := message.Descriptor().Fields()
	scope := fields.ByName("scope")
	value := scope.Enum().Values().ByNumber(message.Get(scope).Enum())
	return string(value.Name()), message.Get(fields.ByName("session_token")).Bool(), nil
}

// reparse decodes the method's options again with our extensions known.
func (o *optionReader) reparse(method *protogen.Method) (*descriptorpb.MethodOptions, error) {
	raw, err := proto.Marshal(method.Desc.Options())
	if err != nil {
		return nil, fmt.Errorf("%s: encoding options: %w", method.Desc.FullName(), err)
	}
	options := &descriptorpb.MethodOptions{}
	if err := (proto.UnmarshalOptions{Resolver: o.types}).Unmarshal(raw, options); err != nil {
		return nil, fmt.Errorf("%s: decoding options: %w", method.Desc.FullName(), err)
	}
	return options, nil
}

// eventName is the outbound event that the message is the data of; empty: none.
func (o *optionReader) eventName(message *protogen.Message) (string, error) {
	if o.event == nil {
		return "", nil
	}
	raw, err := proto.Marshal(message.Desc.Options())
	if err != nil {
		return "", fmt.Errorf("%s: encoding options: %w", message.Desc.FullName(), err)
	}
	options := &descriptorpb.MessageOptions{}
	if err := (proto.UnmarshalOptions{Resolver: o.types}).Unmarshal(raw, options); err != nil {
		return "", fmt.Errorf("%s: decoding options: %w", message.Desc.FullName(), err)
	}
	return options.ProtoReflect().Get(o.event.TypeDescriptor()).String(), nil
}
