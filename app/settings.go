package app

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/platform/wal"
	"parlance.dev/parlance/provider/ocr/tesseract"
	"parlance.dev/parlance/server/interceptor"
)

// Setting is one thing an operator can set, by the flag --name-with-dashes or the environment
// variable PARLANCE_NAME_WITH_UNDERSCORES; a flag wins.
type Setting struct {
	// Name is the variable without its prefix, e.g. "PUBLIC_URL".
	Name string
	// Aliases are variables of other programs that are honoured when ours is unset.
	Aliases []string
	Default string
	// Help is one sentence, with the unit and the values.
	Help string
	// Secret settings can also be given as a file: PARLANCE_<NAME>_FILE. Their values are never shown.
	Secret bool
	// Group is the heading in the reference.
	Group string

	apply func(c *Config, value string) error
}

// Env is the setting's environment variable.
func (s Setting) Env() string {
	if s.Name == "DATABASE_URL" || s.Name == "REDIS_URL" {
		return s.Name
	}
	return "PARLANCE_" + s.Name
}

// Flag is the setting's flag, without the dashes before it.
func (s Setting) Flag() string { return strings.ReplaceAll(strings.ToLower(s.Name), "_", "-") }

// Settings lists every setting in the order of the reference.
func Settings() []Setting {
	return slices.Concat([]Setting{
		{
			Group: "Storage", Name: "DATABASE_URL", Help: "Postgres 15 or newer with pgvector 0.8, as a postgres:// URL.", Secret: true,
			apply: func(c *Config, v string) error { c.DatabaseURL = seal.Secret(v); return nil },
		},
		{
			Group: "Storage", Name: "DATABASE_DIRECT_URL", Help: "The same database without a transaction pooler (PgBouncer) between, for LISTEN, locks and migrations. Default: DATABASE_URL.", Secret: true,
			apply: func(c *Config, v string) error { c.DatabaseDirectURL = seal.Secret(v); return nil },
		},
		{
			Group: "Storage", Name: "DATABASE_MAX_CONNS", Default: "20", Help: "Most connections to Postgres of one process.",
			apply: intoInt(func(c *Config) *int { return &c.DatabaseMaxConns }, 2, 1000),
		},
		{
			Group: "Storage", Name: "REDIS_URL", Help: "Redis 7: a redis://, rediss:// or unix:// URL; redis+sentinel://host:26379,host:26379/master and redis+cluster://host:6379,host:6379 (rediss+ for TLS) name several.", Secret: true,
			apply: func(c *Config, v string) error { c.RedisURL = seal.Secret(v); return nil },
		},
		{
			Group: "Storage", Name: "BLOB_URL", Help: "Where files are kept: file:///absolute/path.",
			apply: intoURL(func(c *Config) *string { return &c.BlobURL }, "file"),
		},
		{
			Group: "Storage", Name: "MASTER_KEY", Help: "The 32-byte key (base64) that wraps the keys of stored secrets; MASTER_KEY_FILE is the safer place.", Secret: true,
			apply: func(c *Config, v string) error { c.MasterKey = seal.Secret(v); return nil },
		},
		{
			Group: "Storage", Name: "MASTER_KEY_FILE", Help: "File with the 32-byte key (base64) that wraps the keys of stored secrets.",
			apply: intoString(func(c *Config) *string { return &c.MasterKeyFile }),
		},
		{
			Group: "Storage", Name: "MASTER_KEY_URL", Help: "The master key in a key-management service, in place of a file: vault://host:8200/transit/keys/NAME (vault+http:// without TLS; ?namespace=… if it has one).",
			apply: parseMasterURL,
		},
		{
			Group: "Storage", Name: "MASTER_KEY_PREVIOUS_FILES", Help: "Files of master keys used before, separated by commas: they open, and wrap nothing new. See `parlance keys rotate-master`.",
			apply: intoList(func(c *Config) *[]string { return &c.MasterKeyPreviousFiles }),
		},
		{
			Group: "Storage", Name: "MASTER_KEY_PREVIOUS_URLS", Help: "The same for keys in a key-management service.",
			apply: parsePreviousURLs,
		},
		{
			Group: "Storage", Name: "VAULT_TOKEN", Aliases: []string{"VAULT_TOKEN"}, Help: "Token for a vault:// key: its policy allows update on transit/encrypt/NAME and transit/decrypt/NAME.", Secret: true,
			apply: func(c *Config, v string) error { c.VaultToken = seal.Secret(v); return nil },
		},
		{
			Group: "Serving", Name: "LISTEN", Default: "127.0.0.1:8080", Help: "Address to serve every protocol on: host:port, or unix:///path for a socket.",
			apply: intoString(func(c *Config) *string { return &c.Listen }),
		},
		{
			Group: "Serving", Name: "PUBLIC_URL", Help: "Scheme, host and perhaps a path prefix callers know us by, without /v1, for every URL that we hand out. Default: those of each request.",
			apply: parsePublicURL,
		},
		{
			Group: "Serving", Name: "TRUSTED_PROXIES", Help: "Addresses and ranges of the proxies before us, separated by commas (loopback, private and unix stand for theirs): their X-Forwarded-* and Forwarded are believed. Default: nobody's.",
			apply: func(c *Config, v string) (err error) {
				c.TrustedProxies, err = interceptor.ParseProxies(splitList(v))
				return err
			},
		},
		{
			Group: "Serving", Name: "CORS_ORIGINS", Help: "Origins that browsers may call from, such as https://app.example, separated by commas; * is any.",
			apply: parseOrigins,
		},
		{
			Group: "Serving", Name: "TLS_CERT_FILE", Help: "Certificate chain (PEM) to serve TLS with; read again when it changes.",
			apply: intoString(func(c *Config) *string { return &c.TLSCertFile }),
		},
		{
			Group: "Serving", Name: "TLS_KEY_FILE", Help: "Private key (PEM) of TLS_CERT_FILE.",
			apply: intoString(func(c *Config) *string { return &c.TLSKeyFile }),
		},
		{
			Group: "Serving", Name: "SHUTDOWN_TIMEOUT", Default: "30s", Help: "How long a stopping process waits for what it is doing, as a duration.",
			apply: intoDuration(func(c *Config) *time.Duration { return &c.ShutdownTimeout }),
		},
		{
			Group: "Serving", Name: "PLANS_FILE", Help: "JSON file of plans that replaces the ones that ship (free, pro, enterprise).",
			apply: intoString(func(c *Config) *string { return &c.PlansFile }),
		},
	}, modelSettings(), []Setting{
		{
			Group: "Documents", Name: "SEARCH_CACHE_MIB", Default: "256", Help: "Memory of one process in MiB for what searches read: three eighths for vectors, about 2.3 KiB a passage with 512 numbers; a quarter for codes of vectors, some 72 bytes a passage; the rest for words and texts. With less, searches ask Postgres for more.",
			apply: intoInt(func(c *Config) *int { return &c.SearchCacheMiB }, 1, 1<<20),
		},
		{
			Group: "Documents", Name: "OCR_LANGUAGES", Default: "eng", Help: "Languages of pictures and scanned pages, by tesseract's names, separated by commas: eng,deu. Each needs its package (tesseract-ocr-deu) on the workers.",
			apply: func(c *Config, v string) (err error) { c.OCRLanguages, err = tesseract.ParseLanguages(v); return err },
		},
		{
			Group: "Documents", Name: "SCRATCH_DIR", Help: "Directory where workers put a PDF file or picture while it is read. Default: the system's for temporary files.",
			apply: intoString(func(c *Config) *string { return &c.ScratchDir }),
		},
		{
			Group: "Egress", Name: "EGRESS_ALLOW_CIDRS", Help: "Address ranges, separated by commas, that tools and webhooks may reach although they are not public. For development.",
			apply: func(c *Config, v string) error { return parseCIDRs(c, v) },
		},
		{
			Group: "Egress", Name: "EGRESS_CA_FILE", Help: "Certificate authorities (PEM) trusted beside the system's when calling tools and webhooks.",
			apply: intoString(func(c *Config) *string { return &c.EgressCAFile }),
		},
		{
			Group: "Webhooks", Name: "WEBHOOK_SCHEDULE", Default: "0s,5s,30s,2m,10m,30m,2h,6h,12h,24h,24h", Help: "Waits before each attempt, as durations separated by commas; each has 20 % of jitter.",
			apply: func(c *Config, v string) error { return parseSchedule(c, v) },
		},
		{
			Group: "Webhooks", Name: "WEBHOOK_DISABLE_FAILURES", Default: "10", Help: "Failed attempts in a row before an endpoint may be disabled.",
			apply: intoInt(func(c *Config) *int { return &c.WebhookDisableFailures }, 1, 1_000_000),
		},
		{
			Group: "Webhooks", Name: "WEBHOOK_DISABLE_WINDOW", Default: "168h", Help: "Time without a success before an endpoint may be disabled, as a duration.",
			apply: intoDuration(func(c *Config) *time.Duration { return &c.WebhookDisableWindow }),
		},
		{
			Group: "Webhooks", Name: "WEBHOOK_DISABLE_MIN_AGE", Default: "24h", Help: "Age of an endpoint that never succeeded before it may be disabled, as a duration.",
			apply: intoDuration(func(c *Config) *time.Duration { return &c.WebhookDisableMinAge }),
		},
		{
			Group: "Memory", Name: "MEMORY_PER_USER", Default: "10000", Help: "Most that is remembered of one user, notes and statements together.",
			apply: intoInt(func(c *Config) *int { return &c.MemoryPerUser }, 1, 1_000_000),
		},
		{
			Group: "Webhooks", Name: "WEBHOOK_RETENTION", Default: "720h", Help: "How long events, their deliveries and the attempts are kept, as a duration of 1h or more; 0 keeps them for ever. What is still to be delivered stays.",
			apply: intoRetention(func(c *Config) *time.Duration { return &c.WebhookRetention }),
		},
		{
			Group: "Tools", Name: "TOOL_CALL_RETENTION", Default: "2160h", Help: "How long the traces of tool calls are kept, as a duration of 1h or more; 0 keeps them for ever.",
			apply: intoRetention(func(c *Config) *time.Duration { return &c.ToolCallRetention }),
		},
		{
			Group: "Serving", Name: "SPILL_DIR", Help: "Directory where a server keeps turns while Postgres is away; it must outlive the process, and servers may share it. Default: spill beside the bucket's directory. off keeps none: turns fail then.",
			apply: intoString(func(c *Config) *string { return &c.SpillDir }),
		},
		{
			Group: "Serving", Name: "SPILL_MAX_BYTES", Default: "268435456", Help: "Most bytes that one server keeps there; a turn takes some kilobytes.",
			apply: intoInt(func(c *Config) *int { return &c.SpillMaxBytes }, wal.MinMaxBytes, 1<<40),
		},
		{
			Group: "Sharing", Name: "TENANT_SHARE", Default: "75", Help: "Percent of a queue's slots in a process (calls of models, calls of tools, sources, deliveries) that one tenant gets while there are others.",
			apply: intoInt(func(c *Config) *int { return &c.TenantShare }, 1, 100),
		},
		{
			Group: "Sharing", Name: "MODEL_CONCURRENCY", Default: "128", Help: "Calls of models one server makes at the same time; the others wait, tenants in turn.",
			apply: intoInt(func(c *Config) *int { return &c.ModelConcurrency }, 1, 65536),
		},
		{
			Group: "Sharing", Name: "TOOL_CONCURRENCY", Default: "256", Help: "Calls of tools' endpoints one server makes at the same time; the others wait, tenants in turn.",
			apply: intoInt(func(c *Config) *int { return &c.ToolConcurrency }, 1, 65536),
		},
		{
			Group: "Sharing", Name: "SOCKET_MAX", Default: "20000", Help: "WebSockets one server has open at the same time; further ones are refused with 503. 0 is any number.",
			apply: intoInt(func(c *Config) *int { return &c.SocketMax }, 0, 1<<20),
		},
		{
			Group: "Sharing", Name: "SOCKET_MAX_PER_TENANT", Default: "0", Help: "WebSockets of one tenant that one server has open at the same time; further ones are refused with 429. 0 is any number.",
			apply: intoInt(func(c *Config) *int { return &c.SocketMaxPerTenant }, 0, 1<<20),
		},
		{
			Group: "Worker", Name: "INGEST_CONCURRENCY", Default: "2", Help: "Sources one worker computes on at the same time, about its number of CPUs; four times as many are at work, the others waiting for OCR or an embedding server.",
			apply: intoInt(func(c *Config) *int { return &c.IngestConcurrency }, 1, 256),
		},
		{
			Group: "Worker", Name: "EMBEDDING_CONCURRENCY", Default: "4", Help: "Calls of the embeddings server one worker makes at the same time for sources.",
			apply: intoInt(func(c *Config) *int { return &c.EmbeddingConcurrency }, 1, 256),
		},
		{
			Group: "Worker", Name: "DELIVERY_CONCURRENCY", Default: "32", Help: "Tasks of webhook deliveries one worker runs at the same time.",
			apply: intoInt(func(c *Config) *int { return &c.DeliveryConcurrency }, 1, 4096),
		},
		{
			Group: "Worker", Name: "WORKER_LISTEN", Help: "Address on which a worker serves /metrics and /healthz, host:port. Default: none.",
			apply: intoString(func(c *Config) *string { return &c.WorkerListen }),
		},
		{
			Group: "Telemetry", Name: "LOG_LEVEL", Default: "info", Help: "Least level logged: debug, info, warn or error.",
			apply: intoChoice(func(c *Config) *string { return &c.LogLevel }, "debug", "info", "warn", "error"),
		},
		{
			Group: "Telemetry", Name: "LOG_FORMAT", Default: "auto", Help: "json, text, or auto: text on a terminal and JSON elsewhere.",
			apply: intoChoice(func(c *Config) *string { return &c.LogFormat }, "auto", "json", "text"),
		},
		{
			Group: "Telemetry", Name: "OTLP_ENDPOINT", Help: "URL of an OTLP/HTTP collector for traces, mostly ending in /v1/traces. Default: no traces.",
			apply: intoURL(func(c *Config) *string { return &c.OTLPEndpoint }, "http", "https"),
		},
		{
			Group: "Telemetry", Name: "OTLP_HEADERS", Help: "Headers sent with each export, as name=value separated by commas; values are percent-encoded where they hold a comma.", Secret: true,
			apply: parseOTLPHeaders,
		},
		{
			Group: "Telemetry", Name: "DEBUG_LISTEN", Help: "Address, host:port, on which a server serves Go's profiles at /debug/pprof/; keep it to this machine. Default: none.",
			apply: intoString(func(c *Config) *string { return &c.DebugListen }),
		},
		{
			Group: "Telemetry", Name: "OTLP_SAMPLE", Default: "1", Help: "Part of the traces that is kept, from 0 to 1.",
			apply: intoRatio(func(c *Config) *float64 { return &c.OTLPSample }),
		},
	})
}

