package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/workspaces"
)

// Provider is an OpenAI-compatible server.
type Provider struct {
	BaseURL string
	APIKey  seal.Secret
	Name    string
}

// Config is everything an operator can set; see Settings for units, values and defaults.
type Config struct {
	DatabaseURL      seal.Secret
	DatabaseMaxConns int
	RedisURL         seal.Secret
	BlobURL          string
	MasterKeyFile    string

	Listen          string
	PublicURL       string
	CORSOrigins     []string
	TLSCertFile     string
	TLSKeyFile      string
	ShutdownTimeout time.Duration
	PlansFile       string

	Model            Provider
	AnthropicAPIKey  seal.Secret
	AnthropicBaseURL string
	Embedding        Provider

	EgressAllowCIDRs []string
	EgressCAFile     string

	WebhookSchedule        []time.Duration
	WebhookDisableFailures int
	WebhookDisableWindow   time.Duration
	WebhookDisableMinAge   time.Duration

	IngestConcurrency   int
	DeliveryConcurrency int
	WorkerListen        string

	LogLevel     string
	LogFormat    string
	OTLPEndpoint string
	OTLPHeaders  map[string]seal.Secret
	OTLPSample   float64
}

// Source is where settings come from. LookupEnv is os.LookupEnv but in tests; Flags holds the
// flags that were given, by Setting.Flag.
type Source struct {
	LookupEnv func(name string) (string, bool)
	ReadFile  func(name string) ([]byte, error)
	Flags     map[string]string
}

// OSSource reads the process's environment and files.
func OSSource(flags map[string]string) Source {
	return Source{LookupEnv: os.LookupEnv, ReadFile: os.ReadFile, Flags: flags}
}

// Load reads every setting and lists all problems at once.
func Load(src Source) (Config, error) {
	var c Config
	var problems []error
	for _, setting := range Settings() {
		value, origin, err := src.value(setting)
		if err == nil && value != "" {
			err = setting.apply(&c, value)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s %w", origin, err))
		}
	}
	if (c.TLSCertFile == "") != (c.TLSKeyFile == "") {
		problems = append(problems, errors.New("PARLANCE_TLS_CERT_FILE and PARLANCE_TLS_KEY_FILE must be set together"))
	}
	if (c.Embedding.BaseURL == "") != (c.Embedding.Name == "") {
		problems = append(problems, errors.New("PARLANCE_EMBEDDING_BASE_URL and PARLANCE_EMBEDDING_NAME must be set together"))
	}
	if c.Model.BaseURL != "" && c.Model.Name == "" {
		problems = append(problems, errors.New("PARLANCE_MODEL_BASE_URL needs PARLANCE_MODEL_NAME"))
	}
	return c, errors.Join(problems...)
}

// value is the setting's value and where it came from, for the error.
func (src Source) value(s Setting) (value, origin string, err error) {
	if v, ok := src.Flags[s.Flag()]; ok {
		return v, "--" + s.Flag(), nil
	}
	for _, name := range append([]string{s.Env()}, s.Aliases...) {
		if v, ok := src.LookupEnv(name); ok && v != "" {
			return v, name, nil
		}
		path, ok := src.LookupEnv(name + "_FILE")
		if !s.Secret || !ok || path == "" {
			continue
		}
		content, err := src.ReadFile(path)
		if err != nil {
			return "", name + "_FILE", fmt.Errorf("names a file that cannot be read: %w", err)
		}
		return strings.TrimSpace(string(content)), name + "_FILE", nil
	}
	return s.Default, s.Env(), nil
}

// Require lists the settings of names that are not set, with what to do.
func (c Config) Require(names ...string) error {
	set := map[string]bool{
		"DATABASE_URL": c.DatabaseURL != "", "REDIS_URL": c.RedisURL != "",
		"BLOB_URL": c.BlobURL != "", "MASTER_KEY_FILE": c.MasterKeyFile != "",
	}
	var problems []error
	for _, setting := range Settings() {
		if slices.Contains(names, setting.Name) && !set[setting.Name] {
			problems = append(problems, fmt.Errorf("%s is not set (or --%s): %s", setting.Env(), setting.Flag(), setting.Help))
		}
	}
	return errors.Join(problems...)
}

// Plans are the plans of the installation: those of PLANS_FILE, or the ones that ship.
func (c Config) Plans() (workspaces.Plans, error) {
	if c.PlansFile == "" {
		return workspaces.DefaultPlans(), nil
	}
	content, err := os.ReadFile(c.PlansFile)
	if err != nil {
		return nil, fmt.Errorf("read PARLANCE_PLANS_FILE: %w", err)
	}
	return workspaces.ParsePlans(content)
}

// DefaultDataDir is where `parlance dev` keeps its data unless it is told otherwise: parlance
// below the user's data directory, or .parlance where there is none.
func DefaultDataDir() string {
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "parlance")
	}
	return ".parlance"
}
