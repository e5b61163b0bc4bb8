package publicnet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/test/fake/nameserver"
)

// inside is an address that stays shut. It is loopback, so that a connection that should not be
// made would be.
const inside = "127.0.0.1"

// opened is the address that these tests open, in place of a public one: a second loopback address,
// which is ::1 where 127.0.0.2 is none.
func opened(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		return "::1"
	}
	_ = listener.Close() // it was there
	return "127.0.0.2"
}

// service answers on an address and counts who comes.
type service struct {
	*httptest.Server

	hits atomic.Int32
	conn atomic.Int32
}

func newService(t *testing.T, address string, answer http.HandlerFunc) *service {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		if answer != nil {
			answer(w, r)
		}
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conn.Add(1)
		}
	}
	_ = s.Listener.Close() // the one httptest made
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *service) port() string {
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String()) // we listen on TCP
	return port
}

// pair is a service on the opened address and one on the shut address, on one port.
func pair(t *testing.T, answer http.HandlerFunc) (outside, within *service) {
	t.Helper()
	for range 20 {
		outside = newService(t, net.JoinHostPort(opened(t), "0"), answer)
		if probe, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(inside, outside.port())); err == nil {
			_ = probe.Close() // the port is free on the other address too
			return outside, newService(t, net.JoinHostPort(inside, outside.port()), nil)
		}
	}
	t.Fatal("no port is free on both addresses")
	return nil, nil
}

// half opens the one address only.
func half(t *testing.T, names *nameserver.Server) *publicnet.Guard {
	t.Helper()
	only := netip.MustParseAddr(opened(t))
	options := publicnet.Options{AllowCIDRs: []string{netip.PrefixFrom(only, only.BitLen()).String()}}
	if names != nil {
		options.Resolver = names.Resolver()
	}
	return newGuard(t, options)
}

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

// TestSeveralAddresses has names with shut and opened addresses: the check refuses all of them, and
// the dialer, which tries one after the other, never touches a shut one.
func TestSeveralAddresses(t *testing.T) {
	t.Parallel()
	outside, within := pair(t, nil)
	names := nameserver.New(t, map[string][][]netip.Addr{
		"first.test.": {addrs(inside, opened(t))}, "last.test.": {addrs(opened(t), inside)}, "mapped.test.": {addrs("::ffff:"+inside, inside)},
		"shut.test.": {addrs(inside)},
	})
	names.Alias("alias.test.", "first.test.")
	names.Alias("inward.test.", "shut.test.")
	guard := half(t, names)
	client := guard.Client(publicnet.ClientOptions{Timeout: 5 * time.Second})
	for _, host := range []string{"first.test", "last.test", "mapped.test", "alias.test", "inward.test"} {
		if err := guard.CheckResolves(t.Context(), host); !errors.Is(err, publicnet.ErrNotPublic) {
			t.Errorf("%s: got %v, want %v", host, err, publicnet.ErrNotPublic)
		}
		_, err := get(t, client, "http://"+host+":"+outside.port()+"/")
		shut := host == "mapped.test" || host == "inward.test"
		if shut != errors.Is(err, publicnet.ErrNotPublic) || !shut && err != nil {
			t.Errorf("dialling %s: %v", host, err)
		}
	}
	if n := within.conn.Load(); n != 0 {
		t.Errorf("%d connections to the shut address", n)
	}
}

// TestRebindingOfAPool keeps a connection, lets the name move inside, and asks again: the pool may
// go on with what it has, which was checked, and a new connection is refused.
func TestRebindingOfAPool(t *testing.T) {
	t.Parallel()
	outside, within := pair(t, nil)
	names := nameserver.New(t, map[string][][]netip.Addr{"moving.test.": {addrs(opened(t)), addrs(inside)}})
	client := half(t, names).Client(publicnet.ClientOptions{Timeout: 5 * time.Second})
	target := "http://moving.test:" + outside.port() + "/"
	for range 3 {
		if _, err := get(t, client, target); err != nil {
			t.Fatal(err)
		}
	}
	if n := outside.conn.Load(); n != 1 {
		t.Errorf("%d connections, want one that is kept", n)
	}
	outside.CloseClientConnections()
	client.CloseIdleConnections()
	if _, err := get(t, client, target); !errors.Is(err, publicnet.ErrNotPublic) || within.conn.Load() != 0 {
		t.Errorf("after the name moved: %v, %d connections inside", err, within.conn.Load())
	}
}