func intoString(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = v; return nil }
}

func intoList(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, v string) error { *field(c) = splitList(v); return nil }
}

func splitList(v string) []string {
	var list []string
	for part := range strings.SplitSeq(v, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

func intoInt(field func(*Config) *int, least, most int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		*field(c) = n
		return nil
	}
}

func intoRatio(field func(*Config) *float64) func(*Config, string) error {
	return func(c *Config, v string) error {
		ratio, err := strconv.ParseFloat(v, 64)
		if err != nil || !(ratio >= 0 && ratio <= 1) { // NaN is neither
			return fmt.Errorf("must be a number from 0 to 1")
		}
		*field(c) = ratio
		return nil
	}
}

func intoDuration(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return fmt.Errorf("must be a duration such as 30s or 24h")
		}
		*field(c) = d
		return nil
	}
}

// intoRetention is intoDuration for how long something is kept: so little that it is surely a
// mistake in the unit is refused.
func intoRetention(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		if err := intoDuration(field)(c, v); err != nil {
			return err
		}
		if kept := *field(c); kept > 0 && kept < time.Hour {
			return fmt.Errorf("must be 0 or at least 1h: what is older is deleted")
		}
		return nil
	}
}

func intoChoice(field func(*Config) *string, choices ...string) func(*Config, string) error {
	return func(c *Config, v string) error {
		for _, choice := range choices {
			if v == choice {
				*field(c) = v
				return nil
			}
		}
		return fmt.Errorf("must be one of %s", strings.Join(choices, ", "))
	}
}

