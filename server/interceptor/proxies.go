package interceptor

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the peers whose word about a request is taken: whom it came from, and by which
// scheme and host we were called. The zero value believes nobody. Immutable.
type Proxies struct {
	prefixes []netip.Prefix
	// unix says that peers on a Unix socket are believed.
	unix bool
}

// proxyWords stand for ranges. Source: RFC 1122, 1918, 4193, 4291, 6598.
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

// unmapped is the IPv4 range that an IPv4-mapped IPv6 range stands for: addresses are compared
// unmapped.
func unmapped(prefix netip.Prefix) netip.Prefix {
	if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
		return netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	return prefix
}

// believes says whether a hop's word is taken.
func (p Proxies) believes(hop netip.Addr) bool {
	for _, prefix := range p.prefixes {
		if prefix.Contains(hop) {
			return true
		}
	}
	return false
}

// Believes says whether the other end of a request's connection is a proxy whose word is taken.
func (p Proxies) Believes(r *http.Request) bool {
	_, believed := p.believesPeer(r)
	return believed
}

// believesPeer says whether the connection's other end is believed; a Unix socket's has no address.
func (p Proxies) believesPeer(r *http.Request) (peer netip.Addr, believed bool) {
	peer = peerOf(r)
	if !peer.IsValid() {
		return peer, p.unix && (r.RemoteAddr == "" || strings.HasPrefix(r.RemoteAddr, "@") || strings.HasPrefix(r.RemoteAddr, "/"))
	}
	return peer, p.believes(peer)
}

// peerOf is the address of the connection's other end; not valid on a Unix socket.
func peerOf(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

// caller is what is known about who sent a request, and to where.
type caller struct {
	// client is the nearest hop that is not a believed proxy; not valid when that has no address.
	client netip.Addr
	// scheme and host are what that hop called; empty when no proxy said.
	scheme, host string
}

// ask reads what believed proxies said about r. Each proxy adds the hop before it to the right of
// a list, so the list is read from the right for as long as the hops are believed: what stands
// further left the caller may have written itself.
func (p Proxies) ask(r *http.Request) caller {
	peer, believed := p.believesPeer(r)
	if !believed {
		return caller{client: peer}
	}
	hops := forwarded(r.Header)
	found := caller{client: peer}
	for i := len(hops.clients) - 1; i >= 0; i-- {
		address, ok := hopAddress(hops.clients[i])
		if !ok {
			// A hop without an address, or garbage: nothing behind it can be believed.
			found.client = netip.Addr{}
			break
		}
		found.client = address
		if !p.believes(address) {
			break
		}
		if i > 0 {
			hops.believed++
		}
	}
	found.scheme = saneScheme(hops.at(hops.schemes))
	found.host = withPort(saneHost(hops.at(hops.hosts)), hops.at(hops.ports), found.scheme)
	return found
}
