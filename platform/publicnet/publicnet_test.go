package publicnet_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/test/fake/nameserver"
)

func newGuard(t *testing.T, options publicnet.Options) *publicnet.Guard {
	t.Helper()
	guard, err := publicnet.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

func parse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return u
}

func get(t *testing.T, client *http.Client, url string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err == nil {
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	return response, err
}

// notPublic holds one address or more of each class; all are refused as literals and when dialled.
var notPublic = []string{
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
	"168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1",
	"192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1",
	"240.0.0.1", "255.255.255.255",
	"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::808:808",
	"64:ff9b:1::1", "100::1", "2001::1", "2001:10::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "4000::1",
	"fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
}

var public = []string{
	"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.0",
	"192.167.1.1", "198.17.0.1", "198.20.0.1", "223.255.255.255", "::ffff:8.8.8.8", "2606:4700:4700::1111", "2a00:1450::1",
}

func urlOf(addr string) string {
	if strings.Contains(addr, ":") {
		addr = "[" + addr + "]"
	}
	return "http://" + addr + "/"
}

func TestCheckLiteral(t *testing.T) {
	t.Parallel()
	guard := newGuard(t, publicnet.Options{})
	refused := map[string]error{
		"http://127.1/": publicnet.ErrNotPublic, "http://0177.0.0.1/": publicnet.ErrNotPublic, "http://0x7f.0.0.1/": publicnet.ErrNotPublic,
		"http://0X7F000001/": publicnet.ErrNotPublic, "http://2130706433/": publicnet.ErrNotPublic,
		"http://017700000001/": publicnet.ErrNotPublic,
		"http://10.257/":       publicnet.ErrNotPublic, "http://127.0.0.1./": publicnet.ErrNotPublic, "http://0/": publicnet.ErrNotPublic,
		"http://127。0。0。1/": publicnet.ErrNotPublic, "http://１２７.0.0.1/": publicnet.ErrNotPublic,
		"http://256.1.1.1/": publicnet.ErrNotPublic, "http://1.2.3.4.5/": publicnet.ErrNotPublic,
		"http://99999999999999999999/": publicnet.ErrNotPublic,
		"http://08.8.8.8/":             publicnet.ErrNotPublic, "http://[fe80::1%25eth0]/": publicnet.ErrNotPublic,
		"http://[2606:4700:4700::1111%25eth0]/": publicnet.ErrNotPublic,
		"http://localhost/":                     publicnet.ErrNotPublic, "https://LocalHost.:8443/": publicnet.ErrNotPublic,
		"http://a.localhost/": publicnet.ErrNotPublic,
		"ftp://example.com/":  publicnet.ErrURL, "//example.com/": publicnet.ErrURL, "http:///path": publicnet.ErrURL,
		"http://:80/":               publicnet.ErrURL,
		"https://user@example.com/": publicnet.ErrURL, "https://example.com@127.0.0.1/": publicnet.ErrURL,
		"unix:/run/redis.sock":       publicnet.ErrURL,
		"https://example.com:65536/": publicnet.ErrURL, "https://example.com:0/": publicnet.ErrURL,
	}
	for _, addr := range notPublic {
		refused[urlOf(addr)] = publicnet.ErrNotPublic
	}
	for raw, want := range refused {
		if err := guard.CheckLiteral(parse(t, raw)); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", raw, err, want)
		}
	}
	passed := []string{
		"https://example.com/hook", "http://example.com:8080", "https://localhost.example.com/",
		"https://1.2.3.4.example/", "http://134744072/", "https://bücher.example/",
	}
	for _, addr := range public {
		passed = append(passed, urlOf(addr))
	}
	for _, raw := range passed {
		if err := guard.CheckLiteral(parse(t, raw)); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestDial asks the dialer itself about each class of address: a refusal comes before any packet.
func TestDial(t *testing.T) {
	t.Parallel()
	dialer := newGuard(t, publicnet.Options{}).Dialer()
	for _, addr := range notPublic {
		conn, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(addr, "9"))
		if err == nil {
			conn.Close()
		}
		// A machine without IPv6 cannot even make the socket; what matters is that nothing
		// connects.
		if err == nil || (!errors.Is(err, publicnet.ErrNotPublic) && !strings.Contains(addr, ":")) {
			t.Errorf("%s: got %v, want %v", addr, err, publicnet.ErrNotPublic)
		}
	}
	if conn, err := dialer.DialContext(t.Context(), "udp", "8.8.8.8:53"); !errors.Is(err, publicnet.ErrNotPublic) {
		if err == nil {
			conn.Close()
		}
		t.Errorf("UDP: %v", err)
	}
	for _, addr := range public {
		if err := dialer.ControlContext(t.Context(), "tcp6", net.JoinHostPort(addr, "443"), nil); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

func TestCheckResolves(t *testing.T) {
	t.Parallel()
	addrs := func(texts ...string) [][]netip.Addr {
		var out []netip.Addr
		for _, text := range texts {
			out = append(out, netip.MustParseAddr(text))
		}
		return [][]netip.Addr{out}
	}
	server := nameserver.New(t, map[string][][]netip.Addr{
		"public.test.": addrs("8.8.8.8", "2606:4700::1"), "private.test.": addrs("10.0.0.1"),
		"mixed.test.": addrs("8.8.8.8", "10.0.0.1"), "mixed6.test.": addrs("8.8.8.8", "fd00::1"), "empty.test.": {{}},
	})
	guard := newGuard(t, publicnet.Options{Resolver: server.Resolver()})
	for host, want := range map[string]error{
		"public.test": nil, "PUBLIC.test.": nil, "8.8.8.8": nil, "[2606:4700::1]": nil,
		"private.test": publicnet.ErrNotPublic, "mixed.test": publicnet.ErrNotPublic, "mixed6.test": publicnet.ErrNotPublic,
		"127.1": publicnet.ErrNotPublic, "[::1]": publicnet.ErrNotPublic, "localhost": publicnet.ErrNotPublic,
		"empty.test": publicnet.ErrUnresolvable, "missing.test": publicnet.ErrUnresolvable,
	} {
		if err := guard.CheckResolves(t.Context(), host); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", host, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := guard.CheckResolves(ctx, "public.test"); !errors.Is(err, context.Canceled) {
		t.Errorf("after a hang-up: %v", err)
	}
}

// TestRebinding has a name resolve to a public address when it is checked and to loopback when it
// is called.
func TestRebinding(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer target.Close()
	names := nameserver.New(t, map[string][][]netip.Addr{
		"rebind.test.": {{netip.MustParseAddr("93.184.216.34")}, {netip.MustParseAddr("127.0.0.1")}},
	})
	guard := newGuard(t, publicnet.Options{Resolver: names.Resolver()})
	if err := guard.CheckResolves(t.Context(), "rebind.test"); err != nil {
		t.Fatalf("the first answer is public: %v", err)
	}
	_, err := get(t, guard.Client(publicnet.ClientOptions{Timeout: 5 * time.Second}), "http://rebind.test:"+parse(t, target.URL).Port()+"/")
	if !errors.Is(err, publicnet.ErrNotPublic) || hits.Load() != 0 {
		t.Errorf("got %v and %d requests, want %v and none", err, hits.Load(), publicnet.ErrNotPublic)
	}
	// The same call passes once loopback is opened: the guard alone was in the way.
	open := newGuard(t, publicnet.Options{Resolver: names.Resolver(), AllowCIDRs: []string{"127.0.0.0/8"}})
	if _, err := get(t, open.Client(publicnet.ClientOptions{}), "http://rebind.test:"+parse(t, target.URL).Port()+"/"); err != nil ||
		hits.Load() != 1 {
		t.Errorf("with loopback opened: %v, %d requests", err, hits.Load())
	}
}

func TestAllowedRangeIsAllThatOpens(t *testing.T) {
	t.Parallel()
	guard := newGuard(t, publicnet.Options{AllowCIDRs: []string{" 127.0.0.0/8", "fd12::/16"}})
	for raw, want := range map[string]error{
		"http://127.0.0.1:3000/": nil, "http://[::ffff:127.0.0.1]/": nil, "http://localhost:3000/": nil, "http://[fd12::1]/": nil,
		"http://10.0.0.1/": publicnet.ErrNotPublic, "http://[::1]/": publicnet.ErrNotPublic, "http://[fd13::1]/": publicnet.ErrNotPublic,
	} {
		if err := guard.CheckLiteral(parse(t, raw)); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", raw, err, want)
		}
	}
	if _, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"10.0.0.1"}}); err == nil {
		t.Error("an address without a length is accepted as a range")
	}
}