func intoURL(field func(*Config) *string, schemes ...string) func(*Config, string) error {
	return func(c *Config, v string) error {
		u, err := url.Parse(v)
		if err != nil {
			return fmt.Errorf("must be a URL")
		}
		for _, scheme := range schemes {
			if u.Scheme == scheme && (u.Host != "" || scheme == "file") {
				*field(c) = strings.TrimSuffix(v, "/")
				return nil
			}
		}
		return fmt.Errorf("must be a URL with the scheme %s", strings.Join(schemes, " or "))
	}
}

func parseCIDRs(c *Config, v string) error {
	c.EgressAllowCIDRs = nil
	for _, part := range splitList(v) {
		if _, err := netip.ParsePrefix(part); err != nil {
			return fmt.Errorf("%q is not an address range such as 127.0.0.0/8", part)
		}
		c.EgressAllowCIDRs = append(c.EgressAllowCIDRs, part)
	}
	return nil
}

func parseSchedule(c *Config, v string) error {
	c.WebhookSchedule = nil
	for _, part := range splitList(v) {
		wait, err := time.ParseDuration(part)
		if err != nil || wait < 0 {
			return fmt.Errorf("%q is not a duration such as 30s", part)
		}
		c.WebhookSchedule = append(c.WebhookSchedule, wait)
	}
	if len(c.WebhookSchedule) == 0 {
		return fmt.Errorf("needs at least one duration")
	}
	return nil
}

