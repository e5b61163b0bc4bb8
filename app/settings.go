package app

import (
	"slices"
	"strings"

	"parlance.dev/parlance/platform/wal"
)

// Setting is one thing that an operator can set: by the flag --name-with-dashes, or by the
// environment variable PARLANCE_NAME_WITH_UNDERSCORES. The flag wins.
type Setting struct {
	// Name is the variable without its prefix, such as "PUBLIC_URL".
	Name string
	// Aliases are variables of other programs that are read when ours is unset.
	Aliases []string
	Default string
	// Help is one sentence, with the unit and the values.
	Help string
	// Secret settings can also be given as a file: PARLANCE_<NAME>_FILE. Their values are never
	// shown.
	Secret bool
	// Group is the heading in the reference.
	Group string

	// apply sets the field of the Config that the setting was made for.
	apply func(value string) error
}

// Env returns the environment variable of the setting.
func (s Setting) Env() string {
	if s.Name == "DATABASE_URL" || s.Name == "REDIS_URL" {
		return s.Name
	}
	return "PARLANCE_" + s.Name
}

// Flag returns the flag of the setting without the leading dashes.
func (s Setting) Flag() string { return strings.ReplaceAll(strings.ToLower(s.Name), "_", "-") }

// Settings lists every setting in the order of the reference.
func Settings() []Setting { return new(Config).settings() }

// settings lists the settings; applying one sets the field of c.
func (c *Config) settings() []Setting {
	return slices.Concat(c.storageSettings(), c.servingSettings(), c.oidcSettings(), c.modelSettings(), c.speechSettings(),
		c.documentSettings(), c.egressSettings(), c.webhookSettings(), c.billingSettings(), c.telephonySettings(),
		c.memorySettings(), c.toolSettings(), c.sharingSettings(),
		c.workerSettings(), c.telemetrySettings())
}

func setting(name, defaultValue string, apply func(value string) error, help string) Setting {
	return Setting{Name: name, Default: defaultValue, Help: help, apply: apply}
}

func (s Setting) secret() Setting {
	s.Secret = true
	return s
}

func (s Setting) alias(names ...string) Setting {
	s.Aliases = names
	return s
}

func group(name string, settings ...Setting) []Setting {
	for i := range settings {
		settings[i].Group = name
	}
	return settings
}

func (c *Config) storageSettings() []Setting {
	return group("Storage",
		setting("DATABASE_URL", "", databaseURL(&c.DatabaseURL),
			"Postgres 15 or newer with pgvector 0.8, as a postgres:// URL.").secret(),
		setting("DATABASE_DIRECT_URL", "", databaseURL(&c.DatabaseDirectURL),
			"The same database without a transaction pooler (PgBouncer), for LISTEN, locks and migrations. Default: "+
				"DATABASE_URL.").secret(),
		setting("DATABASE_MAX_CONNS", "20", number(&c.DatabaseMaxConns, 2, 1000),
			"Most connections to Postgres of one process."),
		setting("REDIS_URL", "", c.parseRedisURL,
			"Redis 7: a redis://, rediss:// or unix:// URL; redis+sentinel://host:26379,host:26379/master and "+
				"redis+cluster://host:6379,host:6379 (rediss+ for TLS) name several.").secret(),
		setting("BLOB_URL", "", c.parseBlobURL,
			"Where files are kept: file:///absolute/path, which every server and worker must see, or a bucket of AWS or of any store "+
				"with the S3 API, s3://bucket/prefix?endpoint=https://host:9000&region=us-east-1. Without endpoint it is AWS in that region."),
		setting("S3_ACCESS_KEY_ID", "", text(&c.S3AccessKeyID),
			"Access key of an s3:// bucket. Default: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or on AWS the role of the web "+
				"identity, task or instance.").secret(),
		setting("S3_SECRET_ACCESS_KEY", "", text(&c.S3SecretAccessKey), "Secret of S3_ACCESS_KEY_ID.").secret(),
		setting("MASTER_KEY", "", text(&c.MasterKey),
			"The 32-byte key (base64) that wraps the keys of stored secrets; MASTER_KEY_FILE is the safer place.").secret(),
		setting("MASTER_KEY_FILE", "", text(&c.MasterKeyFile),
			"File with the 32-byte key (base64) that wraps the keys of stored secrets."),
		setting("MASTER_KEY_URL", "", c.parseMasterURL,
			"The master key in a key-management service, instead of a file: vault://host:8200/transit/keys/NAME "+
				"(vault+http:// without TLS; ?namespace=… if it has one)."),
		setting("MASTER_KEY_PREVIOUS_FILES", "", list(&c.MasterKeyPreviousFiles),
			"Files of earlier master keys, separated by commas. They decrypt what they encrypted, and encrypt nothing new. "+
				"See `parlance keys rotate-master`."),
		setting("MASTER_KEY_PREVIOUS_URLS", "", c.parsePreviousURLs, "The same for keys in a key-management service."),
		setting("VAULT_TOKEN", "", text(&c.VaultToken),
			"Token for a vault:// key: its policy allows update on transit/encrypt/NAME and transit/decrypt/NAME.").secret().alias("VAULT_TOKEN"),
	)
}