// TestDeniedRange: a denied range is refused although it is public or allowed, in every spelling of
// its addresses and of the range, before and at the dial.
func TestDeniedRange(t *testing.T) {
	t.Parallel()
	guard := newGuard(t, publicnet.Options{
		AllowCIDRs: []string{"127.0.0.0/8", "::1/128"}, DenyCIDRs: []string{"127.0.0.1/32", " ::ffff:8.8.8.0/120", "2606:4700::/32"},
	})
	client, shut := guard.Client(publicnet.ClientOptions{}), publicnet.ErrNotPublic
	for raw, want := range map[string]error{
		"http://127.0.0.2/": nil, "http://[::1]/": nil, "http://8.8.4.4/": nil, "http://[2a00:1450::1]/": nil,
		"http://127.0.0.1/": shut, "http://[::ffff:127.0.0.1]/": shut, "http://0x7f.1/": shut,
		"http://8.8.8.8/": shut, "http://[::ffff:8.8.8.8]/": shut, "http://134744072/": shut, "http://[2606:4700:4700::1111]/": shut,
	} {
		if err := guard.CheckLiteral(parse(t, raw)); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", raw, err, want)
		}
	}
	target := newService(t, "127.0.0.1:0", nil)
	for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]"} {
		if _, err := get(t, client, "http://"+host+":"+target.port()+"/"); !errors.Is(err, shut) {
			t.Errorf("dialling %s: got %v, want %v", host, err, shut)
		}
	}
	if n := target.conn.Load(); n != 0 {
		t.Errorf("%d connections to the denied address", n)
	}
	if _, err := publicnet.New(publicnet.Options{DenyCIDRs: []string{"10.0.0.1"}}); err == nil || !strings.Contains(err.Error(), "10.0.0.1") {
		t.Errorf("an address without a length as a denied range: %v", err)
	}
}

