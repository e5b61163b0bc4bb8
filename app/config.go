package app

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/platform/redact"
	"parlance.dev/parlance/platform/seal"
	openaiembedding "parlance.dev/parlance/provider/embedding/openai"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/azure"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// Provider is an OpenAI-compatible server.
type Provider struct {
	BaseURL string
	APIKey  seal.Secret
	Name    string
}

// Azure is a resource of Azure OpenAI.
type Azure struct {
	// BaseURL may hold the deployment and the version; see package azure.
	BaseURL    string
	APIKey     seal.Secret
	APIVersion string
	// Deployment answers for agents that name none.
	Deployment string
}

// set reports whether Azure can be called.
func (a Azure) set() bool { return a.BaseURL != "" && a.APIKey.IsSet() }

// check returns an error for settings that cannot work together. It names the setting.
func (a Azure) check() error {
	if a.BaseURL == "" { // a key alone may be of another program's environment
		return nil
	}
	if !a.APIKey.IsSet() {
		return errors.New("PARLANCE_AZURE_BASE_URL needs PARLANCE_AZURE_API_KEY")
	}
	if _, err := azure.ParseBase(a.BaseURL); err != nil {
		return fmt.Errorf("PARLANCE_AZURE_BASE_URL: %w", err)
	}
	return nil
}

// Config is everything an operator can set; see Settings for units, values and defaults.
type Config struct {
	DatabaseURL seal.Secret
	// DatabaseDirectURL is the same database without a transaction pooler; empty is DatabaseURL.
	DatabaseDirectURL seal.Secret
	DatabaseMaxConns  int
	RedisURL          seal.Secret
	BlobURL           string
	// The key of an s3:// bucket; empty uses the credentials of AWS's environment or role.
	S3AccessKeyID     seal.Secret
	S3SecretAccessKey seal.Secret
	// SpillDir is empty for a directory next to that of a file:// bucket, and SpillOff for none.
	SpillDir      string
	SpillMaxBytes int
	// One of MasterKey (the key), MasterKeyFile and MasterKeyURL (a key-management service) is set.
	// The previous keys decrypt what they encrypted.
	MasterKey              seal.Secret
	MasterKeyFile          string
	MasterKeyURL           string
	MasterKeyPreviousFiles []string
	MasterKeyPreviousURLs  []string
	VaultToken             seal.Secret

	Listen          string
	PublicURL       string
	TrustedProxies  interceptor.Proxies
	CORSOrigins     []string
	TLSCertFile     string
	TLSKeyFile      string
	ShutdownTimeout time.Duration
	PlansFile       string
	ModelPricesFile string

	Model            Provider
	AnthropicAPIKey  seal.Secret
	AnthropicBaseURL string
	Azure            Azure
	// The zero fields of ModelTimeouts mean the defaults.
	ModelTimeouts model.Timeouts
	// The second ones stand in for the first.
	STT, STTFallback Speech
	TTS, TTSFallback Speech
	// EndModel is the file of the model of the end of turns; empty: none. ONNXRuntime is the library
	// that runs it; empty: the system's.
	EndModel, ONNXRuntime string
	// TTSOffline is auto or off.
	TTSOffline string
	// Rerank has no base URL when there is no reranking server.
	Rerank Provider
	// Embedding has no base URL when the built-in embedder is used. EmbeddingPrevious is the former
	// server.
	Embedding            Embedding
	EmbeddingPrevious    Embedding
	EmbeddingConcurrency int

	OCRLanguages []string
	ScratchDir   string

	EgressAllowCIDRs []string
	EgressDenyCIDRs  []string
	EgressCAFile     string

	WebhookSchedule        []time.Duration
	WebhookDisableFailures int
	WebhookDisableWindow   time.Duration
	WebhookDisableMinAge   time.Duration
	WebhookRetention       time.Duration

	OIDC OIDC

	Stripe              Stripe
	Twilio              Twilio
	BillingGraceDays    int
	BillingFallbackPlan string

	IngestConcurrency int
	// SearchCacheMiB is the memory for searches of the knowledge base.
	SearchCacheMiB      int
	DeliveryConcurrency int
	// WorkspacesPerTenant and APIKeysPerTenant are the most that a tenant may have.
	WorkspacesPerTenant int
	APIKeysPerTenant    int
	// TenantShare is a percentage.
	TenantShare      int
	ModelConcurrency int
	ToolConcurrency  int
	// UnknownKeysPerMinute is of one address; 0 is any number.
	UnknownKeysPerMinute int
	// SessionRequestsPerMinute is 0 for no limit.
	SessionRequestsPerMinute int
	// SocketMax and SocketMaxPerTenant are 0 for no limit.
	SocketMax, SocketMaxPerTenant int
	// MemoryPerUser is the maximum number of memories of a user.
	MemoryPerUser int
	// ToolCallRetention is 0 to keep traces for ever.
	ToolCallRetention time.Duration
	WorkerListen      string
	MetricsListen     string
	DebugListen       string

	LogLevel     string
	LogFormat    string
	OTLPEndpoint string
	OTLPHeaders  map[string]seal.Secret
	OTLPSample   float64
}