// parsePublicURL takes a path prefix too, but not what would end up in the middle of a URL.
func parsePublicURL(c *Config, v string) error {
	if err := intoURL(func(c *Config) *string { return &c.PublicURL }, "http", "https")(c, v); err != nil {
		return err
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil {
		return fmt.Errorf("must be a URL")
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return fmt.Errorf("must be scheme, host and perhaps a path: no user, query or fragment")
	case path.Clean("/"+u.Path) != "/"+strings.Trim(u.Path, "/"):
		return fmt.Errorf("has a path with empty or dotted parts")
	case path.Base(u.Path) == "v1":
		return fmt.Errorf("must not end in /v1: it is added")
	}
	return nil
}

// parseOrigins takes origins exactly as browsers write them: a browser compares the whole text, so
// a slash too many would allow nobody and a wildcard inside more than was meant.
func parseOrigins(c *Config, v string) error {
	origins := splitList(v)
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || origin != u.Scheme+"://"+u.Host || strings.Contains(origin, "*")) {
			return fmt.Errorf("%q is not an origin such as https://app.example or http://localhost:3000 (no path, no slash at the end), nor *", origin)
		}
	}
	c.CORSOrigins = origins
	return nil
}

// parseOTLPHeaders never repeats a value: they are secrets.
func parseOTLPHeaders(c *Config, v string) error {
	c.OTLPHeaders = map[string]seal.Secret{}
	for _, part := range splitList(v) {
		name, encoded, found := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if name = strings.TrimSpace(name); !found || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return fmt.Errorf("must be headers such as authorization=Bearer%%20abc,x-team=blue")
		}
		c.OTLPHeaders[name] = seal.Secret(value)
	}
	return nil
}
