package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/breaker"
	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/anthropic"
	"parlance.dev/parlance/provider/model/azure"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/provider/model/openai"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// Names of the providers an agent may choose.
const (
	providerOpenAI    = "openai"
	providerAnthropic = "anthropic"
	providerAzure     = azure.Name
)

// Default models, for installations that set only a key.
const (
	defaultOpenAIModel    = "gpt-4.1-mini"
	defaultAnthropicModel = "claude-sonnet-4-5"
)

// idleModelConns is how many idle connections to a provider are kept. Dozens of calls run at once
// and their number varies; a new connection costs a TLS handshake that the user waits for.
const idleModelConns = 64

// modelRequestBytes is the buffer size that fits nearly all requests: instructions, passages and
// history.
const modelRequestBytes = 16 << 10

// maxMadeModels bounds the clients that are kept: agents may name any model.
const maxMadeModels = 1000

// models holds one client for each provider and model of the installation. Clients are made on
// first use; they share the connections and the circuit breaker. A workspace's own credential takes
// precedence.
type models struct {
	config Config
	// clients reach only the operator's hosts, by provider. guarded reaches hosts that tenants
	// name.
	clients  map[string]*http.Client
	guarded  *http.Client
	fallback string
	// metrics and log may be nil.
	metrics *model.Metrics
	log     *slog.Logger
	now     func() time.Time
	breaker *breaker.Breaker
	// credentials are the workspaces' own keys; it may be nil.
	credentials *workspaces.Credentials

	made *cache.Cache[agents.ModelRef, model.Provider]

	// planOf returns the plan of a tenant, planWith the smallest plan that has something; nil:
	// every model may answer.
	planOf   func(ctx context.Context, tenant workspaces.TenantID) workspaces.Plan
	planWith func(has func(workspaces.Plan) bool) string
}

