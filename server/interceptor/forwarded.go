package interceptor

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// hops are the lists that proxies on the way have added to, the nearest hop last.
type hops struct {
	clients, schemes, hosts, ports []string
	// trusted is how many of the clients, from the right, are themselves trusted proxies.
	trusted int
}

// forwarded reads X-Forwarded-*, or Forwarded (RFC 7239) when there is no X-Forwarded-For. A
// request has both when a proxy writes one and passes the other through from the caller: forwarded
// then uses the one that nearly every proxy writes.
func forwarded(header http.Header) hops {
	clients := listOf(header, "X-Forwarded-For")
	if len(clients) == 0 && header.Get("Forwarded") != "" {
		return readForwarded(header.Values("Forwarded"))
	}
	return hops{
		clients: clients, schemes: listOf(header, "X-Forwarded-Proto"),
		hosts: listOf(header, "X-Forwarded-Host"), ports: listOf(header, "X-Forwarded-Port"),
	}
}

func listOf(header http.Header, name string) []string {
	var list []string
	for _, value := range header.Values(name) {
		for part := range strings.SplitSeq(value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
	}
	return list
}

// readForwarded takes for, proto and host of each element; what is missing is "".
func readForwarded(values []string) hops {
	var all hops
	for _, value := range values {
		for element := range splitQuoted(value, ',') {
			pairs := map[string]string{}
			for pair := range splitQuoted(element, ';') {
				name, value, _ := strings.Cut(pair, "=")
				pairs[strings.ToLower(strings.TrimSpace(name))] = unquote(strings.TrimSpace(value))
			}
			all.clients = append(all.clients, pairs["for"])
			all.schemes = append(all.schemes, pairs["proto"])
			all.hosts = append(all.hosts, pairs["host"])
		}
	}
	return all
}

// splitQuoted yields the parts of s between separators that stand outside quotes.
func splitQuoted(s string, separator byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		begin, quoted := 0, false
		for i := 0; i < len(s); i++ {
			switch {
			case s[i] == '\\' && quoted:
				i++
			case s[i] == '"':
				quoted = !quoted
			case s[i] == separator && !quoted:
				if !yield(s[begin:i]) {
					return
				}
				begin = i + 1
			}
		}
		yield(s[begin:])
	}
}

func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	return strings.ReplaceAll(s[1:len(s)-1], `\`, "")
}

// at returns the entry of a list for the hop that was found. A list may be shorter than the list of
// clients, because many proxies replace the scheme and host instead of adding to them. Its first
// entry was then written by a trusted proxy too.
func (h hops) at(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[max(0, len(list)-1-h.trusted)]
}

// hopAddress reads "192.0.2.1", "192.0.2.1:4711", "2001:db8::1" and "[2001:db8::1]:4711".
func hopAddress(text string) (netip.Addr, bool) {
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(text, "]") {
		text = strings.TrimSuffix(inner, "]")
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		withPort, portErr := netip.ParseAddrPort(text)
		if portErr != nil {
			return netip.Addr{}, false
		}
		address = withPort.Addr()
	}
	return address.Unmap().WithZone(""), true
}

// validScheme returns http or https, or "".
func validScheme(scheme string) string {
	switch scheme = strings.ToLower(scheme); scheme {
	case "http", "https":
		return scheme
	case "ws":
		return "http"
	case "wss":
		return "https"
	}
	return ""
}

// maxHostBytes is a DNS name with a port. Source: RFC 1035.
const maxHostBytes = 255 + len(":65535")

// validHost returns a host, perhaps with a port, that can stand in a URL, or "".
func validHost(host string) string {
	if host == "" || len(host) > maxHostBytes {
		return ""
	}
	name := host
	if before, port, err := net.SplitHostPort(host); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return ""
		}
		name = before
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		name = strings.TrimSuffix(inner, "]")
	}
	if strings.Contains(name, ":") {
		if address, err := netip.ParseAddr(name); err != nil || address.Zone() != "" || !strings.HasPrefix(host, "[") {
			return ""
		}
		return host
	}
	for _, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '-' && c != '_' && c != '.' {
			return ""
		}
	}
	return host
}

// withPort adds the port that a proxy was called on, if the host has none and it is not the
// scheme's default.
func withPort(host, port, scheme string) string {
	n, err := strconv.ParseUint(port, 10, 16)
	own := scheme == "https" && n == 443 || scheme != "https" && n == 80
	if host == "" || err != nil || n == 0 || own {
		return host
	}
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}