func (c *Config) servingSettings() []Setting {
	return group("Serving",
		setting("LISTEN", "127.0.0.1:8080", c.parseListen,
			"Address to serve every protocol on: host:port, or unix:///path for a socket."),
		setting("PUBLIC_URL", "", c.parsePublicURL,
			"Scheme, host and optional path prefix under which callers reach the service, without /v1. It begins every URL "+
				"in an answer. Default: those of each request."),
		setting("TRUSTED_PROXIES", "", c.parseProxies,
			"Addresses and ranges of proxies in front of the service, separated by commas (loopback, private and unix name "+
				"their ranges). Their X-Forwarded-* and Forwarded headers are trusted. Default: none."),
		setting("CORS_ORIGINS", "", c.parseOrigins,
			"Origins that browsers may call from, such as https://app.example, separated by commas; * is any."),
		setting("TLS_CERT_FILE", "", text(&c.TLSCertFile),
			"Certificate chain (PEM) to serve TLS with; read again when it changes."),
		setting("TLS_KEY_FILE", "", text(&c.TLSKeyFile), "Private key (PEM) of TLS_CERT_FILE."),
		setting("SHUTDOWN_TIMEOUT", "30s", duration(&c.ShutdownTimeout),
			"How long a stopping process waits for running requests and tasks, as a duration."),
		setting("PLANS_FILE", "", text(&c.PlansFile),
			"JSON file of plans that replaces the built-in ones (free, pro, enterprise)."),
		setting("SPILL_DIR", "", absolutePath(&c.SpillDir, "", SpillOff),
			"Directory where a server keeps turns while Postgres is unavailable. It must outlive the process, and servers "+
				"may share it. Default: spill next to the directory of a file:// bucket, none for s3://. off keeps none: turns then fail."),
		setting("SPILL_MAX_BYTES", "268435456", number(&c.SpillMaxBytes, wal.MinMaxBytes, 1<<40),
			"Most bytes that one server keeps in SPILL_DIR; a turn takes some kilobytes."),
	)
}

func (c *Config) documentSettings() []Setting {
	return group("Documents",
		setting("SEARCH_CACHE_MIB", "256", number(&c.SearchCacheMiB, 1, 1<<20),
			"Memory of one process in MiB for searches. Three eighths hold vectors, about 2.3 KiB for a passage with 512 "+
				"numbers; a quarter holds codes of vectors, about 72 bytes for a passage; the rest holds words and texts. "+
				"With less memory searches read more from Postgres."),
		setting("OCR_LANGUAGES", "eng", c.parseLanguages,
			"Languages of pictures and scanned pages, as tesseract names them, separated by commas: eng,deu. Each needs "+
				"its package (tesseract-ocr-deu) on the workers."),
		setting("SCRATCH_DIR", "", text(&c.ScratchDir),
			"Directory for PDF files and pictures while workers read them. Default: the system's directory for temporary "+
				"files."),
	)
}

func (c *Config) egressSettings() []Setting {
	return group("Egress",
		setting("EGRESS_ALLOW_CIDRS", "", ranges(&c.EgressAllowCIDRs),
			"Address ranges, separated by commas, that tools, webhooks and fetched pages may reach although they are not public. For "+
				"development."),
		setting("EGRESS_DENY_CIDRS", "", ranges(&c.EgressDenyCIDRs),
			"Address ranges, separated by commas, that tools, MCP servers, webhooks and base URLs of credentials may not "+
				"reach although they are public or in EGRESS_ALLOW_CIDRS."),
		setting("EGRESS_CA_FILE", "", text(&c.EgressCAFile),
			"Certificate authorities (PEM) that outbound calls (tools, webhooks, models, an s3:// bucket) trust in addition to the system's."),
	)
}

func (c *Config) webhookSettings() []Setting {
	return group("Webhooks",
		setting("WEBHOOK_SCHEDULE", "0s,5s,30s,2m,10m,30m,2h,6h,12h,24h,24h", c.parseSchedule,
			"Waits before each attempt, as durations separated by commas; each has 20 % of jitter."),
		setting("WEBHOOK_DISABLE_FAILURES", "10", number(&c.WebhookDisableFailures, 1, 1_000_000),
			"Failed attempts in a row before an endpoint may be disabled."),
		setting("WEBHOOK_DISABLE_WINDOW", "168h", duration(&c.WebhookDisableWindow),
			"Time without a success before an endpoint may be disabled, as a duration."),
		setting("WEBHOOK_DISABLE_MIN_AGE", "24h", duration(&c.WebhookDisableMinAge),
			"Age of an endpoint that never succeeded before it may be disabled, as a duration."),
		setting("WEBHOOK_RETENTION", "720h", retention(&c.WebhookRetention),
			"How long events, their deliveries and the attempts are kept, as a duration of 1h or more; 0 keeps them for "+
				"ever. What is still to be delivered stays."),
	)
}