func TestClient(t *testing.T) {
	t.Parallel()
	var followed atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/followed", http.StatusFound)
		case "/followed":
			followed.Add(1)
		case "/slow":
			<-r.Context().Done()
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(caFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
	loopback := []string{"127.0.0.0/8"}
	client := newGuard(t, publicnet.Options{AllowCIDRs: loopback, CAFile: caFile}).Client(publicnet.ClientOptions{})

	response, err := get(t, client, server.URL+"/")
	if err != nil || response.ProtoMajor != 2 {
		t.Errorf("with the CA: %v, %+v", err, response)
	}
	stranger := newGuard(t, publicnet.Options{AllowCIDRs: loopback}).Client(publicnet.ClientOptions{})
	if _, err := get(t, stranger, server.URL+"/"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the CA: %v", err)
	}
	if response, err := get(t, client, server.URL+"/away"); err != nil || response.StatusCode != http.StatusFound || followed.Load() != 0 {
		t.Errorf("a redirect: %v, followed %d times", err, followed.Load())
	}
	withUser := strings.Replace(server.URL, "https://", "https://user:hunter2@", 1)
	if _, err := get(t, client, withUser); !errors.Is(err, publicnet.ErrURL) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a user name: %v", err)
	}
	hasty := newGuard(t, publicnet.Options{AllowCIDRs: loopback, CAFile: caFile}).
		Client(publicnet.ClientOptions{Timeout: 50 * time.Millisecond})
	if _, err := get(t, hasty, server.URL+"/slow"); err == nil {
		t.Error("the time-out did not come")
	}
	for _, file := range []string{caFile + "x", os.DevNull} {
		if _, err := publicnet.New(publicnet.Options{CAFile: file}); err == nil {
			t.Errorf("the CA file %s is accepted", file)
		}
	}
}

