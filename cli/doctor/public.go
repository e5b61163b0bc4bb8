package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/server/probe"
)

const (
	// callWithin limits one request.
	callWithin = 20 * time.Second
	// maxAnswerBytes limits the size of an answer.
	maxAnswerBytes = 64 << 10
)

// visit checks the way from PUBLIC_URL to a server.
type visit struct {
	Deps
	base  string // without a trailing slash
	url   *url.URL
	nonce string
	roots *x509.CertPool
	// client uses HTTP/2 if TLS offers it; multiplexed uses only HTTP/2, also without TLS.
	client, multiplexed *http.Client
}

func checkPublicURL(ctx context.Context, d Deps, r *report) {
	if d.Config.PublicURL == "" {
		r.warn("set", "Set PARLANCE_PUBLIC_URL to the scheme and host callers know you by, such as https://talk.example.com.",
			"PARLANCE_PUBLIC_URL is not set: URLs that are handed out begin with what each caller typed")
		return
	}
	v, err := newVisit(d)
	if err != nil {
		r.fail("set", "Give --ca-file a file of certificates (PEM).", "%v", err)
		return
	}
	defer v.client.CloseIdleConnections()
	defer v.multiplexed.CloseIdleConnections()
	v.checkName(ctx, r)
	if !v.reach(ctx, r) {
		return
	}
	if !v.leaveNonce(ctx, r) {
		return
	}
	seen, ok := v.probe(ctx, r)
	if !ok {
		return
	}
	v.checkForwarding(seen, r)
	v.trySocket(ctx, r)
	v.tryStream(ctx, r)
	v.tryUpload(ctx, r)
	v.tryGRPC(ctx, r)
	v.tryMetrics(ctx, r)
}

func newVisit(d Deps) (*visit, error) {
	base := strings.TrimSuffix(d.Config.PublicURL, "/")
	u, err := url.Parse(base)
	if err != nil {
		return nil, errors.New("PARLANCE_PUBLIC_URL is not a URL")
	}
	v := &visit{Deps: d, base: base, url: u, nonce: d.Nonce()}
	if d.CAFile != "" {
		if v.roots, err = publicnet.RootsWith(d.CAFile); err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
	}
	var both, onlyHTTP2 http.Protocols
	both.SetHTTP1(true)
	both.SetHTTP2(true)
	onlyHTTP2.SetHTTP2(true)
	onlyHTTP2.SetUnencryptedHTTP2(true)
	v.client, v.multiplexed = v.newClient(&both), v.newClient(&onlyHTTP2)
	return v, nil
}

// newClient makes a client that does not follow redirects: a redirect is a finding.
func (v *visit) newClient(protocols *http.Protocols) *http.Client {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: v.roots, MinVersion: tls.VersionTLS12}, Protocols: protocols,
		DialContext: (&net.Dialer{Timeout: connectWithin}).DialContext,
	}
	return &http.Client{Transport: transport, Timeout: callWithin, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// checkName checks what needs no request.
func (v *visit) checkName(ctx context.Context, r *report) {
	host := v.url.Hostname()
	address, err := netip.ParseAddr(host)
	local := host == "localhost" || err == nil && address.IsLoopback()
	switch {
	case local:
		r.warn("set", "Set PARLANCE_PUBLIC_URL to a name that callers can reach.", "%s reaches this machine only", v.base)
	case v.url.Scheme == "http":
		r.warn("set", "Serve TLS (see deploy/) and begin PARLANCE_PUBLIC_URL with https://.", "keys and tokens travel in the clear")
	default:
		r.ok("set", "%s", v.base)
	}
	if local || err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookupWithin)
	defer cancel()
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		r.fail("name", "Make a DNS record for the host, or correct PARLANCE_PUBLIC_URL.", "%v", err)
		return
	}
	r.ok("name", "%s is %s", host, strings.Join(found, ", "))
}

// reach requests /healthz, and checks how long the certificate is valid.
func (v *visit) reach(ctx context.Context, r *report) bool {
	answer, body, err := v.do(ctx, http.MethodGet, "/healthz", nil)
	if err != nil {
		advice, detail := v.explain(err)
		r.fail("reach", advice, "%s", detail)
		return false
	}
	if answer.TLS != nil {
		sayCertificate("certificate", answer.TLS.PeerCertificates[0], v.Now(), r)
	}
	switch {
	case answer.StatusCode == http.StatusOK && strings.Contains(string(body), `"ok"`):
		r.ok("reach", "/healthz answers by %s", answer.Proto)
		return true
	case answer.StatusCode/100 == 3:
		r.fail("reach", "Set PARLANCE_PUBLIC_URL to the place it redirects to.", "it redirects to %s", answer.Header.Get("Location"))
	case answer.StatusCode == http.StatusBadGateway || answer.StatusCode == http.StatusServiceUnavailable ||
		answer.StatusCode == http.StatusGatewayTimeout:
		r.fail("reach", "Start `parlance server`, and see that the proxy's upstream is where it listens (PARLANCE_LISTEN).",
			"the proxy answers %s: it reaches no server", answer.Status)
	default:
		r.fail("reach", "Let the proxy hand every path to `parlance server`.", "/healthz answers %s, and not as Parlance does", answer.Status)
	}
	return false
}