// newModels chooses the default provider: an OpenAI-compatible server, else Azure, else Anthropic,
// else the built-in extractive responder.
func newModels(config Config, guard *publicnet.Guard) (*models, error) {
	m := &models{
		config: config, clients: map[string]*http.Client{}, fallback: extractive.Name,
		made: cache.New[agents.ModelRef, model.Provider](maxMadeModels),
	}
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

// Choose implements turns.ModelFunc. It returns the agent's provider with its fallbacks. The
// workspace's credentials are read for each turn. A provider that is not configured, or a
// model that the plan does not have, fails when it is called. Errors: Upstream upstream-failed,
// Forbidden plan-model-not-enabled when none can be used.
func (m *models) Choose(ctx context.Context, ref workspaces.Ref, choice agents.Model) (model.Provider, error) {
	refs := append([]agents.ModelRef{{Provider: choice.Provider, Name: choice.Name}}, choice.Fallbacks...)
	own, err := m.own(ctx, ref, refs)
	if err != nil {
		return nil, err
	}
	return m.choose(ctx, ref, refs, own)
}

// ChooseInstalled is Choose for workspaces without credentials.
func (m *models) ChooseInstalled(ctx context.Context, ref workspaces.Ref, choice agents.Model) (model.Provider, error) {
	return m.choose(ctx, ref, append([]agents.ModelRef{{Provider: choice.Provider, Name: choice.Name}}, choice.Fallbacks...), nil)
}

func (m *models) choose(
	ctx context.Context, ref workspaces.Ref, refs []agents.ModelRef, own map[string]workspaces.Opened,
) (model.Provider, error) {
	chosen := make([]model.Provider, 0, len(refs))
	absent := 0
	for _, one := range refs {
		one.Provider = cmp.Or(one.Provider, m.fallback)
		var made model.Provider
		err := m.allowed(ctx, ref.TenantID, one)
		if err == nil {
			made, err = m.providerFor(one, own)
		}
		if fault.IsReason(err, fault.UpstreamFailed) || fault.IsReason(err, fault.PlanModelNotEnabled) {
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

// allowed refuses a model that the tenant's plan does not have. The extractive responder is no
// model. Errors: Forbidden plan-model-not-enabled.
func (m *models) allowed(ctx context.Context, tenant workspaces.TenantID, ref agents.ModelRef) error {
	if m.planOf == nil || ref.Provider == extractive.Name {
		return nil
	}
	name := cmp.Or(ref.Name, m.configured(ref.Provider))
	plan := m.planOf(ctx, tenant)
	if plan.AllowsModel(ref.Provider, name) {
		return nil
	}
	refusal := fault.New(fault.PlanModelNotEnabled, "The plan %q does not have the model %s/%s, but %s.",
		plan.Name, ref.Provider, name, strings.Join(plan.Models, ", "))
	return workspaces.Refuse(refusal, plan, m.planWith(func(p workspaces.Plan) bool { return p.AllowsModel(ref.Provider, name) }))
}

// missing is a provider that an agent names and nobody has configured, or the plan does not have.
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

// own returns the workspace's credentials, unless none of refs can use one.
func (m *models) own(ctx context.Context, ref workspaces.Ref, refs []agents.ModelRef) (map[string]workspaces.Opened, error) {
	builtIn := func(r agents.ModelRef) bool { return cmp.Or(r.Provider, m.fallback) == extractive.Name }
	if m.credentials == nil || !slices.ContainsFunc(refs, func(r agents.ModelRef) bool { return !builtIn(r) }) {
		return nil, nil //nolint:nilnil // no credentials are needed
	}
	own, err := m.credentials.OfKind(ctx, ref, workspaces.CredentialModel)
	if err != nil {
		return nil, fmt.Errorf("finding the workspace's own model keys: %w", err)
	}
	return own, nil
}

// providerFor returns the workspace's provider, or the installation's.
func (m *models) providerFor(ref agents.ModelRef, own map[string]workspaces.Opened) (model.Provider, error) {
	if credential, ok := own[ref.Provider]; ok {
		return m.openOwn(credential.Credential, credential.APIKey, ref.Name)
	}
	return m.provider(ref)
}

// provider returns the client for a provider and model; empty names are the installation's
// defaults.
func (m *models) provider(ref agents.ModelRef) (model.Provider, error) {
	ref.Provider = cmp.Or(ref.Provider, m.fallback)
	if made, ok := m.made.Get(ref); ok {
		return made, nil
	}
	made, err := m.open(ref)
	if err == nil {
		made = m.watched(made, cmp.Or(ref.Name, m.configured(ref.Provider)), "")
		m.made.Set(ref, made)
	}
	return made, err
}

// watched adds metrics and a circuit breaker to a provider. Server identifies the server and key;
// empty is the installation's.
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

// openAzure makes a client for a deployment. Errors: Upstream upstream-failed when none is named.
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

// observe enables traces, metrics and logs of fail-overs for all models.
func (m *models) observe(registry prometheus.Registerer, log *slog.Logger, now func() time.Time) {
	m.metrics, m.log, m.now = model.NewMetrics(registry), log, now
}

// priced implements agents.PriceFunc. The extractive responder is free.
func (m *models) priced(prices *usage.Prices) agents.PriceFunc {
	return func(ref agents.ModelRef) bool {
		provider := cmp.Or(ref.Provider, m.fallback)
		return provider == extractive.Name || prices.Cost(provider+"/"+cmp.Or(ref.Name, m.configured(provider)), 1, 1) != ""
	}
}

// configured returns the model of a provider for agents that name none.
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

// anthropicModel returns MODEL_NAME if Anthropic is the default provider.
func (m *models) anthropicModel() string {
	if m.fallback == providerAnthropic {
		return cmp.Or(m.config.Model.Name, defaultAnthropicModel)
	}
	return defaultAnthropicModel
}

// azureDeployment returns the configured deployment, or MODEL_NAME if Azure is the default
// provider. It may be empty.
func (m *models) azureDeployment() string {
	at, err := azure.ParseBase(m.config.Azure.BaseURL)
	if err != nil { // Azure.check reports it
		return ""
	}
	name := cmp.Or(m.config.Azure.Deployment, at.Deployment)
	if m.fallback == providerAzure {
		name = cmp.Or(name, m.config.Model.Name)
	}
	return name
}

// Describe describes the default model to people.
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
