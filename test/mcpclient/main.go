// Command mcpclient asks an MCP server on this machine with the client that tools use, for .ci/mcp:
//
//	mcpclient URL                                 lists the tools and calls each, with arguments
//	                                              made from its schema
//	mcpclient -call 'echo={"message":"x"}' URL    lists, and makes the calls given, in order
//	mcpclient -list URL                           lists only
//
// It prints each answer after the tool's name, and fails when a call does.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/mcp"
)

func main() {
	var calls []string
	flag.Func("call", "NAME=ARGUMENTS of a call, as JSON", func(text string) error { calls = append(calls, text); return nil })
	listOnly := flag.Bool("list", false, "list only")
	timeout := flag.Duration("timeout", 20*time.Second, "how long a server may be silent")
	flag.Parse()
	if err := run(flag.Arg(0), calls, *listOnly, *timeout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(url string, calls []string, listOnly bool, timeout time.Duration) error {
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8", "::1/128"}})
	if err != nil {
		return err
	}
	client := mcp.New(mcp.Options{HTTP: guard.Client(publicnet.ClientOptions{})})
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	endpoint := mcp.Endpoint{URL: url, MaxAnswerBytes: 256 << 10}
	list, err := client.List(ctx, "key", endpoint)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	for _, tool := range list {
		fmt.Printf("tool %s\n", tool.Name)
	}
	if len(calls) == 0 && !listOnly {
		for _, tool := range list {
			calls = append(calls, tool.Name+"="+sample(tool.InputSchema))
		}
	}
	for i, text := range calls {
		name, arguments, _ := strings.Cut(text, "=")
		result, err := client.Call(ctx, "key", endpoint, mcp.CallParams{
			Tool: name, Arguments: json.RawMessage(arguments), ID: fmt.Sprint("call_", i), Timeout: timeout, MaxTime: 2 * timeout,
		})
		if err != nil {
			return fmt.Errorf("call %s: %w", name, err)
		}
		fmt.Printf("%s: %s (error %t, %d attempts)\n", name, result.Text, result.IsError, result.Attempts)
	}
	return nil
}

// sample is arguments that a schema takes, for schemas as simple as those of test servers.
func sample(raw json.RawMessage) string {
	var schema struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(raw, &schema) != nil {
		return "{}"
	}
	arguments := map[string]any{}
	for name, property := range schema.Properties {
		switch property.Type {
		case "number", "integer":
			arguments[name] = 2
		case "boolean":
			arguments[name] = true
		default:
			arguments[name] = "text"
		}
	}
	out, err := json.Marshal(arguments)
	if err != nil {
		return "{}"
	}
	return string(out)
}
