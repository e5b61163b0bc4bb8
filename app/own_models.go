package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/anthropic"
	"parlance.dev/parlance/provider/model/azure"
	"parlance.dev/parlance/provider/model/openai"
	"parlance.dev/parlance/workspaces"
)

const (
	// credentialTestTimeout limits the call of a test.
	credentialTestTimeout = 30 * time.Second
	// credentialTestTokens limits its answer, which the workspace pays for.
	credentialTestTokens = 16
)

// openOwn returns a provider with a workspace's own credential, behind the guard. It is made for
// each turn, so no key stays in memory.
func (m *models) openOwn(c workspaces.Credential, key seal.Secret, name string) (model.Provider, error) {
	made, name, err := m.newOwn(c, key, name)
	if err != nil {
		return nil, err
	}
	return ownModel{Provider: m.watched(made, name, string(c.ID)+" "+c.BaseURL), credential: c.ID}, nil
}

// newOwn is openOwn without metrics. It also returns the model.
func (m *models) newOwn(c workspaces.Credential, key seal.Secret, name string) (made model.Provider, answers string, err error) {
	name = cmp.Or(name, c.DefaultModel)
	switch c.Provider {
	case providerAnthropic:
		name = cmp.Or(name, defaultAnthropicModel)
		made, err = anthropic.New(anthropic.Config{
			BaseURL: c.BaseURL, APIKey: key.Reveal(), Model: name, Client: m.guarded,
			Timeouts: m.config.ModelTimeouts,
		})
	case providerAzure:
		made, err = m.openAzure(azure.Config{BaseURL: c.BaseURL, APIKey: key.Reveal(), Deployment: name, Client: m.guarded})
	default:
		name = cmp.Or(name, defaultOpenAIModel)
		made, err = openai.New(openai.Config{
			BaseURL: c.BaseURL, APIKey: key.Reveal(), Model: name, Client: m.guarded,
			Timeouts: m.config.ModelTimeouts,
		})
	}
	if err != nil {
		return nil, "", fmt.Errorf("credential %s: %w", c.ID, err)
	}
	return made, name, nil
}

// ownModel adds to each failure whose key was used, without the key.
type ownModel struct {
	model.Provider

	credential workspaces.CredentialID
}

// Stream implements model.Provider.
func (o ownModel) Stream(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	result, err := o.Provider.Stream(ctx, req, emit)
	return result, withCredential(o.credential, err)
}

// withCredential adds to a fault whose key was used.
func withCredential(id workspaces.CredentialID, err error) error {
	decided, ok := errors.AsType[*fault.Error](err)
	if !ok || err == nil {
		return err
	}
	ours := *decided
	ours.Message = "With the workspace's own credential " + string(id) + ": " + decided.Message
	ours.Meta = map[string]string{"credential_id": string(id)}
	maps.Copy(ours.Meta, decided.Meta)
	return &ours
}

// TestCredential implements workspaces.CredentialTester with one short answer. A refusal by the
// provider is a result and not an error.
func (m *models) TestCredential(ctx context.Context, c workspaces.Credential, key seal.Secret) (workspaces.CredentialTest, error) {
	made, _, err := m.newOwn(c, key, "") // asked although it may have failed before: that is what a test is for
	if err != nil {
		return workspaces.CredentialTest{}, err
	}
	provider := ownModel{Provider: made, credential: c.ID}
	ctx, cancel := context.WithTimeout(ctx, credentialTestTimeout)
	defer cancel()
	began := m.now()
	result, err := provider.Stream(ctx, model.Request{
		Messages: []model.Message{{Role: model.RoleUser, Text: "Say hello."}}, MaxOutputTokens: credentialTestTokens,
	}, func(model.Event) error { return nil })
	tried := workspaces.CredentialTest{OK: err == nil, Model: result.Model, Took: m.now().Sub(began)}
	switch {
	case err == nil:
		tried.Detail = fmt.Sprintf("%s answered with the model %s.", c.Provider, result.Model)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		tried.Detail = c.Provider + " did not answer in time."
	case ctx.Err() != nil:
		return workspaces.CredentialTest{}, ctx.Err()
	default:
		tried.Detail = fault.From(err).Message
	}
	return tried, nil
}
