package doctor

import (
	"context"
	"crypto/x509"
	"net"
	"net/url"
	"runtime"
	"syscall"
	"time"
)

const (
	// fewFiles is the lowest useful limit: each socket and each connection uses a file.
	fewFiles = 10_000
	noFiles  = 512
	// lookupWithin limits a DNS lookup.
	lookupWithin = 5 * time.Second
	// anyZone is in every time zone database and not built in.
	anyZone = "Europe/Berlin"
)

func checkMachine(_ context.Context, _ Deps, r *report) {
	var files syscall.Rlimit
	const advice = "Raise the limit: LimitNOFILE=65536 in the unit, ulimit -n 65536, or --ulimit nofile=65536."
	// The Go runtime raises the soft limit to the hard limit.
	switch err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); {
	case err != nil:
		r.skip("files", "the limit of open files is not known: %v", err)
	case files.Max < noFiles:
		r.fail("files", advice, "at most %d files may be open", files.Max)
	case files.Max < fewFiles:
		r.warn("files", advice, "at most %d files may be open: that bounds the sockets", files.Max)
	default:
		r.ok("files", "enough files may be open")
	}
	if _, err := time.LoadLocation(anyZone); err != nil {
		r.fail("time zones", "Install tzdata, or build with -tags timetzdata.", "there is no database of time zones: %v", err)
		return
	}
	r.ok("time zones", "known")
}

func checkOutbound(ctx context.Context, d Deps, r *report) {
	pool, err := x509.SystemCertPool()
	switch {
	case err != nil:
		r.fail("authorities", "Install ca-certificates.", "%v", err)
	case runtime.GOOS == "linux" && pool.Equal(x509.NewCertPool()):
		r.fail("authorities", "Install ca-certificates: no model, tool or webhook can be called by https without.",
			"this machine trusts no certificate authority")
	default:
		r.ok("authorities", "the system's certificate authorities are there")
	}
	hosts := outsideHosts(d)
	if len(hosts) == 0 {
		r.skip("names", "nothing outside is configured, so no name was looked up; webhooks and tools need a name service")
		return
	}
	for _, host := range hosts {
		lookUp(ctx, host, r)
	}
}

// outsideHosts returns the hosts in the settings, each once.
func outsideHosts(d Deps) []string {
	var hosts []string
	seen := map[string]bool{}
	for _, base := range []string{
		d.Config.Model.BaseURL, d.Config.AnthropicBaseURL, d.Config.Azure.BaseURL,
		d.Config.Embedding.BaseURL, d.Config.OTLPEndpoint,
	} {
		u, err := url.Parse(base)
		if base == "" || err != nil || seen[u.Hostname()] || net.ParseIP(u.Hostname()) != nil {
			continue
		}
		seen[u.Hostname()] = true
		hosts = append(hosts, u.Hostname())
	}
	return hosts
}

func lookUp(ctx context.Context, host string, r *report) {
	ctx, cancel := context.WithTimeout(ctx, lookupWithin)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		r.fail("names", "Correct the host, or the name service of this machine (/etc/resolv.conf).", "%v", err)
		return
	}
	r.ok("names", "%s is %s", host, addresses[0])
}
