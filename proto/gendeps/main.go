package main

import (
	"fmt"
	"os"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/jhump/protoreflect/v2/protoprint"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// wanted are the files ours import; google/protobuf/* comes with buf.
var wanted = []protoreflect.FileDescriptor{
	annotations.File_google_api_annotations_proto,
	annotations.File_google_api_http_proto,
	validate.File_buf_validate_validate_proto,
}

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: go run ./proto/gendeps DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gendeps:", err)
		os.Exit(1)
	}
}

// run replaces dir by the wanted files, each under its import path.
func run(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("emptying %s: %w", dir, err)
	}
	printer := protoprint.Printer{}
	if err := printer.PrintProtosToFileSystem(wanted, dir); err != nil {
		return fmt.Errorf("printing into %s: %w", dir, err)
	}
	return nil
}