func (c *Config) memorySettings() []Setting {
	return group("Memory",
		setting("MEMORY_PER_USER", "10000", number(&c.MemoryPerUser, 1, 1_000_000),
			"Most memories of one user, notes and statements together."),
	)
}

func (c *Config) toolSettings() []Setting {
	return group("Tools",
		setting("TOOL_CALL_RETENTION", "2160h", retention(&c.ToolCallRetention),
			"How long the traces of tool calls are kept, as a duration of 1h or more; 0 keeps them for ever."),
	)
}

func (c *Config) sharingSettings() []Setting {
	return group("Sharing",
		setting("TENANT_SHARE", "75", number(&c.TenantShare, 1, 100),
			"Percent of a process's slots (calls of models, calls of tools, sources, deliveries) that one tenant gets "+
				"while others wait."),
		setting("WORKSPACES_PER_TENANT", "1000", number(&c.WorkspacesPerTenant, 1, 1_000_000),
			"Most workspaces of one tenant."),
		setting("API_KEYS_PER_TENANT", "1000", number(&c.APIKeysPerTenant, 1, 1_000_000),
			"Most API keys of one tenant that have not expired."),
		setting("MODEL_CONCURRENCY", "128", number(&c.ModelConcurrency, 1, 65536),
			"Calls of models that one server makes at the same time; further calls wait, and tenants take turns."),
		setting("TOOL_CONCURRENCY", "256", number(&c.ToolConcurrency, 1, 65536),
			"Calls of tools' endpoints that one server makes at the same time; further calls wait, and tenants take turns."),
		setting("SESSION_REQUESTS_PER_MINUTE", "300", number(&c.SessionRequestsPerMinute, 0, 1<<20),
			"Requests a minute with the token of one session, with a burst of twice that; further ones are refused with 429. "+
				"0 is any number."),
		setting("UNKNOWN_KEYS_PER_MINUTE", "60", number(&c.UnknownKeysPerMinute, 0, 1<<20),
			"API keys that do not exist, which one address may try on one server in a minute, with a burst of twice that; "+
				"further ones are refused with 429. Keys that the server has accepted still work. 0 is any number."),
		setting("SOCKET_MAX", "20000", number(&c.SocketMax, 0, 1<<20),
			"WebSockets one server has open at the same time; further ones are refused with 503. 0 is any number."),
		setting("SOCKET_MAX_PER_TENANT", "0", number(&c.SocketMaxPerTenant, 0, 1<<20),
			"WebSockets of one tenant that one server has open at the same time; further ones are refused with 429. 0 is "+
				"any number."),
	)
}

func (c *Config) workerSettings() []Setting {
	return group("Worker",
		setting("INGEST_CONCURRENCY", "2", number(&c.IngestConcurrency, 1, 256),
			"Sources that one worker parses and embeds at the same time, about its number of CPUs. Four times as many are "+
				"in progress; the others wait for OCR or an embedding server."),
		setting("EMBEDDING_CONCURRENCY", "4", number(&c.EmbeddingConcurrency, 1, 256),
			"Calls of the embeddings server one worker makes at the same time for sources."),
		setting("DELIVERY_CONCURRENCY", "32", number(&c.DeliveryConcurrency, 1, 4096),
			"Tasks of webhook deliveries one worker runs at the same time."),
		setting("WORKER_LISTEN", "", listenAddress(&c.WorkerListen),
			"Address on which a worker serves /metrics and /healthz, host:port. Default: none."),
	)
}

func (c *Config) telemetrySettings() []Setting {
	return group("Telemetry",
		setting("LOG_LEVEL", "info", choice(&c.LogLevel, "debug", "info", "warn", "error"),
			"Lowest level that is logged: debug, info, warn or error."),
		setting("LOG_FORMAT", "auto", choice(&c.LogFormat, "auto", "json", "text"),
			"json, text, or auto: text on a terminal and JSON elsewhere."),
		setting("OTLP_ENDPOINT", "", address(&c.OTLPEndpoint, "http", "https"),
			"URL of an OTLP/HTTP collector for traces, usually ending in /v1/traces. Default: no traces."),
		setting("OTLP_HEADERS", "", c.parseOTLPHeaders,
			"Headers sent with each export, as name=value separated by commas; values with a comma are percent-encoded.").secret(),
		setting("METRICS_LISTEN", DefaultMetricsListen, listenAddress(&c.MetricsListen, MetricsPublic, "off"),
			"Address, host:port, on which a server serves /metrics, apart from the API: it needs no key. public serves it "+
				"on LISTEN beside the API, off nowhere. A worker has WORKER_LISTEN."),
		setting("DEBUG_LISTEN", "", listenAddress(&c.DebugListen),
			"Address, host:port, on which a server serves Go's profiles at /debug/pprof/; keep it to this machine. "+
				"Default: none."),
		setting("OTLP_SAMPLE", "1", ratio(&c.OTLPSample), "Share of the traces that is kept, from 0 to 1."),
	)
}
