package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
)

// flavour is one of the two clients.
type flavour struct {
	// prefix is of the names of its classes.
	prefix string
	// def begins a method that answers once, await stands before what it calls, and iterator is
	// what the other methods return.
	def, await, iterator string
}

var flavours = []flavour{
	{"", "def", "", "Iterator"},
	{"Async", "async def", "await ", "AsyncIterator"},
}

// services writes the module of the services of a file.
type services struct {
	out  *protogen.GeneratedFile
	used map[string]map[string]bool // names by the module that has them
}

func writeServices(plugin *protogen.Plugin, file *protogen.File) error {
	path := "parlance/_services/" + module(file) + ".py"
	body := plugin.NewGeneratedFile(path+".body", "")
	body.Skip()
	s := &services{out: body, used: map[string]map[string]bool{}}
	for _, service := range file.Services {
		for _, flavour := range flavours {
			if err := s.writeService(service, flavour); err != nil {
				return err
			}
		}
	}
	content, err := body.Content()
	if err != nil {
		return err
	}
	out := plugin.NewGeneratedFile(path, "")
	out.P(header)
	out.P(`"""`, strings.Join(docLines(string(file.Services[0].Comments.Leading)), "\n"), "\n", `"""`)
	out.P()
	out.P("from __future__ import annotations")
	out.P()
	out.P("from datetime import datetime")
	out.P("from typing import Any, AsyncIterator, Iterator, List, Mapping, Sequence, Tuple, Union")
	out.P()
	s.writeImports(out)
	_, err = out.Write(content)
	return err
}

func (s *services) writeImports(out *protogen.GeneratedFile) {
	var modules []string
	for name := range s.used {
		modules = append(modules, name)
	}
	slices.Sort(modules)
	slices.Reverse(modules) // other people's before ours
	for _, name := range modules {
		var names []string
		for used := range s.used[name] {
			names = append(names, "    "+used+",")
		}
		slices.Sort(names)
		out.P("from ", name, " import (\n", strings.Join(names, "\n"), "\n)")
	}
	out.P()
	out.P("from .._calls import AsyncService, CallOptions, Service")
	out.P("from .._messages import build")
}

// use returns the name of a message, and has it imported.
func (s *services) use(message *protogen.Message) string {
	in, name := "..v1."+messageModule(message)+"_pb2", message.GoIdent.GoName
	if full := string(message.Desc.FullName()); strings.HasPrefix(full, "google.protobuf.") {
		in = "google.protobuf." + messageModule(message) + "_pb2"
	}
	if s.used[in] == nil {
		s.used[in] = map[string]bool{}
	}
	s.used[in][name] = true
	return name
}

func messageModule(message *protogen.Message) string {
	path := message.Desc.ParentFile().Path()
	return strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".proto")
}

func (s *services) writeService(service *protogen.Service, flavour flavour) error {
	s.out.P()
	s.out.P()
	s.out.P("class ", flavour.prefix, service.GoName, "(", flavour.prefix, "Service):")
	s.doc("    ", docLines(string(service.Comments.Leading)))
	for _, method := range service.Methods {
		if method.Desc.IsStreamingClient() {
			continue
		}
		if err := s.writeMethod(method, flavour); err != nil {
			return err
		}
		if items := pagedField(method); items != nil {
			s.writePages(method, items, flavour)
		}
	}
	return nil
}

