package redis

import (
	"errors"
	"net"
	"net/url"
	"strings"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// errURL never holds the URL: a password may stand in it.
var errURL = errors.New("the Redis URL is not understood: use redis://[user:password@]host:6379/0 " +
	"(rediss:// for TLS), unix:///path/redis.sock, " +
	"redis+sentinel://host:26379,host:26379/master?db=0 or redis+cluster://host:6379,host:6379 (rediss+sentinel, rediss+cluster for TLS)")

// The kinds of installations behind a URL.
const (
	sentinel = "+sentinel"
	cluster  = "+cluster"

	redisPort    = "6379"
	sentinelPort = "26379"
)

// address is a Redis URL taken apart: net/url knows no lists of hosts.
type address struct {
	base  string // redis, rediss or unix
	kind  string // sentinel, cluster, or empty
	user  string // with the @ behind it
	hosts []string
	path  string
	query url.Values
}

func splitURL(text string) (address, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return address{}, errURL
	}
	var a address
	a.base, a.kind = scheme, ""
	for _, kind := range []string{sentinel, cluster} {
		// redis-sentinel:// is how other programs write it.
		for _, written := range []string{kind, "-" + kind[1:]} {
			if base, ok := strings.CutSuffix(scheme, written); ok {
				a.base, a.kind = base, kind
			}
		}
	}
	rest, query, _ := strings.Cut(rest, "?")
	var err error
	if a.query, err = url.ParseQuery(query); err != nil {
		return address{}, errURL
	}
	authority, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndex(authority, "@"); i >= 0 {
		a.user, authority = authority[:i+1], authority[i+1:]
	}
	a.path = strings.Trim(path, "/")
	for host := range strings.SplitSeq(authority, ",") {
		if host = strings.TrimSpace(host); host != "" {
			a.hosts = append(a.hosts, host)
		}
	}
	return a, nil
}

// CheckURL returns why a URL is not understood, without the URL.
func CheckURL(text string) error {
	_, err := parse(text)
	return err
}

// parse reads a URL of any kind. Options that the query does not name are zero.
func parse(text string) (*goredis.UniversalOptions, error) {
	if !strings.Contains(text, sentinel) && !strings.Contains(text, cluster) && !strings.Contains(text, "-sentinel:") &&
		!strings.Contains(text, "-cluster:") {
		options, err := goredis.ParseURL(text)
		if err != nil {
			return nil, errURL
		}
		return universal(options), nil
	}
	a, err := splitURL(text)
	if err != nil || len(a.hosts) == 0 || a.base != "redis" && a.base != "rediss" {
		return nil, errURL
	}
	if a.kind == cluster {
		return a.cluster()
	}
	return a.sentinel()
}

func (a address) cluster() (*goredis.UniversalOptions, error) {
	if a.path != "" || a.query.Has("db") {
		return nil, errors.New("the Redis URL names a database, and a Redis Cluster has only one: leave it out")
	}
	options, err := a.common()
	if err != nil {
		return nil, err
	}
	options.Addrs, options.IsClusterMode = withPorts(a.hosts, redisPort), true
	return options, nil
}

func (a address) sentinel() (*goredis.UniversalOptions, error) {
	if a.path == "" || strings.Contains(a.path, "/") {
		return nil, errors.New("the Redis URL lacks the name of the master that the sentinels watch: " +
			"redis+sentinel://host:26379,host:26379/mymaster")
	}
	master := a.path
	user, password := a.query.Get("sentinel_username"), a.query.Get("sentinel_password")
	a.path = ""
	a.query.Del("sentinel_username")
	a.query.Del("sentinel_password")
	options, err := a.common()
	if err != nil {
		return nil, err
	}
	options.Addrs, options.MasterName = withPorts(a.hosts, sentinelPort), master
	options.SentinelUsername, options.SentinelPassword = user, password
	return options, nil
}

// common reads what a URL of one host can say too.
func (a address) common() (*goredis.UniversalOptions, error) {
	options, err := goredis.ParseURL(a.base + "://" + a.user + "host/" + a.path + "?" + a.query.Encode())
	if err != nil {
		return nil, errURL
	}
	all := universal(options)
	if all.TLSConfig != nil {
		all.TLSConfig.ServerName = "" // each host's own
	}
	return all, nil
}

func withPorts(hosts []string, port string) []string {
	all := make([]string, len(hosts))
	for i, host := range hosts {
		all[i] = host
		if _, _, err := net.SplitHostPort(host); err != nil {
			all[i] = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
	}
	return all
}

// universal are the options of one host as those of any kind; a Unix socket's path is its address.
func universal(o *goredis.Options) *goredis.UniversalOptions {
	return &goredis.UniversalOptions{
		Addrs: []string{o.Addr}, ClientName: o.ClientName, DB: o.DB, Protocol: o.Protocol, Username: o.Username, Password: o.Password,
		MaxRetries: o.MaxRetries, MinRetryBackoff: o.MinRetryBackoff, MaxRetryBackoff: o.MaxRetryBackoff,
		DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout,
		PoolFIFO: o.PoolFIFO, PoolSize: o.PoolSize, PoolTimeout: o.PoolTimeout, MinIdleConns: o.MinIdleConns, MaxIdleConns: o.MaxIdleConns,
		MaxActiveConns: o.MaxActiveConns, ConnMaxIdleTime: o.ConnMaxIdleTime, ConnMaxLifetime: o.ConnMaxLifetime, TLSConfig: o.TLSConfig,
		// They are for Redis's own cloud and cost a round trip a connection.
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}
