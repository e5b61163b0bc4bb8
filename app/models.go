package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/breaker"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/anthropic"
	"parlance.dev/parlance/provider/model/azure"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/provider/model/openai"
	"parlance.dev/parlance/workspaces"
)

// Names of the providers an agent may choose.
const (
	providerOpenAI    = "openai"
	providerAnthropic = "anthropic"
	providerAzure     = azure.Name
)

// Models that answer when only a key is set.
const (
	defaultOpenAIModel    = "gpt-4.1-mini"
	defaultAnthropicModel = "claude-sonnet-4-5"
)

// idleModelConns are kept open to a provider's host: some dozens of answers go out at once, and their number goes up
// and down; a new connection is a TLS handshake that the user waits for.
const idleModelConns = 64

// modelRequestBytes is what nearly all requests of a turn fit in: instructions, passages and some history.
const modelRequestBytes = 16 << 10

// models are the installation's providers: one instance a provider and model, made when first
// asked for. A workspace's own credential goes before them.
type models struct {
	config Config
	// clients reach the operator's hosts only, by provider; guarded reaches what tenants may name.
	clients  map[string]*http.Client
	guarded  *http.Client
	fallback string
	// metrics and log are nil where nothing is measured and nobody reads.
	metrics *model.Metrics
	log     *slog.Logger
	now     func() time.Time
	breaker *breaker.Breaker
	// credentials are the workspaces' own keys; nil: there are none.
	credentials *workspaces.Credentials

	mu   sync.Mutex
	made map[agents.ModelRef]model.Provider
}

// newModels decides which provider answers by default: an OpenAI-compatible one, else Azure, else
// Anthropic, else the extractive responder.
func newModels(config Config, guard *publicnet.Guard) (*models, error) {
	m := &models{config: config, clients: map[string]*http.Client{}, made: map[agents.ModelRef]model.Provider{}, fallback: extractive.Name}
	m.guarded, m.now, m.breaker = guard.Client(publicnet.ClientOptions{}), time.Now, model.Breaker()
	bases := map[string]string{}
	if config.AnthropicAPIKey.IsSet() {
		bases[providerAnthropic], m.fallback = cmp.Or(config.AnthropicBaseURL, anthropic.DefaultBaseURL), providerAnthropic
	}
	if config.Azure.set() {
		bases[providerAzure], m.fallback = config.Azure.BaseURL, providerAzure
	}
	if config.Model.BaseURL != "" || config.Model.APIKey.IsSet() {
		bases[providerOpenAI], m.fallback = cmp.Or(config.Model.BaseURL, openai.DefaultBaseURL), providerOpenAI
	}
	for name, base := range bases {
		client, err := guard.OperatorClient([]string{base}, publicnet.ClientOptions{
			MaxIdlePerHost:   idleModelConns,
			WriteBufferBytes: modelRequestBytes,
		})
		if err != nil {
			return nil, fmt.Errorf("model server %s: %w", name, err)
		}
		m.clients[name] = client
	}
	return m, nil
}

// Choose is turns.ModelFunc: the provider of the agent's choice, with its fallbacks. Each of
// them that the workspace has a credential for is asked with that, read anew for each turn. One that is
// not configured fails when its turn comes. Errors: Upstream upstream-failed when none is.
func (m *models) Choose(ctx context.Context, ref workspaces.Ref, choice agents.Model) (model.Provider, error) {
	refs := append([]agents.ModelRef{{Provider: choice.Provider, Name: choice.Name}}, choice.Fallbacks...)
	own, err := m.own(ctx, ref, refs)
	if err != nil {
		return nil, err
	}
	return m.choose(refs, own)
}

// ChooseInstalled is Choose for a workspace that has no credential.
func (m *models) ChooseInstalled(_ context.Context, _ workspaces.Ref, choice agents.Model) (model.Provider, error) {
	return m.choose(append([]agents.ModelRef{{Provider: choice.Provider, Name: choice.Name}}, choice.Fallbacks...), nil)
}

func (m *models) choose(refs []agents.ModelRef, own map[string]workspaces.Opened) (model.Provider, error) {
	chosen := make([]model.Provider, 0, len(refs))
	absent := 0
	for _, one := range refs {
		one.Provider = cmp.Or(one.Provider, m.fallback)
		made, err := m.providerFor(one, own)
		if fault.IsReason(err, fault.UpstreamFailed) {
			absent++
			made = missing{one.Provider, err}
		} else if err != nil {
			return nil, err
		}
		if absent == len(refs) {
			return nil, err
		}
		chosen = append(chosen, made)
	}
	return model.Chain(model.ChainParams{Providers: chosen, Now: m.now, Metrics: m.metrics, Log: m.log}), nil
}

// missing is a provider of an agent that nobody has configured.
type missing struct {
	name string
	err  error
}

// Name implements model.Provider.
func (p missing) Name() string { return p.name }

// Stream implements model.Provider.
func (p missing) Stream(context.Context, model.Request, func(model.Event) error) (model.Result, error) {
	return model.Result{Provider: p.name}, p.err
}

// own are the workspace's model credentials; it does not ask when none of refs could use one.
func (m *models) own(ctx context.Context, ref workspaces.Ref, refs []agents.ModelRef) (map[string]workspaces.Opened, error) {
	builtIn := func(r agents.ModelRef) bool { return cmp.Or(r.Provider, m.fallback) == extractive.Name }
	if m.credentials == nil || !slices.ContainsFunc(refs, func(r agents.ModelRef) bool { return !builtIn(r) }) {
		return nil, nil
	}
	own, err := m.credentials.Models(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("finding the workspace's own model keys: %w", err)
	}
	return own, nil
}

