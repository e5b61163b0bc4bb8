package agents

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
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

// normal has the origins as browsers write them, each once. What is no origin stays as it is.
func (w Widget) normal() Widget {
	var origins []string
	for _, raw := range w.AllowedOrigins {
		origin, wrong := parseOrigin(raw)
		if wrong != "" {
			origin = raw
		}
		if !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	w.AllowedOrigins = origins
	return w
}

// originHost matches a name or the scheme-specific host of an app.
var originHost = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$`)

// notOfPages are schemes that no page's origin has.
var notOfPages = []string{"ws", "wss", "ftp", "file", "data", "blob", "javascript", "about"}

const (
	notOrigin = "An origin is written as browsers send it: https://www.example.org, http://localhost:3000, or " +
		"https://*.example.org for all names below example.org; without a path or a slash at its end. An empty list allows every page."
	notNumber     = "Write an address as browsers do: http://127.0.0.1:3000 or http://[::1]:3000, without a wildcard."
	publicSuffix  = "Anybody can have a name below this one. Name the site, such as https://*.example.org."
	notPageScheme = "Pages have origins that begin with https:// or http://; apps may have a scheme of their own, such as capacitor://."
)

// checkWidget refuses what is no origin.
func (c Config) checkWidget(add func(field, code, message string)) {
	for i, raw := range c.Widget.AllowedOrigins {
		if _, wrong := parseOrigin(raw); wrong != "" {
			add("widget.allowed_origins["+strconv.Itoa(i)+"]", "origin", wrong)
		}
	}
}

// parseOrigin returns an origin, or a wildcard for origins, as browsers write it; or what is wrong
// with it.
func parseOrigin(raw string) (origin, wrong string) {
	u, err := url.Parse(strings.Replace(raw, "://*.", "://", 1))
	if err != nil || u.Scheme == "" || u.Host == "" {
		return "", notOrigin
	}
	scheme, wildcard := strings.ToLower(u.Scheme), ""
	if strings.Contains(raw, "://*.") {
		wildcard = "*."
	}
	if !strings.EqualFold(raw, u.Scheme+"://"+wildcard+u.Host) { // a path, a question, a user
		return "", notOrigin
	}
	if slices.Contains(notOfPages, scheme) {
		return "", notPageScheme
	}
	host, wrong := pageHost(u.Hostname(), wildcard != "")
	if wrong != "" {
		return "", wrong
	}
	if strings.HasSuffix(u.Host, ":") {
		return "", notOrigin
	}
	port := ""
	if u.Port() != "" {
		number, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil || number == 0 {
			return "", notOrigin
		}
		port = ":" + strconv.FormatUint(number, 10)
	}
	return Origin(scheme + "://" + wildcard + host + port), ""
}

// pageHost returns the host of an origin as browsers write it, or what is wrong with it. below says
// that all names below it are meant.
func pageHost(host string, below bool) (written, wrong string) {
	address, err := netip.ParseAddr(host)
	switch {
	case err == nil && !below && address.Zone() == "" && address.Is6():
		return "[" + address.String() + "]", ""
	case err == nil && !below && address.Is4():
		return address.String(), ""
	case err == nil:
		return "", notNumber
	}
	name, err := idna.Lookup.ToASCII(host)
	if err != nil {
		name = strings.ToLower(host) // such as a_b.example, which browsers take
	}
	labels := strings.Split(name, ".")
	last := labels[len(labels)-1]
	switch {
	case !originHost.MatchString(name) || slices.Contains(labels, ""):
		return "", notOrigin
	case last[0] >= '0' && last[0] <= '9': // browsers read 127.1 and 0x7f.1 as addresses
		return "", notNumber
	}
	if suffix, isKnown := publicsuffix.PublicSuffix(name); below && suffix == name && (isKnown || len(labels) > 1) {
		return "", publicSuffix
	}
	return name, ""
}
