package app

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/server/interceptor"
)

func text[T ~string](field *T) func(string) error {
	return func(v string) error { *field = T(v); return nil }
}

func databaseURL(field *seal.Secret) func(string) error {
	return func(v string) error {
		*field = seal.Secret(v)
		if err := postgres.CheckURL(v); err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "the database URL "))
		}
		return nil
	}
}

func (c *Config) parseRedisURL(v string) error {
	c.RedisURL = seal.Secret(v)
	return redis.CheckURL(v)
}

// listenAddress is a host and a port to listen on, or one of the words.
func listenAddress(field *string, words ...string) func(string) error {
	return func(v string) error {
		*field = v
		if slices.Contains(words, v) {
			return nil
		}
		_, port, err := net.SplitHostPort(v)
		if n, portErr := strconv.Atoi(port); err != nil || portErr != nil || n < 0 || n > 65535 {
			return fmt.Errorf("must be %s, the port from 0 to 65535, such as 127.0.0.1:8080 or :8080",
				strings.Join(append([]string{"host:port"}, words...), " or "))
		}
		return nil
	}
}

// parseListen also takes the socket of a file.
func (c *Config) parseListen(v string) error {
	if path, isUnix := strings.CutPrefix(v, "unix://"); isUnix {
		return absolutePath(&c.Listen, "unix://")(path)
	}
	return listenAddress(&c.Listen, "unix:///path")(v)
}

// absolutePath is a path that means the same in any working directory, or one of the words. The
// field gets the prefix before it.
func absolutePath(field *string, prefix string, words ...string) func(string) error {
	return func(v string) error {
		if !filepath.IsAbs(v) && !slices.Contains(words, v) {
			choices := append([]string{"an absolute path (" + prefix + "/…)"}, words...)
			return fmt.Errorf("must be %s, not %s%s", strings.Join(choices, " or "), prefix, v)
		}
		*field = prefix + v
		return nil
	}
}

func list(field *[]string) func(string) error {
	return func(v string) error { *field = splitList(v); return nil }
}

func splitList(v string) []string {
	var parts []string
	for part := range strings.SplitSeq(v, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

func number(field *int, least, most int) func(string) error {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		*field = n
		return nil
	}
}

func ratio(field *float64) func(string) error {
	return func(v string) error {
		share, err := strconv.ParseFloat(v, 64)
		if err != nil || !(share >= 0 && share <= 1) { // NaN is neither
			return fmt.Errorf("must be a number from 0 to 1")
		}
		*field = share
		return nil
	}
}

func duration(field *time.Duration) func(string) error {
	return func(v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return fmt.Errorf("must be a duration such as 30s or 24h")
		}
		*field = d
		return nil
	}
}

// wait is duration for how long something is waited for.
func wait(field *time.Duration) func(string) error {
	return func(v string) error {
		if err := duration(field)(v); err != nil {
			return err
		}
		if *field == 0 {
			return fmt.Errorf("must be more than 0")
		}
		return nil
	}
}

// retention is duration for how long something is kept. It refuses durations that are so short that
// the unit must be wrong.
func retention(field *time.Duration) func(string) error {
	return func(v string) error {
		if err := duration(field)(v); err != nil {
			return err
		}
		if *field > 0 && *field < time.Hour {
			return fmt.Errorf("must be 0 or at least 1h: what is older is deleted")
		}
		return nil
	}
}

func choice(field *string, choices ...string) func(string) error {
	return func(v string) error {
		if !slices.Contains(choices, v) {
			return fmt.Errorf("must be one of %s", strings.Join(choices, ", "))
		}
		*field = v
		return nil
	}
}

func address(field *string, schemes ...string) func(string) error {
	return func(v string) error {
		u, err := url.Parse(v)
		if err != nil {
			return fmt.Errorf("must be a URL")
		}
		if !slices.Contains(schemes, u.Scheme) || u.Host == "" && u.Scheme != "file" {
			return fmt.Errorf("must be a URL with the scheme %s", strings.Join(schemes, " or "))
		}
		*field = strings.TrimSuffix(v, "/")
		return nil
	}
}

func (c *Config) parseProxies(v string) (err error) {
	c.TrustedProxies, err = interceptor.ParseProxies(splitList(v))
	return err
}

func (c *Config) parseLanguages(v string) (err error) {
	c.OCRLanguages, err = ocr.CheckLanguages(ocr.SplitLanguages(v))
	return err
}

func ranges(field *[]string) func(string) error {
	return func(v string) error {
		*field = nil
		for _, part := range splitList(v) {
			if _, err := netip.ParsePrefix(part); err != nil {
				return fmt.Errorf("%q is not an address range such as 127.0.0.0/8", part)
			}
			*field = append(*field, part)
		}
		return nil
	}
}

func (c *Config) parseSchedule(v string) error {
	c.WebhookSchedule = nil
	for part := range strings.SplitSeq(v, ",") {
		before, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || before < 0 {
			return fmt.Errorf("%q is not a duration such as 30s", part)
		}
		c.WebhookSchedule = append(c.WebhookSchedule, before)
	}
	return nil
}

// parsePublicURL accepts a path prefix, but nothing that would stand in the middle of a longer URL.
func (c *Config) parsePublicURL(v string) error {
	if err := address(&c.PublicURL, "http", "https")(v); err != nil {
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

// parseOrigins accepts origins exactly as browsers write them, because they are compared as text:
// an origin with a trailing slash would match no browser.
func (c *Config) parseOrigins(v string) error {
	origins := splitList(v)
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || origin != u.Scheme+"://"+u.Host || strings.Contains(origin, "*")) {
			return fmt.Errorf("%q is not an origin such as https://app.example or http://localhost:3000 (no path, no slash at "+
				"the end), nor *", origin)
		}
	}
	if len(origins) > 1 && slices.Contains(origins, "*") {
		return fmt.Errorf("has * beside other origins: * alone is any origin, and without it only the named ones may call")
	}
	c.CORSOrigins = origins
	return nil
}

// parseOTLPHeaders does not repeat values in its error, because they are secrets.
func (c *Config) parseOTLPHeaders(v string) error {
	c.OTLPHeaders = map[string]seal.Secret{}
	for _, part := range splitList(v) {
		name, encoded, found := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if name = strings.TrimSpace(name); !found || err != nil || !httpguts.ValidHeaderFieldName(name) ||
			!httpguts.ValidHeaderFieldValue(value) {
			return fmt.Errorf("must be headers such as authorization=Bearer%%20abc,x-team=blue")
		}
		c.OTLPHeaders[name] = seal.Secret(value)
	}
	return nil
}
