package tools

import (
	"maps"
	"strings"

	"parlance.dev/parlance/platform/seal"
)

// Prefixes of variables with a meaning. Source: decisions, Tools.
const (
	// SecretPrefix marks variables that reach tools and nothing else.
	SecretPrefix = "secret__"
	// SystemPrefix marks variables that the service sets.
	SystemPrefix = "system__"
)

// Variables are a session's resolved variables. The zero value has none.
type Variables struct {
	// Public may be seen by the model; the system__ ones are among them.
	Public map[string]string
	// Secret are those named secret__…
	Secret map[string]seal.Secret
}

// NewVariables splits values by their names.
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

// With returns v with more public variables, which replace those of the same name.
func (v Variables) With(public map[string]string) Variables {
	merged := maps.Clone(v.Public)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, public)
	v.Public = merged
	return v
}

// operator looks up what the operator's templates may use: everything.
func (v Variables) operator(name string) (string, bool) {
	if secret, ok := v.Secret[name]; ok {
		return secret.Reveal(), true
	}
	value, ok := v.Public[name]
	return value, ok
}

// masked is operator with every secret shown as redactedWord.
func (v Variables) masked(name string) (string, bool) {
	if _, ok := v.Secret[name]; ok {
		return redactedWord, true
	}
	value, ok := v.Public[name]
	return value, ok
}

// model looks up what the model's words may use. A secret's placeholder stays text there:
// otherwise a user could have secrets spoken into any argument.
func (v Variables) model(name string) (string, bool) {
	if strings.HasPrefix(name, SecretPrefix) {
		return "{{" + name + "}}", true
	}
	value, ok := v.Public[name]
	return value, ok
}