// TestNothingIsFollowed has an opened host point inside in every way HTTP knows.
func TestNothingIsFollowed(t *testing.T) {
	t.Parallel()
	outside, within := pair(t, func(w http.ResponseWriter, r *http.Request) {
		aim := "http://" + net.JoinHostPort(inside, r.URL.Query().Get("port")) + "/stolen"
		status := 200
		_, _ = fmt.Sscan(strings.TrimPrefix(r.URL.Path, "/"), &status)
		for _, name := range []string{"Location", "Content-Location", "Link"} {
			w.Header().Set(name, aim)
		}
		w.Header().Set("Refresh", "0; url="+aim)
		w.Header().Set("Alt-Svc", `h2="`+net.JoinHostPort(inside, r.URL.Query().Get("port"))+`", http/1.1=":`+r.URL.Query().Get("port")+`"`)
		w.WriteHeader(status)
	})
	client := half(t, nil).Client(publicnet.ClientOptions{Timeout: 5 * time.Second})
	for _, status := range []int{200, 201, 300, 301, 302, 303, 305, 307, 308} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			request, err := http.NewRequestWithContext(t.Context(), method,
				fmt.Sprintf("%s/%d?port=%s", outside.URL, status, outside.port()), strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := client.Do(request)
			if err != nil || answer.StatusCode != status {
				t.Errorf("%s %d: %v", method, status, err)
				continue
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}
	if n := within.conn.Load(); n != 0 {
		t.Errorf("%d connections to where the answers point", n)
	}
}

// TestNoPortScan compares a shut address where something listens with one where nothing does, and
// with one that would not answer at all: the same error, at once, and no connection.
func TestNoPortScan(t *testing.T) {
	t.Parallel()
	_, within := pair(t, nil)
	names := nameserver.New(t, map[string][][]netip.Addr{"listens.test.": {addrs(inside)}, "silent.test.": {addrs("10.255.255.1")}})
	client := half(t, names).Client(publicnet.ClientOptions{Timeout: 30 * time.Second})
	said := map[string]bool{}
	for _, host := range []string{
		inside, "127.0.0.3", "10.255.255.1", "192.168.0.1", "[fd00::1]", "169.254.169.254", "listens.test",
		"silent.test",
	} {
		for _, port := range []string{within.port(), "1"} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // a dial into nowhere takes three
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+":"+port+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Do(request)
			cancel()
			if !errors.Is(err, publicnet.ErrNotPublic) {
				t.Errorf("%s:%s: %v", host, port, err)
			}
			if outer, ok := errors.AsType[*url.Error](err); ok && !strings.Contains(host, "test") {
				text := outer.Err.Error()
				for _, own := range []string{strings.Trim(host, "[]"), port} {
					text = strings.ReplaceAll(text, own, "")
				}
				said[strings.NewReplacer("[", "", "]", "", "tcp4", "tcp", "tcp6", "tcp").Replace(text)] = true
			}
		}
	}
	if len(said) != 1 || within.conn.Load() != 0 {
		t.Errorf("the errors differ: %v; %d connections", said, within.conn.Load())
	}
}

// TestSpellings are hosts that mean loopback, the metadata service or nothing to somebody: none
// gets through.
func TestSpellings(t *testing.T) {
	t.Parallel()
	guard := newGuard(t, publicnet.Options{})
	client := guard.Client(publicnet.ClientOptions{Timeout: 5 * time.Second})
	for _, host := range []string{
		"2130706433", "017700000001", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.1", "0", "0.0", "127.0.0.1.", "2852039166",
		"0xa9fea9fe", "0251.0376.0251.0376",
		"[::ffff:7f00:1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[0:0:0:0:0:0:0:1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]",
		"[64:ff9b:1::7f00:1]",
		"[2002:7f00:1::1]", "[2001:0:7f00:1::1]", "[fe80::5efe:127.0.0.1]", "[fec0::1]", "[2001:10::1]", "[2001:20::1]",
		"[fe80::1%25lo]", "[::1%25lo]", "[100::1]", "[5f00::1]",
		"localhost", "LOCALHOST", "localhost.", "a.localhost", "ip6-localhost", "localhost.localdomain",
		"ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "①②⑦.⓪.⓪.①", "１２７。０。０。１", "127｡0｡0｡1", "ｌｏｃａｌｈｏｓｔ",
	} {
		target := "http://" + host + ":9/"
		u, err := url.Parse(target)
		if err != nil {
			continue // no request can be made of it
		}
		if err := guard.CheckLiteral(u); !errors.Is(err, publicnet.ErrNotPublic) && !errors.Is(err, publicnet.ErrURL) {
			t.Errorf("%s passes the check: %v", host, err)
		}
		if _, err := get(t, client, target); err == nil || strings.Contains(err.Error(), "refused") {
			t.Errorf("%s was dialled: %v", host, err)
		}
	}
}

// TestOnlyTCP asks the dialer for everything else that Go can dial.
func TestOnlyTCP(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	guard := newGuard(t, publicnet.Options{AllowCIDRs: []string{"0.0.0.0/0", "::/0"}})
	for network, address := range map[string]string{
		"unix": socket, "unixgram": socket, "unixpacket": socket, "udp": "8.8.8.8:53",
		"udp4": "127.0.0.1:53", "ip4:icmp": "127.0.0.1",
	} {
		conn, err := guard.Dialer().DialContext(t.Context(), network, address)
		if err == nil {
			conn.Close()
			t.Errorf("%s: connected", network)
		}
	}
	for _, raw := range []string{
		"unix://" + socket, "http+unix://" + socket, "file:///etc/passwd", "gopher://8.8.8.8/",
		"dict://8.8.8.8:11211/",
	} {
		if err := guard.CheckLiteral(parse(t, raw)); !errors.Is(err, publicnet.ErrURL) {
			t.Errorf("%s: %v", raw, err)
		}
		if _, err := get(t, guard.Client(publicnet.ClientOptions{}), raw); err == nil {
			t.Errorf("%s: answered", raw)
		}
	}
}

// TestOperatorsHostIsNobodyElses lets an operator's client into a shut address that a tenant's
// client, of the same guard, does not reach; and the operator's client nowhere else.
func TestOperatorsHostIsNobodyElses(t *testing.T) {
	t.Parallel()
	outside, within := pair(t, nil)
	guard := half(t, nil)
	operator, err := guard.OperatorClient([]string{within.URL}, publicnet.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, operator, within.URL); err != nil {
		t.Errorf("the operator's own host: %v", err)
	}
	if _, err := get(t, operator, outside.URL); !errors.Is(err, publicnet.ErrNotPublic) {
		t.Errorf("another host on the operator's port: %v", err)
	}
	before := within.conn.Load()
	// The operator's connection is in a pool by now: it is no tenant's.
	if _, err := get(t, guard.Client(publicnet.ClientOptions{}), within.URL); !errors.Is(err, publicnet.ErrNotPublic) ||
		within.conn.Load() != before || within.hits.Load() != 1 {
		t.Errorf("a tenant: %v, %d requests", err, within.hits.Load())
	}
}