// providerFor is the workspace's own, or the installation's.
func (m *models) providerFor(ref agents.ModelRef, own map[string]workspaces.Opened) (model.Provider, error) {
	if credential, ok := own[ref.Provider]; ok {
		return m.openOwn(credential.Credential, credential.APIKey, ref.Name)
	}
	return m.provider(ref)
}

// provider is the instance for a provider's model; an empty name of either is the installation's.
func (m *models) provider(ref agents.ModelRef) (model.Provider, error) {
	ref.Provider = cmp.Or(ref.Provider, m.fallback)
	m.mu.Lock()
	defer m.mu.Unlock()
	if made, ok := m.made[ref]; ok {
		return made, nil
	}
	made, err := m.open(ref)
	if err == nil {
		made = m.watched(made, cmp.Or(ref.Name, m.configured(ref.Provider)), "")
		m.made[ref] = made
	}
	return made, err
}

// watched is a provider whose calls are measured and kept from a server that fails. Server names
// where it is and with whose key it is asked; empty is the installation's.
func (m *models) watched(made model.Provider, name, server string) model.Provider {
	provider := made.Name()
	if m.metrics != nil {
		made = model.Observe(made, name, m.metrics, m.now)
	}
	if provider == extractive.Name {
		return made
	}
	return model.Guard(made, model.GuardParams{
		Breaker: m.breaker, Key: provider + " " + server + " " + name, Now: func() time.Time { return m.now() }, Metrics: m.metrics,
	})
}

func (m *models) open(ref agents.ModelRef) (model.Provider, error) {
	client := m.clients[ref.Provider]
	switch {
	case ref.Provider == extractive.Name:
		return extractive.New(), nil
	case client == nil:
		return nil, fault.New(fault.UpstreamFailed,
			"The agent's model provider %q is not configured in this installation, and the workspace has no credential of its "+
				"own for it.", ref.Provider)
	case ref.Provider == providerAnthropic:
		return anthropic.New(anthropic.Config{
			BaseURL: m.config.AnthropicBaseURL, APIKey: m.config.AnthropicAPIKey.Reveal(),
			Model: cmp.Or(ref.Name, m.anthropicModel()), Client: client, Timeouts: m.config.ModelTimeouts,
		})
	case ref.Provider == providerAzure:
		return m.openAzure(azure.Config{
			BaseURL: m.config.Azure.BaseURL, APIVersion: m.config.Azure.APIVersion, APIKey: m.config.Azure.APIKey.Reveal(),
			Deployment: cmp.Or(ref.Name, m.configured(providerAzure)), Client: client,
		})
	}
	return openai.New(openai.Config{
		BaseURL: m.config.Model.BaseURL, APIKey: m.config.Model.APIKey.Reveal(),
		Model: cmp.Or(ref.Name, m.config.Model.Name, defaultOpenAIModel), Client: client, Timeouts: m.config.ModelTimeouts,
	})
}

// openAzure makes a provider of a deployment. Errors: Upstream upstream-failed when there is none.
func (m *models) openAzure(c azure.Config) (model.Provider, error) {
	at, err := azure.ParseBase(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("azure: %w", err)
	}
	if c.Deployment == "" && at.Deployment == "" {
		return nil, fault.New(fault.UpstreamFailed,
			"The agent names no deployment at azure, and none is configured: put its name into the agent's model.name.")
	}
	c.Timeouts = m.config.ModelTimeouts
	return azure.New(c)
}

// observe has every model's calls traced and measured, and fail-overs told.
func (m *models) observe(registry prometheus.Registerer, log *slog.Logger, now func() time.Time) {
	m.metrics, m.log, m.now = model.NewMetrics(registry), log, now
}

// configured is the model of a provider that an agent does not choose otherwise.
func (m *models) configured(provider string) string {
	switch provider {
	case providerAnthropic:
		return m.anthropicModel()
	case providerOpenAI:
		return cmp.Or(m.config.Model.Name, defaultOpenAIModel)
	case providerAzure:
		return m.azureDeployment()
	}
	return provider
}

// anthropicModel is MODEL_NAME when it is Anthropic's to answer.
func (m *models) anthropicModel() string {
	if m.fallback == providerAnthropic {
		return cmp.Or(m.config.Model.Name, defaultAnthropicModel)
	}
	return defaultAnthropicModel
}

// azureDeployment is the one that is configured, or MODEL_NAME when it is Azure's to answer; empty when
// none is.
func (m *models) azureDeployment() string {
	at, err := azure.ParseBase(m.config.Azure.BaseURL)
	if err != nil { // not configured; see Azure.check
		return ""
	}
	name := cmp.Or(m.config.Azure.Deployment, at.Deployment)
	if m.fallback == providerAzure {
		name = cmp.Or(name, m.config.Model.Name)
	}
	return name
}

// Describe names what answers by default, for people.
func (m *models) Describe() string {
	switch m.fallback {
	case providerOpenAI:
		return cmp.Or(m.config.Model.Name, defaultOpenAIModel) + " at " + cmp.Or(m.config.Model.BaseURL, openai.DefaultBaseURL)
	case providerAzure:
		return "the deployment " + cmp.Or(m.azureDeployment(), "(each agent's own)") + " at " + m.config.Azure.BaseURL
	case providerAnthropic:
		return m.anthropicModel() + " at " + cmp.Or(m.config.AnthropicBaseURL, anthropic.DefaultBaseURL)
	}
	return "the built-in extractive responder, which quotes passages and is no language model"
}
