package publicnet

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// reserved lists what is not public unicast. Source: IANA's special-purpose address
// registries (RFC 6890 and successors), read so that in doubt an address is refused.
var reserved = prefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT; Alibaba's metadata service
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // Azure's wire server: a public number that is always the host itself
	"169.254.0.0/16",   // link-local; the metadata services at 169.254.169.254
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments; Oracle's metadata service
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarking
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, and broadcast
	"2001::/23",        // protocol assignments: Teredo, ORCHID, benchmarking
	"2001:db8::/32",    // documentation
	"2002::/16",        // 6to4, which carries any IPv4 address
	"3fff::/20",        // documentation
)

// globalUnicast is all of IPv6 that is given out. Outside it lie loopback, IPv4-compatible,
// NAT64 (64:ff9b::/96), discard, unique local (fd00::/8), link-local and multicast addresses.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// isPublic says whether addr is a public unicast address. IPv4 within IPv6 counts as IPv4.
func isPublic(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	if addr.Is6() && !globalUnicast.Contains(addr) {
		return false
	}
	return !contains(reserved, addr)
}

// contains says whether one of the ranges has addr, which must be unmapped.
func contains(ranges []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// parseRanges reads ranges such as 10.0.0.0/8. One of IPv4-mapped IPv6 addresses is read as the
// range of those IPv4 addresses.
func parseRanges(texts []string) ([]netip.Prefix, error) {
	var ranges []netip.Prefix
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		prefix = prefix.Masked()
		if prefix.Addr().Is4In6() {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		ranges = append(ranges, prefix)
	}
	return ranges, nil
}

// literalAddr reads a host as the address it names, in every spelling some resolver takes:
// 127.0.0.1, ::1, 2130706433, 0x7f.1, 0177.0.0.1, 127.1. numeric says that the host looks
// like a number although it may name no address (256.1.1.1).
func literalAddr(host string) (addr netip.Addr, numeric bool) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr, true
	}
	parts := strings.Split(host, ".")
	if _, ok := number(parts[len(parts)-1]); !ok {
		return netip.Addr{}, strings.Contains(host, ":")
	}
	if len(parts) > 4 {
		return netip.Addr{}, true
	}
	var value uint64
	for i, part := range parts {
		n, ok := number(part)
		bits := 8
		if i == len(parts)-1 { // the last number fills what is left
			bits = 8 * (4 - i)
		}
		if !ok || n >= 1<<bits {
			return netip.Addr{}, true
		}
		value = value<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// number reads decimal, 0x hexadecimal and 0 octal, as inet_aton does.
func number(text string) (uint64, bool) {
	base := 10
	switch lower := strings.ToLower(text); {
	case lower == "":
		return 0, false
	case strings.HasPrefix(lower, "0x"):
		text, base = text[2:], 16
		if text == "" {
			return 0, true
		}
	case len(text) > 1 && text[0] == '0':
		text, base = text[1:], 8
	}
	if n, err := strconv.ParseUint(text, base, 64); err == nil {
		return n, true
	}
	// 09 is no octal number and 99999999999999999999 fits nowhere, but they are numbers for our
	// purpose.
	return 1 << 63, strings.Trim(text, "0123456789") == ""
}

// isLocalhost says whether a host is one of the names that mean this machine everywhere (RFC 6761).
func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		host == "localhost.localdomain" || host == "ip6-localhost" || host == "ip6-loopback"
}

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}
