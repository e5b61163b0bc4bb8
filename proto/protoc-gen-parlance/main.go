package main

import (
	"flag"
	"fmt"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	var flags flag.FlagSet
	openapi := flags.Bool("openapi", true, "write the OpenAPI document")
	protogen.Options{ParamFunc: flags.Set}.Run(func(plugin *protogen.Plugin) error {
		plugin.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL)
		return generate(plugin, *openapi)
	})
}

// generate writes one route table for each Go package with services, and the document.
func generate(plugin *protogen.Plugin, openapi bool) error {
	var all []endpoint
	packages := map[protogen.GoImportPath][]endpoint{}
	files := map[protogen.GoImportPath]*protogen.File{}
	var order []protogen.GoImportPath
	var events []event
	for _, file := range plugin.Files {
		if !file.Generate {
			continue
		}
		events = append(events, eventsOf(file)...)
		if len(file.Services) == 0 {
			continue
		}
		found, err := walk(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file.Desc.Path(), err)
		}
		if files[file.GoImportPath] == nil {
			files[file.GoImportPath] = file
			order = append(order, file.GoImportPath)
		}
		packages[file.GoImportPath] = append(packages[file.GoImportPath], found...)
		all = append(all, found...)
	}
	if err := refuseTwins(all); err != nil {
		return err
	}
	for _, path := range order {
		writeRoutes(plugin, files[path], packages[path])
	}
	if openapi && len(all) > 0 {
		return writeDocument(plugin, files[order[0]], all, events)
	}
	return nil
}
