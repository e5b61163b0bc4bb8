package importer

import (
	"fmt"
	"io"
	"maps"
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

// fill puts the values into the tools of a plan, and says which each tool got. A tool goes by the
// name that it has here, or by that of the export when no other tool has that. Errors: a name of
// no tool.
func (s secrets) fill(plan *exports.Plan) (map[*exports.Tool]map[string]string, error) {
	given := map[*exports.Tool]map[string]string{}
	for name, values := range s {
		tool := toolOf(plan, name)
		if tool == nil {
			return nil, command.Usagef("--secret names the tool %q, which the export does not have, or has several times", name)
		}
		if given[tool] != nil {
			return nil, command.Usagef("--secret names the tool %s by two names", tool.Want.GetSlug())
		}
		given[tool] = values
		for header, value := range values {
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
	}
	return given, nil
}

// toolOf finds the tool that --secret names; nil when there is none, or more than one.
func toolOf(plan *exports.Plan, name string) (found *exports.Tool) {
	for _, tool := range plan.Tools {
		if strings.EqualFold(tool.Want.GetSlug(), name) {
			return tool
		}
	}
	for _, tool := range plan.Tools {
		switch {
		case !isNamed(tool.Base, name):
		case found != nil:
			return nil
		default:
			found = tool
		}
	}
	return found
}

// near are the headers that --secret may give a tool, before it is known which name it has here.
func (s secrets) near(tool *exports.Tool) map[string]string {
	all := map[string]string{}
	for name, values := range s {
		if isNamed(tool.Base, name) {
			maps.Copy(all, values)
		}
	}
	return all
}