// explain advises about a request without an answer.
func (v *visit) explain(err error) (advice, detail string) {
	detail = strings.TrimPrefix(err.Error(), fmt.Sprintf("Get %q: ", v.base+"/healthz"))
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "Make a DNS record for the host, or correct PARLANCE_PUBLIC_URL.", detail
	}
	if bad, ok := errors.AsType[x509.CertificateInvalidError](err); ok && bad.Reason == x509.Expired {
		return "Renew the certificate, and check this machine's clock.", detail
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "Get a certificate for the host in PARLANCE_PUBLIC_URL.", detail
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "Serve the whole chain of a known authority; for one of your own give its certificate by --ca-file.", detail
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "This port speaks no TLS: let the proxy serve TLS there, or correct the scheme of PARLANCE_PUBLIC_URL.", detail
	}
	return "Start `parlance server` and the proxy before it, open the port, and see that this machine can reach its own public name.", detail
}

// leaveNonce proves to the server that doctor belongs to the installation.
func (v *visit) leaveNonce(ctx context.Context, r *report) bool {
	if v.Config.RedisURL == "" {
		r.skip("ours", "REDIS_URL is not set, so it cannot be told whose server answers")
		return false
	}
	client, err := redis.Open(redis.Config{URL: v.Config.RedisURL.Reveal()})
	if err == nil {
		defer func() { _ = client.Close() }() // only used here
		err = redis.PutNonce(ctx, client, v.nonce, nonceLife)
	}
	if err != nil {
		r.skip("ours", "Redis does not answer, so it cannot be told whose server answers")
		return false
	}
	return true
}

// probe asks the server how the request arrived.
func (v *visit) probe(ctx context.Context, r *report) (probe.Seen, bool) {
	answer, body, err := v.do(ctx, http.MethodGet, probe.Path, nil)
	if err != nil {
		advice, detail := v.explain(err)
		r.fail("ours", advice, "%s", detail)
		return probe.Seen{}, false
	}
	var seen probe.Seen
	if answer.StatusCode != http.StatusOK || json.Unmarshal(body, &seen) != nil || seen.Protocol == "" {
		r.fail("ours", "Let PARLANCE_PUBLIC_URL lead to a server with the same REDIS_URL and of this version.",
			"a server answers that is not of this installation (%s)", answer.Status)
		return probe.Seen{}, false
	}
	r.ok("ours", "the server there is of this installation")
	return seen, true
}

// checkForwarding compares the request that was sent with the one that arrived.
func (v *visit) checkForwarding(seen probe.Seen, r *report) {
	if seen.BaseURL != v.base {
		r.fail("base", "Set the same PARLANCE_PUBLIC_URL for servers and doctor, and restart the servers.",
			"the server hands out URLs beginning with %s", seen.BaseURL)
	}
	proxied := seen.ForwardedFor != "" || v.url.Scheme == "https" && !seen.TLS
	switch {
	case !proxied:
		r.ok("forwarded", "the server is reached without a proxy, or by one that says nothing of itself")
	case seen.ForwardedFor == "":
		r.warn("forwarded", "Let the proxy set X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host; deploy/ shows how.",
			"the proxy does not say who called it")
	case !strings.EqualFold(seen.ForwardedProto, v.url.Scheme):
		r.warn("forwarded", "Let the proxy set X-Forwarded-Proto to the scheme it was called by.",
			"the proxy says it was called by %q", seen.ForwardedProto)
	case !seen.Believed:
		r.warn("forwarded", "Add "+seen.Remote+" to PARLANCE_TRUSTED_PROXIES and restart the servers.",
			"the proxy at %s is not believed: every caller seems to be %s", seen.Remote, seen.Remote)
	default:
		r.ok("forwarded", "the proxy at %s is believed: this call came from %s", seen.Remote, seen.Client)
	}
}

// do sends a request with the nonce and reads the answer.
func (v *visit) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, v.base+path, body)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set(probe.Header, v.nonce)
	answer, err := v.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }() // only read
	read, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswerBytes))
	return answer, read, err
}