// Source is where settings are read from. LookupEnv is os.LookupEnv except in tests. Flags has the
// flags that were given, by Setting.Flag.
type Source struct {
	LookupEnv func(name string) (string, bool)
	ReadFile  func(name string) ([]byte, error)
	Flags     map[string]string
}

// OSSource reads the environment and the files of the process.
func OSSource(flags map[string]string) Source {
	return Source{LookupEnv: os.LookupEnv, ReadFile: os.ReadFile, Flags: flags}
}

// Load reads every setting. Its error lists all problems.
func Load(src Source) (Config, error) {
	var c Config
	var problems []error
	for _, setting := range c.settings() {
		value, origin, err := src.value(setting)
		if err == nil && value != "" {
			err = setting.apply(value)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s %w", origin, err))
		}
	}
	for _, file := range [][2]string{
		{"PARLANCE_TLS_CERT_FILE", c.TLSCertFile},
		{"PARLANCE_TLS_KEY_FILE", c.TLSKeyFile},
		{"PARLANCE_PLANS_FILE", c.PlansFile},
		{"PARLANCE_MODEL_PRICES_FILE", c.ModelPricesFile},
		{"PARLANCE_EGRESS_CA_FILE", c.EgressCAFile},
	} {
		if file[1] == "" {
			continue
		}
		if _, err := src.ReadFile(file[1]); err != nil {
			problems = append(problems, fmt.Errorf("%s names a file that cannot be read: %w", file[0], err))
		}
	}
	if c.DatabaseDirectURL != "" && c.DatabaseURL == "" {
		problems = append(problems, errors.New("PARLANCE_DATABASE_DIRECT_URL needs DATABASE_URL beside it"))
	}
	if err := c.checkMasters(); err != nil {
		problems = append(problems, err)
	}
	for _, pair := range [][4]string{
		{c.TLSCertFile, c.TLSKeyFile, "PARLANCE_TLS_CERT_FILE", "PARLANCE_TLS_KEY_FILE"},
		{c.Embedding.BaseURL, c.Embedding.Name, "PARLANCE_EMBEDDING_BASE_URL", "PARLANCE_EMBEDDING_NAME"},
		{
			c.EmbeddingPrevious.BaseURL, c.EmbeddingPrevious.Name,
			"PARLANCE_EMBEDDING_PREVIOUS_BASE_URL", "PARLANCE_EMBEDDING_PREVIOUS_NAME",
		},
		{c.Rerank.BaseURL, c.Rerank.Name, "PARLANCE_RERANK_BASE_URL", "PARLANCE_RERANK_NAME"},
		{
			c.S3AccessKeyID.Reveal(), c.S3SecretAccessKey.Reveal(),
			"PARLANCE_S3_ACCESS_KEY_ID", "PARLANCE_S3_SECRET_ACCESS_KEY",
		},
	} {
		if (pair[0] == "") != (pair[1] == "") {
			problems = append(problems, fmt.Errorf("%s and %s must be set together", pair[2], pair[3]))
		}
	}
	problems = append(problems, c.adoptSpeechKeys(src)...)
	return c, errors.Join(append(problems, c.checkServices()...)...)
}

// checkServices returns the errors of the settings of models and other services that cannot work
// together.
func (c *Config) checkServices() (problems []error) {
	if c.Embedding.BaseURL == "" && (c.Embedding.Dimensions > 0 || c.Embedding.Floor > 0 ||
		c.Embedding.Prefixes != openaiembedding.Prefixes{}) {
		problems = append(problems,
			errors.New("PARLANCE_EMBEDDING_QUERY_PREFIX, _DOCUMENT_PREFIX, _DIMENSIONS and _FLOOR need PARLANCE_EMBEDDING_BASE_URL"))
	}
	if c.Model.BaseURL != "" && c.Model.Name == "" {
		problems = append(problems, errors.New("PARLANCE_MODEL_BASE_URL needs PARLANCE_MODEL_NAME"))
	}
	for _, err := range []error{c.Azure.check(), c.Stripe.check(), c.Twilio.check(), c.OIDC.check()} {
		if err != nil {
			problems = append(problems, err)
		}
	}
	return append(problems, c.checkSpeech()...)
}

