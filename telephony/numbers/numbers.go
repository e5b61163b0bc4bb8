package numbers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/phone"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// ID names a number (num_…).
type ID string

// Number is a telephone number on which an agent is called.
type Number struct {
	bun.BaseModel `bun:"table:phone_numbers,alias:n"`

	ID          ID                  `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	// PhoneNumber is E.164. There is one Number of it, whosoever: a carrier calls one address.
	PhoneNumber string    `bun:"phone_number"`
	AgentID     agents.ID `bun:"agent_id"`
	// Name is for people; may be empty.
	Name string `bun:"name"`
	// Enabled: calls are answered. Those for a number that is not enabled are rejected.
	Enabled bool `bun:"enabled"`
	// LookupURL is asked by LookUp; empty: nobody is.
	LookupURL string `bun:"lookup_url"`
	// SealedSecret signs look-ups. It opens with the number's binding.
	SealedSecret []byte `bun:"lookup_secret"`
	SecretHint   string `bun:"lookup_secret_hint"`
	// DynamicVariables are variables of sessions, none of them secret.
	DynamicVariables map[string]string `bun:"dynamic_variables,type:jsonb"`
	// Configured: the carrier was told to call ConfigureURL.
	Configured bool `bun:"configured"`
	// ConfigureURL is what the carrier is to call when there is a call for the number. It is empty
	// while the workspace has no carrier, and in what Find returns.
	ConfigureURL string    `bun:"-"`
	CreatedAt    time.Time `bun:"created_at"`
	UpdatedAt    time.Time `bun:"updated_at"`
}

// Ref is the number's workspace.
func (n Number) Ref() workspaces.Ref {
	return workspaces.Ref{TenantID: n.TenantID, ID: n.WorkspaceID}
}

// binding binds the sealed secret to its row. Rotation does not change it.
func (n Number) binding() seal.Binding {
	return seal.Binding{TenantID: string(n.TenantID), Record: string(n.ID), Field: "lookup_secret"}
}

// Minted is a number with its new secret, which is shown only once.
type Minted struct {
	Number
	Secret seal.Secret
}

// CreateParams describes a new number. PhoneNumber and AgentID are required.
type CreateParams struct {
	// PhoneNumber is a number of the carrier's account, with its country's code, as people write it.
	PhoneNumber string
	// AgentID is an agent of the workspace.
	AgentID agents.ID
	// Name is at most 200 characters.
	Name string
	// LookupURL is https and public, at most 2,048 characters; empty: nobody is asked.
	LookupURL string
	// DynamicVariables have the bounds of those of a session, and no secret__ among them.
	DynamicVariables map[string]string
	// Disabled has calls rejected.
	Disabled bool
}

// UpdateParams changes the fields that are not nil, with the bounds of CreateParams.
type UpdateParams struct {
	AgentID          *agents.ID
	Name             *string
	LookupURL        *string
	DynamicVariables *map[string]string
	Enabled          *bool
}

// apply changes the fields that are not nil.
func (p UpdateParams) apply(n *Number) {
	if p.AgentID != nil {
		n.AgentID = *p.AgentID
	}
	if p.Name != nil {
		n.Name = *p.Name
	}
	if p.LookupURL != nil {
		n.LookupURL = *p.LookupURL
	}
	if p.DynamicVariables != nil {
		n.DynamicVariables = variablesOf(*p.DynamicVariables)
	}
	if p.Enabled != nil {
		n.Enabled = *p.Enabled
	}
}

// check refuses what is wrong whatever the workspace has.
func (p UpdateParams) check() error {
	if p.Name != nil && utf8.RuneCountInString(*p.Name) > maxNameChars {
		return fault.InvalidField("name", "max_len", "name can have at most %d characters.", maxNameChars)
	}
	if p.DynamicVariables != nil {
		return checkVariables(*p.DynamicVariables)
	}
	return nil
}

const maxNameChars = 200

// parseNumber returns a number as E.164.
func parseNumber(text string) (string, error) {
	number, ok := phone.Parse(text)
	if !ok {
		return "", fault.InvalidField("phone_number", "invalid",
			"phone_number must be a telephone number with its country's code, such as +49 30 123456.")
	}
	return number.E164, nil
}

// variablesOf returns an empty map for nil, because the column has no null.
func variablesOf(given map[string]string) map[string]string {
	if given == nil {
		return map[string]string{}
	}
	return given
}

// checkVariables refuses variables that a number cannot keep.
func checkVariables(variables map[string]string) error {
	var fields []fault.Field
	add := func(field, code, message string) {
		fields = append(fields, fault.Field{Field: field, Code: code, Message: message})
	}
	if len(variables) > sessions.MaxVariables {
		add("dynamic_variables", "max_pairs", fmt.Sprintf("At most %d variables can be set.", sessions.MaxVariables))
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		field := "dynamic_variables[" + strconv.Quote(name) + "]"
		if code, message := refuseVariable(name, variables[name]); code != "" {
			add(field, code, message)
		} else if strings.HasPrefix(name, tools.SecretPrefix) {
			add(field, "secret", "A number keeps no secrets: secret variables come from the look-up.")
		}
	}
	if len(fields) > 0 {
		return fault.InvalidFields(fields...)
	}
	return nil
}

// refuseVariable says why a session would refuse a variable; an empty code: it would not.
// Source: package sessions, Create.
func refuseVariable(name, value string) (code, message string) {
	switch {
	case !sessions.VariableName.MatchString(name):
		return "name", "A variable's name begins with a letter or _ and goes on with letters, digits and _, at most 128 in all."
	case strings.HasPrefix(name, tools.SystemPrefix):
		return "reserved", "Names that begin with " + tools.SystemPrefix + " are set by the service."
	case len(value) > sessions.MaxVariableBytes || !sessions.IsStorable(value):
		return "max_bytes", fmt.Sprintf("A variable's value has at most %d bytes of text.", sessions.MaxVariableBytes)
	}
	return "", ""
}
