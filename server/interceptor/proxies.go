package interceptor

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the peers that are trusted to say where a request came from, and which scheme and
// host it was sent to. The zero value trusts nobody. Immutable.
type Proxies struct {
	prefixes []netip.Prefix
	// unix trusts peers on a Unix socket.
	unix bool
}

// proxyWords are names for ranges. Source: RFC 1122, 1918, 4193, 4291, 6598.
var proxyWords = map[string][]netip.Prefix{
	"loopback": {netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
	"private": {
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
		netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("fc00::/7"),
	},
}

// ParseProxies reads addresses, ranges, and the words loopback, private and unix.
func ParseProxies(list []string) (Proxies, error) {
	var p Proxies
	for _, part := range list {
		if part == "unix" {
			p.unix = true
			continue
		}
		if word, ok := proxyWords[part]; ok {
			p.prefixes = append(p.prefixes, word...)
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if err != nil {
			address, addressErr := netip.ParseAddr(part)
			if addressErr != nil || address.Zone() != "" {
				return Proxies{}, fmt.Errorf("%q is not an address such as 10.0.0.7, a range such as 10.0.0.0/8, nor loopback, private or unix", part)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		p.prefixes = append(p.prefixes, unmapped(prefix.Masked()))
	}
	return p, nil
}

// unmapped returns the IPv4 range that an IPv4-mapped IPv6 range stands for: addresses are
// compared unmapped.
func unmapped(prefix netip.Prefix) netip.Prefix {
	if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
		return netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	return prefix
}

// trusts reports whether a hop is a trusted proxy.
func (p Proxies) trusts(hop netip.Addr) bool {
	for _, prefix := range p.prefixes {
		if prefix.Contains(hop) {
			return true
		}
	}
	return false
}

// Trusts reports whether the other end of the connection of a request is a trusted proxy.
func (p Proxies) Trusts(r *http.Request) bool {
	_, trusted := p.trustsPeer(r)
	return trusted
}

// trustsPeer reports whether the other end of the connection is trusted. On a Unix socket it has
// no address.
func (p Proxies) trustsPeer(r *http.Request) (peer netip.Addr, trusted bool) {
	peer = peerOf(r)
	if !peer.IsValid() {
		return peer, p.unix && (r.RemoteAddr == "" || strings.HasPrefix(r.RemoteAddr, "@") || strings.HasPrefix(r.RemoteAddr, "/"))
	}
	return peer, p.trusts(peer)
}

// peerOf returns the address of the connection's other end. It is not valid on a Unix socket.
func peerOf(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

// caller describes who sent a request, and to which URL.
type caller struct {
	// client is the nearest hop that is not a trusted proxy. It is not valid if that hop has no
	// address.
	client netip.Addr
	// scheme and host are what that hop used; empty if no proxy names them.
	scheme, host string
}

// ask reads what trusted proxies report about r. Each proxy adds the hop before it at the right of
// a list, so the list is read from the right for as long as the hops are trusted. The caller may
// have written everything further left.
func (p Proxies) ask(r *http.Request) caller {
	peer, trusted := p.trustsPeer(r)
	if !trusted {
		return caller{client: peer}
	}
	hops := forwarded(r.Header)
	found := caller{client: peer}
	for i := len(hops.clients) - 1; i >= 0; i-- {
		address, ok := hopAddress(hops.clients[i])
		if !ok {
			// A hop without an address, or garbage: nothing before it can be trusted.
			found.client = netip.Addr{}
			break
		}
		found.client = address
		if !p.trusts(address) {
			break
		}
		if i > 0 {
			hops.trusted++
		}
	}
	found.scheme = validScheme(hops.at(hops.schemes))
	found.host = withPort(validHost(hops.at(hops.hosts)), hops.at(hops.ports), found.scheme)
	return found
}
