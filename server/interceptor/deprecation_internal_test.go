package interceptor

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// methodWith is a method with the options.
func methodWith(t *testing.T, options *descriptorpb.MethodOptions) protoreflect.MethodDescriptor {
	t.Helper()
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("a.proto"), Package: proto.String("a"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("M")}},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("B"), Method: []*descriptorpb.MethodDescriptorProto{
			{Name: proto.String("Get"), InputType: proto.String(".a.M"), OutputType: proto.String(".a.M"), Options: options},
		}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Services().Get(0).Methods().Get(0)
}

func TestDeprecationOption(t *testing.T) {
	t.Parallel()
	const guide = "https://example.com/guide"
	rows := []struct {
		name       string
		deprecated bool
		option     *parlancev1.Deprecation
		isMistake  bool
	}{
		{"stays", false, nil, false},
		{"half a year", true, &parlancev1.Deprecation{Since: "2027-01-31", Sunset: "2027-08-01", Guide: guide}, false},
		{"without a day", true, nil, true},
		{"not marked", false, &parlancev1.Deprecation{Since: "2027-01-31", Sunset: "2027-08-01", Guide: guide}, true},
		{"too short", true, &parlancev1.Deprecation{Since: "2027-01-31", Sunset: "2027-07-01", Guide: guide}, true},
		{"without a guide", true, &parlancev1.Deprecation{Since: "2027-01-31", Sunset: "2027-08-01"}, true},
		{"no day", true, &parlancev1.Deprecation{Since: "soon", Sunset: "2027-08-01", Guide: guide}, true},
	}
	for _, row := range rows {
		options := &descriptorpb.MethodOptions{}
		if row.deprecated {
			options.Deprecated = proto.Bool(true)
		}
		if row.option != nil {
			proto.SetExtension(options, parlancev1.E_Deprecation, row.option)
		}
		got, err := deprecationOf(methodWith(t, options))
		if (err != nil) != row.isMistake {
			t.Errorf("%s: error %v", row.name, err)
		}
		if wants := row.deprecated && !row.isMistake; (got != nil) != wants {
			t.Errorf("%s: read %+v", row.name, got)
		} else if wants && !got.Since.Equal(time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: since %s", row.name, got.Since)
		}
	}
}