// TestSwitchedProtocol: an answer of 101 is an answer without a body, and its connection is closed.
func TestSwitchedProtocol(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer close(closed)
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		_, _ = conn.Read(make([]byte, 1)) // until the client closes
	}))
	defer server.Close()
	client := newGuard(t, publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8"}}).Client(publicnet.ClientOptions{})
	response, err := get(t, client, server.URL)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, %+v", err, response)
	}
	<-closed
}

// TestNoProxy would send the request to the proxy named in the environment if the client honoured
// it.
func TestNoProxy(t *testing.T) {
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer target.Close()
	names := nameserver.New(t, map[string][][]netip.Addr{"inside.test.": {{netip.MustParseAddr("127.0.0.1")}}})
	guard := newGuard(t, publicnet.Options{Resolver: names.Resolver(), AllowCIDRs: []string{"127.0.0.0/8"}})
	response, err := get(t, guard.Client(publicnet.ClientOptions{}), "http://inside.test:"+parse(t, target.URL).Port()+"/")
	if err != nil || response.StatusCode != http.StatusNoContent || asked.Load() != 0 {
		t.Errorf("got %v, the proxy was asked %d times", err, asked.Load())
	}
}

// TestOperatorDial: for sockets, the named host and port and no other, although both are loopback.
func TestOperatorDial(t *testing.T) {
	t.Parallel()
	named, other := httptest.NewServer(nil), httptest.NewServer(nil)
	defer named.Close()
	defer other.Close()
	guard := newGuard(t, publicnet.Options{})
	dial, err := guard.OperatorDial([]string{named.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := dial(t.Context(), "tcp", parse(t, named.URL).Host)
	if err != nil {
		t.Fatalf("the named host: %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if _, err := dial(t.Context(), "tcp", parse(t, other.URL).Host); !errors.Is(err, publicnet.ErrNotPublic) {
		t.Errorf("another port of the host: %v", err)
	}
	if _, err := guard.OperatorDial([]string{"localhost:1"}); !errors.Is(err, publicnet.ErrURL) {
		t.Errorf("a base that is no URL: %v", err)
	}
}

func TestOperatorClient(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("here")) })
	named, other := httptest.NewServer(handler), httptest.NewServer(handler)
	defer named.Close()
	defer other.Close()
	guard := newGuard(t, publicnet.Options{})
	client, err := guard.OperatorClient([]string{named.URL + "/v1"}, publicnet.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, client, named.URL+"/v1/models"); err != nil {
		t.Errorf("the named host: %v", err)
	}
	if _, err := get(t, client, other.URL+"/v1/models"); !errors.Is(err, publicnet.ErrNotPublic) {
		t.Errorf("another port of the host: %v", err)
	}
	byName := "http://LOCALHOST:" + parse(t, named.URL).Port()
	if _, err := get(t, client, byName); !errors.Is(err, publicnet.ErrNotPublic) {
		t.Errorf("another name of the host: %v", err)
	}
	client, err = guard.OperatorClient([]string{strings.ToLower(byName)}, publicnet.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, client, byName); err != nil {
		t.Errorf("the named host in capitals: %v", err)
	}
	for _, base := range []string{"", "localhost:11434", "http://u:p@host", "http://%zz"} {
		if _, err := guard.OperatorClient([]string{base}, publicnet.ClientOptions{}); !errors.Is(err, publicnet.ErrURL) {
			t.Errorf("the base %q: %v", base, err)
		}
	}
}

// FuzzCheckLiteral looks for a spelling that passes and then resolves, asking nobody, to an address
// that is refused.
func FuzzCheckLiteral(f *testing.F) {
	for _, seed := range []string{"http://127.1/", "http://0x7f.1/", "http://[::1]/", "http://1.2.3.4/"} {
		f.Add(seed)
	}
	guard, err := publicnet.New(publicnet.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.Parse(raw)
		if err != nil || guard.CheckLiteral(u) != nil {
			return
		}
		addr, err := netip.ParseAddr(strings.TrimSuffix(u.Hostname(), "."))
		if err == nil && (addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsMulticast() || addr.IsUnspecified()) {
			t.Errorf("%q passes", raw)
		}
	})
}
