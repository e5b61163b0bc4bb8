package importer

import (
	"fmt"
	"io"
	"net/textproto"
	"os"
	"slices"
	"strings"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/importer/exports"
)

// maxSecretBytes is far above the size of any header.
const maxSecretBytes = 64 << 10

// secrets are values of headers by the lower-case slug of their tool and their canonical name.
type secrets map[string]map[string]string

// readSecrets reads the values of --secret from where they are.
func readSecrets(given []string) (secrets, error) {
	found := secrets{}
	for _, one := range given {
		name, from, hasValue := strings.Cut(one, "=")
		tool, header, hasTool := strings.Cut(name, ":")
		if !hasValue || !hasTool || tool == "" || header == "" {
			return nil, command.Usagef("--secret takes TOOL:HEADER=@file or TOOL:HEADER=env:NAME")
		}
		value, err := readSecret(from)
		if err != nil {
			return nil, command.Usage(err)
		}
		tool = strings.ToLower(tool)
		if found[tool] == nil {
			found[tool] = map[string]string{}
		}
		found[tool][textproto.CanonicalMIMEHeaderKey(header)] = value
	}
	return found, nil
}

func readSecret(from string) (string, error) {
	var value string
	switch path, isFile := strings.CutPrefix(from, "@"); {
	case isFile:
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }() // only read
		raw, err := io.ReadAll(io.LimitReader(file, maxSecretBytes+1))
		if err != nil || len(raw) > maxSecretBytes {
			return "", fmt.Errorf("%s cannot be read, or is larger than %d KiB", path, maxSecretBytes>>10)
		}
		value = strings.TrimSpace(string(raw))
	case strings.HasPrefix(from, "env:"):
		set, _ := app.OSSource(nil).LookupEnv(strings.TrimPrefix(from, "env:"))
		value = strings.TrimSpace(set)
	default:
		return "", fmt.Errorf("--secret takes @file or env:NAME: what stands on the command line is seen by everybody on this machine")
	}
	if value == "" {
		return "", fmt.Errorf("the secret in %s is empty", from)
	}
	return value, nil
}

// fill puts the values into the tools of a plan. Errors: a tool that the plan does not have.
func (s secrets) fill(plan *exports.Plan) error {
	left := map[string]bool{}
	for tool := range s {
		left[tool] = true
	}
	for _, tool := range plan.Tools {
		slug := strings.ToLower(tool.Want.GetSlug())
		for header, value := range s[slug] {
			if header == "Authorization" {
				tool.Want.AuthHeader = value
			} else {
				if tool.Want.SecretHeaders == nil {
					tool.Want.SecretHeaders = map[string]string{}
				}
				tool.Want.SecretHeaders[header] = value
				delete(tool.Want.GetHeaders(), header)
			}
			tool.Secrets = slices.DeleteFunc(tool.Secrets, func(name string) bool { return name == header })
		}
		delete(left, slug)
	}
	for tool := range left {
		return command.Usagef("--secret names the tool %q, which the export does not have", tool)
	}
	return nil
}