// value returns the value of a setting, and its origin for errors.
func (src Source) value(s Setting) (value, origin string, err error) {
	if v, ok := src.Flags[s.Flag()]; ok {
		return v, "--" + s.Flag(), nil
	}
	for _, name := range append([]string{s.Env()}, s.Aliases...) {
		if value, origin, err = src.lookup(name, s.Secret && !s.pathIsSetting()); value != "" || err != nil {
			return value, origin, err
		}
	}
	return s.Default, s.Env(), nil
}

// InForce returns the value of a setting; "***" stands for a secret. Errors: the value cannot be
// read.
func (src Source) InForce(s Setting) (string, error) {
	value, origin, err := src.value(s)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s %w", origin, err)
	case s.Secret && value != "":
		return "***", nil
	}
	return redact.URLs(value), nil
}

// lookup returns a variable, or the content of the file that the variable with the suffix _FILE
// names.
func (src Source) lookup(name string, orFile bool) (value, origin string, err error) {
	value, _ = src.LookupEnv(name)
	fileName := name + "_FILE"
	path := ""
	if orFile {
		path, _ = src.LookupEnv(fileName)
	}
	switch {
	case path == "":
		return value, name, nil
	case value != "":
		return "", name, fmt.Errorf("and %s are both set: remove one of them", fileName)
	}
	content, err := src.ReadFile(path)
	if err != nil {
		return "", fileName, fmt.Errorf("names a file that cannot be read: %w", err)
	}
	if value = strings.TrimSpace(string(content)); value == "" {
		return "", fileName, fmt.Errorf("names a file that holds nothing: %s", path)
	}
	return value, fileName, nil
}

// pathIsSetting reports whether the file of the setting is a setting itself: MASTER_KEY_FILE.
func (s Setting) pathIsSetting() bool { return s.Name == "MASTER_KEY" }

// Require returns an error that lists those of the named settings that are not set.
func (c Config) Require(names ...string) error {
	set := map[string]bool{
		"DATABASE_URL": c.DatabaseURL != "", "REDIS_URL": c.RedisURL != "",
		"BLOB_URL": c.BlobURL != "", "MASTER_KEY_FILE": c.MasterKey != "" || c.MasterKeyFile != "" || c.MasterKeyURL != "",
	}
	var problems []error
	for _, setting := range Settings() {
		if slices.Contains(names, setting.Name) && !set[setting.Name] {
			problems = append(problems, fmt.Errorf("%s is not set (or --%s): %s", setting.Env(), setting.Flag(), setting.Help))
		}
	}
	return errors.Join(problems...)
}

// Direct returns the URL for connections that need a session of their own: LISTEN, locks and
// migrations.
func (c Config) Direct() seal.Secret { return cmp.Or(c.DatabaseDirectURL, c.DatabaseURL) }

// Plans returns the plans of PLANS_FILE, or the built-in ones.
func (c Config) Plans() (workspaces.Plans, error) {
	if c.PlansFile == "" {
		return workspaces.DefaultPlans(), nil
	}
	content, err := os.ReadFile(c.PlansFile)
	if err != nil {
		return nil, fmt.Errorf("read PARLANCE_PLANS_FILE: %w", err)
	}
	plans, err := workspaces.ParsePlans(content)
	if err != nil {
		return nil, fmt.Errorf("PARLANCE_PLANS_FILE (%s): %w", c.PlansFile, err)
	}
	return plans, nil
}

// Prices returns the prices of models; nil without MODEL_PRICES_FILE.
func (c Config) Prices() (*usage.Prices, error) {
	if c.ModelPricesFile == "" {
		return nil, nil //nolint:nilnil // nil is the documented value
	}
	content, err := os.ReadFile(c.ModelPricesFile)
	if err != nil {
		return nil, fmt.Errorf("read PARLANCE_MODEL_PRICES_FILE: %w", err)
	}
	prices, err := usage.ParsePrices(content)
	if err != nil {
		return nil, fmt.Errorf("PARLANCE_MODEL_PRICES_FILE (%s): %w", c.ModelPricesFile, err)
	}
	return prices, nil
}

// DefaultDataDir is the default data directory of `parlance dev`: parlance in the user's data
// directory, or .parlance if there is no home directory.
func DefaultDataDir() string {
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "parlance")
	}
	return ".parlance"
}
