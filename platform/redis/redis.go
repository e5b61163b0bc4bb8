package redis

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// Without these a Redis that stops answering holds a caller for ever.
const (
	dialTimeout  = 3 * time.Second
	readTimeout  = 3 * time.Second
	writeTimeout = 3 * time.Second
	// inspectTimeout bounds Inspect, which a start waits for.
	inspectTimeout = 2 * time.Second
)

// Config says which Redis to use.
type Config struct {
	// URL is one of
	//
	//	redis://[user:password@]host:6379/0     rediss:// with TLS
	//	unix:///path/redis.sock?db=0
	//	redis+sentinel://[user:password@]host:26379,host:26379/master?db=0&…
	//	    with sentinel_username=… and sentinel_password=… for the sentinels
	//	redis+cluster://[user:password@]host:6379,host:6379
	//
	// and rediss+sentinel, rediss+cluster. Time-outs in its query win over ours.
	URL string
	// PoolSize bounds the connections; 0 means ten for each CPU, or pool_size of the URL.
	PoolSize int
}

// Open makes a client. It connects when it is first used: a process must start without Redis.
// The only error is a URL that is not understood; it does not hold the URL's password.
//
// In a cluster every key of one command, script or transaction must have the same hash tag.
func Open(cfg Config) (goredis.UniversalClient, error) {
	options, err := parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	options.DialTimeout = cmp.Or(options.DialTimeout, dialTimeout)
	options.ReadTimeout = cmp.Or(options.ReadTimeout, readTimeout)
	options.WriteTimeout = cmp.Or(options.WriteTimeout, writeTimeout)
	options.ContextTimeoutEnabled = true // a caller's deadline ends its command
	if cfg.PoolSize > 0 {
		options.PoolSize = cfg.PoolSize
	}
	if options.ClientName == "" {
		options.ClientName = "parlance"
	}
	return goredis.NewUniversalClient(options), nil
}

// ReadyWithin is how soon a Redis answers that is in order.
const ReadyWithin = 2 * time.Second

// Ping asks Redis for an answer within a time. The error says why there is none if the time is long
// enough for the client's own tries, which take about two seconds.
func Ping(ctx context.Context, client goredis.UniversalClient, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("asking Redis: %w", err)
	}
	return nil
}

// LogTo gives the client library's own words, which it writes to standard error otherwise, to log,
// without the secrets of the URL. They are about connections that fail and are made again, and one
// outage makes many: debug is their level. For the whole process.
func LogTo(log *slog.Logger, redisURL string) { goredis.SetLogger(newLibraryLog(log, redisURL)) }

func newLibraryLog(log *slog.Logger, redisURL string) libraryLog {
	var secrets []string
	if a, err := splitURL(redisURL); err == nil {
		_, password, _ := strings.Cut(strings.TrimSuffix(a.user, "@"), ":")
		plain, err := url.PathUnescape(password)
		if err != nil {
			plain = password
		}
		watch := a.query.Get("sentinel_password")
		for _, secret := range []string{password, plain, watch, url.QueryEscape(watch)} {
			if secret != "" {
				secrets = append(secrets, secret, "***")
			}
		}
	}
	return libraryLog{log: log, hide: strings.NewReplacer(secrets...)}
}

type libraryLog struct {
	log  *slog.Logger
	hide *strings.Replacer
}

// Printf implements the library's interface.
func (l libraryLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, "redis client", "detail", l.hide.Replace(fmt.Sprintf(format, args...)))
}
