package tools

import (
	"maps"
	"strings"

	"parlance.dev/parlance/platform/redact"
	"parlance.dev/parlance/platform/seal"
)

// Prefixes of variable names with a meaning. Source: decisions, Tools.
const (
	// SecretPrefix marks variables that only tools get.
	SecretPrefix = "secret__"
	// SystemPrefix marks variables that the service sets.
	SystemPrefix = "system__"
)

// Variables are the resolved variables of a session. The zero value has none.
type Variables struct {
	// Public may be seen by the model. It includes the system__ variables.
	Public map[string]string
	// Secret are the secret__ variables.
	Secret map[string]seal.Secret
}

// NewVariables splits variables into public and secret ones by their names.
func NewVariables(values map[string]string) Variables {
	v := Variables{Public: map[string]string{}, Secret: map[string]seal.Secret{}}
	for name, value := range values {
		if strings.HasPrefix(name, SecretPrefix) {
			v.Secret[name] = seal.Secret(value)
		} else {
			v.Public[name] = value
		}
	}
	return v
}

// With returns v with more public variables. They replace those of the same name.
func (v Variables) With(public map[string]string) Variables {
	merged := maps.Clone(v.Public)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, public)
	v.Public = merged
	return v
}

// operator looks up a variable for a template of the operator, which may use all of them.
func (v Variables) operator(name string) (string, bool) {
	if secret, ok := v.Secret[name]; ok {
		return secret.Reveal(), true
	}
	value, ok := v.Public[name]
	return value, ok
}

// masked is operator with every secret replaced by a placeholder.
func (v Variables) masked(name string) (string, bool) {
	if _, ok := v.Secret[name]; ok {
		return redact.Placeholder, true
	}
	value, ok := v.Public[name]
	return value, ok
}

// model looks up a variable for the arguments of the model. The placeholder of a secret stays text:
// otherwise a user could get secrets into any argument.
func (v Variables) model(name string) (string, bool) {
	if strings.HasPrefix(name, SecretPrefix) {
		return "{{" + name + "}}", true
	}
	value, ok := v.Public[name]
	return value, ok
}
