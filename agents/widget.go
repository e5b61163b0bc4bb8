package agents

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Widget says on which pages browsers may talk with an agent.
type Widget struct {
	// AllowedOrigins are as browsers write them, such as https://www.example.org. A host that begins
	// with "*." stands for all names below the rest. Empty allows every page.
	AllowedOrigins []string `json:"allowed_origins,omitempty"`
}

// IsZero reports whether every page may talk with the agent.
func (w Widget) IsZero() bool { return len(w.AllowedOrigins) == 0 }

// Allows reports whether a page of this origin may talk with the agent. origin is what a browser
// sends.
func (w Widget) Allows(origin string) bool {
	if len(w.AllowedOrigins) == 0 {
		return true
	}
	origin = Origin(origin)
	return slices.ContainsFunc(w.AllowedOrigins, func(allowed string) bool {
		scheme, suffix, wildcard := strings.Cut(allowed, "://*.")
		if !wildcard {
			return allowed == origin
		}
		below, sameScheme := strings.CutPrefix(origin, scheme+"://")
		name, isBelow := strings.CutSuffix(below, "."+suffix)
		return sameScheme && isBelow && originHost.MatchString(name)
	})
}

// defaultPorts are the ports that browsers leave out of an origin.
var defaultPorts = map[string]string{"http": ":80", "https": ":443"}

// Origin returns an origin as browsers write it: in lower case, without the scheme's own port.
func Origin(raw string) string {
	origin := strings.ToLower(raw)
	scheme, _, _ := strings.Cut(origin, "://")
	if port := defaultPorts[scheme]; port != "" {
		origin = strings.TrimSuffix(origin, port)
	}
	return origin
}

// normal has the origins as browsers write them.
func (w Widget) normal() Widget {
	w.AllowedOrigins = slices.Clone(w.AllowedOrigins)
	for i, origin := range w.AllowedOrigins {
		w.AllowedOrigins[i] = Origin(origin)
	}
	return w
}

// originHost matches a name, an IPv4 address or an IPv6 address, which stands in brackets.
var originHost = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$|^\[[0-9a-f:.]+\]$`)

// checkWidget refuses what is no origin.
func (c Config) checkWidget(add func(field, code, message string)) {
	for i, origin := range c.Widget.normal().AllowedOrigins {
		if !isOrigin(origin) {
			add("widget.allowed_origins["+strconv.Itoa(i)+"]", "origin", "An origin is written as browsers send it: https://www.example.org, "+
				"http://localhost:3000, or https://*.example.org for all names below example.org; without a path or a slash at its end. "+
				"An empty list allows every page.")
		}
	}
}

// isOrigin reports whether a text, in lower case, is an origin or a wildcard for origins.
func isOrigin(origin string) bool {
	u, err := url.Parse(strings.Replace(origin, "://*.", "://", 1))
	if err != nil || u.Scheme == "" || u.Host == "" {
		return false
	}
	host := u.Host
	if u.Port() != "" {
		host = strings.TrimSuffix(host, ":"+u.Port())
	}
	whole := origin == u.Scheme+"://"+u.Host || origin == u.Scheme+"://*."+u.Host
	return whole && originHost.MatchString(host) && !strings.Contains(host, "..")
}
