package publicnet

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/idna"
)

const (
	// connectTimeout bounds one connection attempt. Source: decisions, Tools.
	connectTimeout = 3 * time.Second
	// resolveTimeout bounds CheckResolves.
	resolveTimeout = 5 * time.Second
)

var (
	// ErrNotPublic says that an address is not public, or not one the caller may reach.
	ErrNotPublic = errors.New("the address is not public")
	// ErrUnresolvable says that a host name has no address.
	ErrUnresolvable = errors.New("the host name does not resolve")
	// ErrURL says that a URL is not http or https, has no host, or carries a user name.
	ErrURL = errors.New("the URL is not usable")
)

// Options configures a Guard; the zero value opens nothing and trusts the system's CAs.
type Options struct {
	// AllowCIDRs are opened although they are not public. Source: PARLANCE_EGRESS_ALLOW_CIDRS.
	AllowCIDRs []string
	// DenyCIDRs are closed although they are public or among AllowCIDRs. Source:
	// PARLANCE_EGRESS_DENY_CIDRS.
	DenyCIDRs []string
	// CAFile is a PEM file of CAs trusted beside the system's. Source: PARLANCE_EGRESS_CA_FILE.
	CAFile string
	// Resolver looks up names; nil means the system's.
	Resolver *net.Resolver
}

// Guard decides which addresses may be reached for tenants. It is immutable and safe for concurrent
// use.
type Guard struct {
	allowed  []netip.Prefix
	denied   []netip.Prefix
	roots    *x509.CertPool // nil means the system's
	resolver *net.Resolver
}

// New makes a guard; it reads CAFile once.
func New(options Options) (*Guard, error) {
	guard := &Guard{resolver: options.Resolver}
	if guard.resolver == nil {
		guard.resolver = net.DefaultResolver
	}
	var err error
	if guard.allowed, err = parseRanges(options.AllowCIDRs); err != nil {
		return nil, fmt.Errorf("allowed range %w", err)
	}
	if guard.denied, err = parseRanges(options.DenyCIDRs); err != nil {
		return nil, fmt.Errorf("denied range %w", err)
	}
	if options.CAFile == "" {
		return guard, nil
	}
	guard.roots, err = RootsWith(options.CAFile)
	return guard, err
}

// Dialer connects to public addresses only: each address is checked when it is dialled. A
// refused one is an error that wraps ErrNotPublic.
func (g *Guard) Dialer() *net.Dialer {
	return &net.Dialer{Timeout: connectTimeout, Resolver: g.resolver, ControlContext: g.control}
}

// control is called with the address that is about to be dialled, after resolution.
func (g *Guard) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: %s is not TCP", ErrNotPublic, network)
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil || !g.permits(target.Addr()) {
		return ErrNotPublic // without the address: it may be that of an internal host
	}
	return nil
}

// Opened says whether the operator opened ranges to tenants: an installation for development.
func (g *Guard) Opened() bool { return len(g.allowed) > 0 }

// Roots are the CAs that are trusted: nil means the system's.
func (g *Guard) Roots() *x509.CertPool { return g.roots }

// permits says whether tenants may reach addr.
func (g *Guard) permits(addr netip.Addr) bool {
	addr = addr.Unmap()
	if addr.Zone() != "" || contains(g.denied, addr) {
		return false
	}
	return isPublic(addr) || contains(g.allowed, addr)
}

// CheckLiteral checks a URL without a look-up: http or https, a host, a port that
// exists, no user name, and no address in any spelling (nor localhost) that tenants may not reach.
// Names are checked when they are called, or by CheckResolves.
// Errors: ErrURL, ErrNotPublic.
func (g *Guard) CheckLiteral(u *url.URL) error {
	if err := checkForm(u); err != nil {
		return err
	}
	host := canonicalHost(u.Hostname())
	if addr, numeric := literalAddr(host); numeric {
		if !g.permits(addr) {
			return ErrNotPublic
		}
		return nil
	}
	if isLocalhost(host) && !g.permits(netip.AddrFrom4([4]byte{127, 0, 0, 1})) && !g.permits(netip.IPv6Loopback()) {
		return ErrNotPublic
	}
	return nil
}

// CheckResolves looks up a host (a name, or an address as CheckLiteral knows them) and checks
// every address it has. The answer may change later: the dialer checks again.
// Errors: ErrNotPublic, ErrUnresolvable, the context's own.
func (g *Guard) CheckResolves(ctx context.Context, host string) error {
	host = canonicalHost(strings.Trim(host, "[]"))
	if addr, numeric := literalAddr(host); numeric {
		if !g.permits(addr) {
			return ErrNotPublic
		}
		return nil
	}
	looking, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	addrs, err := g.resolver.LookupNetIP(looking, "ip", host)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // no addresses is an error too
		return fmt.Errorf("%w: %w", ErrUnresolvable, err)
	}
	if !slices.ContainsFunc(addrs, func(addr netip.Addr) bool { return !g.permits(addr) }) {
		return nil
	}
	return ErrNotPublic
}

func checkForm(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%w: its scheme must be http or https", ErrURL)
	case u.Hostname() == "":
		return fmt.Errorf("%w: it has no host", ErrURL)
	case u.User != nil:
		return fmt.Errorf("%w: it carries a user name", ErrURL)
	}
	if port := u.Port(); port != "" {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return fmt.Errorf("%w: its port is not from 1 to 65535", ErrURL)
		}
	}
	return nil
}

// canonicalHost spells a host as net/http will: lower-case ASCII (full-width digits become
// digits), without the final dot.
func canonicalHost(host string) string {
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// RootsWith returns the system's CAs and those of a PEM file.
func RootsWith(caFile string) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("reading the system's CAs: %w", err)
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("reading the CA file: %w", err)
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("the CA file %s holds no certificate", caFile)
	}
	return roots, nil
}