// writeMethod writes an RPC with one answer or with a stream of answers.
func (s *services) writeMethod(method *protogen.Method, flavour flavour) error {
	fields := method.Input.Fields
	options := []string{"timeout: float | None = None", "idempotency_key: str | None = None", "extra_headers: Mapping[str, str] | None = None"}
	def, await, call, answer := flavour.def, flavour.await, "_unary", s.use(method.Output)
	returns := answer
	switch {
	case method.Desc.IsStreamingServer():
		def, await, call, returns = "def", "", "_stream", flavour.iterator+"["+answer+"]"
	case method.Output.Desc.FullName() == "google.protobuf.Empty":
		returns = "None"
	}
	for _, field := range fields {
		if slices.Contains([]string{"timeout", "idempotency_key", "extra_headers", "self"}, string(field.Desc.Name())) {
			return fmt.Errorf("the field %s has the name of an option of every call", field.Desc.FullName())
		}
	}
	s.signature(def, snake(method.GoName), fields, options, returns)
	s.doc("        ", append(docLines(string(method.Comments.Leading)), argumentLines(fields)...))
	s.request(method.Input, fields)
	result := "return "
	if returns == "None" {
		result = ""
	}
	s.out.P("        options = CallOptions(timeout, idempotency_key, extra_headers)")
	s.out.P("        ", result, await, "self.", call, "(")
	s.out.P(`            "`, path(method), `", request, `, answer, ", options")
	s.out.P("        )")
	return nil
}

// writePages writes the iterator over all pages of a list.
func (s *services) writePages(method *protogen.Method, items *protogen.Field, flavour flavour) {
	var fields []*protogen.Field
	for _, field := range method.Input.Fields {
		if field.Desc.Name() != "page_token" {
			fields = append(fields, field)
		}
	}
	options := []string{"timeout: float | None = None", "extra_headers: Mapping[str, str] | None = None"}
	s.signature("def", pagesName(method), fields, options, flavour.iterator+"["+s.use(items.Message)+"]")
	lines := []string{"The items of all pages of " + snake(method.GoName) + ", which are read as they are needed."}
	s.doc("        ", append(lines, argumentLines(fields)...))
	s.request(method.Input, fields)
	s.out.P("        options = CallOptions(timeout, None, extra_headers)")
	s.out.P("        return self._pages(")
	s.out.P(`            "`, path(method), `", request, `, s.use(method.Output), `, "`, items.Desc.Name(), `", options`)
	s.out.P("        )")
}

func (s *services) signature(def, name string, fields []*protogen.Field, options []string, returns string) {
	s.out.P()
	s.out.P("    ", def, " ", name, "(")
	s.out.P("        self,")
	s.out.P("        *,")
	for _, field := range fields {
		s.out.P("        ", argument(field), ": ", s.typeOf(field), " | None = None,")
	}
	for _, option := range options {
		s.out.P("        ", option, ",")
	}
	s.out.P("    ) -> ", returns, ":")
}

func (s *services) request(input *protogen.Message, fields []*protogen.Field) {
	if len(fields) == 0 {
		s.out.P("        request = ", s.use(input), "()")
		return
	}
	s.out.P("        fields = {")
	for _, field := range fields {
		s.out.P(`            "`, field.Desc.Name(), `": `, argument(field), ",")
	}
	s.out.P("        }")
	s.out.P("        request = build(", s.use(input), ", fields)")
}

// doc writes a docstring.
func (s *services) doc(indent string, lines []string) {
	if len(lines) == 0 {
		return
	}
	s.out.P(indent, `"""`, lines[0])
	for _, line := range lines[1:] {
		s.out.P(strings.TrimRight(indent+line, " "))
	}
	s.out.P(indent, `"""`)
}

// path is what the SDK calls a method by: "AgentService/CreateAgent".
func path(method *protogen.Method) string { return method.Parent.GoName + "/" + method.GoName }

// pagesName is the name of the iterator over all pages: "ListAgents" is all_agents.
func pagesName(method *protogen.Method) string {
	_, noun, _ := strings.Cut(snake(method.GoName), "_")
	return "all_" + noun
}

// pagedField is the list in the answer of a method that answers in pages; nil for other methods.
func pagedField(method *protogen.Method) *protogen.Field {
	if method.Desc.IsStreamingServer() || method.Desc.Input().Fields().ByName("page_token") == nil {
		return nil
	}
	var items *protogen.Field
	for _, field := range method.Output.Fields {
		if field.Desc.IsList() && field.Message != nil && items == nil {
			items = field
		}
	}
	return items
}
