package interceptor_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"parlance.dev/parlance/server/interceptor"
)

// whoAndWhere answers with what the middleware found out.
var whoAndWhere = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	client := "unknown"
	if address := interceptor.ClientAddress(r.Context()); address.IsValid() {
		client = address.String()
	}
	_, _ = io.WriteString(w, client+" "+interceptor.BaseURL(r.Context())+" "+r.URL.EscapedPath())
})

// TestProxies: what a caller writes itself counts for nothing, whoever passes it on.
func TestProxies(t *testing.T) {
	t.Parallel()
	const caller, near, far = "203.0.113.9:4711", "10.0.0.1:80", "10.0.0.2"
	for name, row := range map[string]struct {
		peer    string
		headers []string
		want    string
	}{
		"nobody says anything": {peer: caller, want: "203.0.113.9 http://host.example"},
		"spoofed by a stranger": {
			peer: caller,
			headers: []string{
				"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example",
				"X-Forwarded-Port: 1", "Forwarded: for=192.0.2.1;host=evil.example;proto=https",
			},
			want: "203.0.113.9 http://host.example",
		},
		"one proxy": {
			peer: near, headers: []string{"X-Forwarded-For: 203.0.113.9", "X-Forwarded-Proto: https", "X-Forwarded-Host: talk.example"},
			want: "203.0.113.9 https://talk.example",
		},
		"one proxy adds to what the caller wrote": {
			peer: near, headers: []string{
				"X-Forwarded-For: 192.0.2.1, 10.0.0.9, 203.0.113.9",
				"X-Forwarded-Proto: https, http", "X-Forwarded-Host: evil.example, talk.example",
			},
			want: "203.0.113.9 http://talk.example",
		},
		"the same in several headers": {
			peer: near, headers: []string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 203.0.113.9"},
			want: "203.0.113.9 http://host.example",
		},
		"two proxies, both trusted": {
			peer: near, headers: []string{
				"X-Forwarded-For: 192.0.2.1, 203.0.113.9, " + far,
				"X-Forwarded-Proto: http, https, http", "X-Forwarded-Host: evil.example, talk.example, inner",
			},
			want: "203.0.113.9 https://talk.example",
		},
		"two proxies, the second replaces the scheme": {
			peer: near, headers: []string{"X-Forwarded-For: 203.0.113.9, " + far, "X-Forwarded-Proto: https", "X-Forwarded-Host: talk.example"},
			want: "203.0.113.9 https://talk.example",
		},
		"a proxy in between that is not trusted": {
			peer: near, headers: []string{"X-Forwarded-For: 203.0.113.9, 198.51.100.7, " + far, "X-Forwarded-Proto: https, http, http"},
			want: "198.51.100.7 http://host.example",
		},
		"only proxies": {peer: near, headers: []string{"X-Forwarded-For: " + far}, want: "10.0.0.2 http://host.example"},
		"garbage": {
			peer: near, headers: []string{
				"X-Forwarded-For: 192.0.2.1, not-an-address", "X-Forwarded-Proto: gopher",
				`X-Forwarded-Host: a"b`, "X-Forwarded-Port: many",
			},
			want: "unknown http://host.example",
		},
		"a host with a path, a user, a bad port": {
			peer: near, headers: []string{"X-Forwarded-Host: evil.example/path", "X-Forwarded-Proto: https"}, want: "10.0.0.1 https://host.example",
		},
		"IPv6 with ports": {
			peer: "[2001:db8::1]:443", headers: []string{
				"X-Forwarded-For: 192.0.2.1, [2001:db8:ffff::5]:4711",
				"X-Forwarded-Host: [2001:db8:ffff::80]:8443", "X-Forwarded-Proto: https",
			},
			want: "2001:db8:ffff::5 https://[2001:db8:ffff::80]:8443",
		},
		"IPv6 without brackets or port": {
			peer:    "[2001:db8::1]:443",
			headers: []string{"X-Forwarded-For: 2001:db8:ffff::5"}, want: "2001:db8:ffff::5 http://host.example",
		},
		"IPv4 in IPv6": {
			peer:    "[::ffff:10.0.0.1]:80",
			headers: []string{"X-Forwarded-For: ::ffff:203.0.113.9"}, want: "203.0.113.9 http://host.example",
		},
		"a port of its own": {
			peer: near, headers: []string{
				"X-Forwarded-For: 203.0.113.9:99", "X-Forwarded-Host: talk.example",
				"X-Forwarded-Port: 8443", "X-Forwarded-Proto: https",
			},
			want: "203.0.113.9 https://talk.example:8443",
		},
		"the scheme's own port": {
			peer: near, headers: []string{
				"X-Forwarded-For: 203.0.113.9", "X-Forwarded-Host: talk.example",
				"X-Forwarded-Port: 443", "X-Forwarded-Proto: https",
			},
			want: "203.0.113.9 https://talk.example",
		},
		"RFC 7239": {
			peer: near, headers: []string{
				`Forwarded: for=192.0.2.1;host=evil.example, for="[2001:db8:ffff::5]:4711";proto=https;host="talk.example:8443";by=10.0.0.1`,
			},
			want: "2001:db8:ffff::5 https://talk.example:8443",
		},
		"RFC 7239, two hops": {
			peer: near, headers: []string{
				`Forwarded: For=203.0.113.9;Proto=https;Host=talk.example`,
				`Forwarded: for=10.0.0.2;proto=http;host=inner`,
			},
			want: "203.0.113.9 https://talk.example",
		},
		"RFC 7239, hidden": {
			peer: near, headers: []string{`Forwarded: for=192.0.2.1, for=_hidden;proto=https`},
			want: "unknown https://host.example",
		},
		"RFC 7239 from the caller, X-Forwarded-For from the proxy": {
			peer: near, headers: []string{"Forwarded: for=192.0.2.1;host=evil.example", "X-Forwarded-For: 203.0.113.9"},
			want: "203.0.113.9 http://host.example",
		},
		"RFC 7239, quotes that do not end": {
			peer:    near,
			headers: []string{`Forwarded: for="192.0.2.1, for=203.0.113.9`}, want: "unknown http://host.example",
		},
		"a Unix socket": {peer: "@", headers: []string{
			"X-Forwarded-For: 203.0.113.9",
			"X-Forwarded-Proto: https",
		}, want: "203.0.113.9 https://host.example"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxies, err := interceptor.ParseProxies([]string{"10.0.0.0/8", "2001:db8::1", "unix"})
			if err != nil {
				t.Fatal(err)
			}
			if got := ask(interceptor.CallerConfig{Proxies: proxies}, row.peer, "/p", row.headers); got != row.want+" /p" {
				t.Errorf("got %q, want %q", got, row.want)
			}
			nobody := ask(interceptor.CallerConfig{}, row.peer, "/p", row.headers)
			if want := ask(interceptor.CallerConfig{}, row.peer, "/p", nil); nobody != want {
				t.Errorf("without trusted proxies: got %q, want %q", nobody, want)
			}
			public := interceptor.CallerConfig{Proxies: proxies, PublicURL: "https://api.example"}
			if got := ask(public, row.peer, "/p", row.headers); got[len(got)-len(" https://api.example /p"):] != " https://api.example /p" {
				t.Errorf("with a public URL: %q", got)
			}
		})
	}
}

// ask sends a request from peer through the middleware.
func ask(config interceptor.CallerConfig, peer, path string, headers []string) string {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	r.Host, r.RemoteAddr = "host.example", peer
	addHeaders(r, headers)
	answer := httptest.NewRecorder()
	interceptor.WithCaller(whoAndWhere, config).ServeHTTP(answer, r)
	return answer.Body.String()
}

func addHeaders(r *http.Request, headers []string) {
	for _, line := range headers {
		for i := range line {
			if line[i] == ':' {
				r.Header.Add(line[:i], line[i+2:])
				break
			}
		}
	}
}

// TestPrefix: a proxy may take the path prefix of the public URL off, or leave it on.
func TestPrefix(t *testing.T) {
	t.Parallel()
	config := interceptor.CallerConfig{PublicURL: "https://x.example/parlance/"}
	for path, want := range map[string]string{
		"/v1/sessions": "/v1/sessions", "/parlance/v1/sessions": "/v1/sessions", "/parlance": "/", "/parlance/": "/",
		"/parlances/v1": "/parlances/v1", "/parlance/parlance.v1.ToolService/ListTools": "/parlance.v1.ToolService/ListTools",
		"/parlance.v1.ToolService/ListTools": "/parlance.v1.ToolService/ListTools", "/parlance/v1/a%2Fb": "/v1/a%2Fb",
	} {
		if got := ask(config, "203.0.113.9:1", path, nil); got != "203.0.113.9 https://x.example/parlance "+want {
			t.Errorf("%s: got %q, want the path %s", path, got, want)
		}
	}
}

// TestUnixSocketPeer sends a request over a real Unix socket.
func TestUnixSocketPeer(t *testing.T) {
	t.Parallel()
	proxies, err := interceptor.ParseProxies([]string{"unix"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(interceptor.WithCaller(whoAndWhere, interceptor.CallerConfig{Proxies: proxies}))
	_ = server.Listener.Close() // ours takes its place
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	t.Cleanup(client.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://local/p", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	addHeaders(req, []string{"X-Forwarded-For: 192.0.2.1, 203.0.113.9", "X-Forwarded-Host: talk.example", "X-Forwarded-Proto: https"})
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != "203.0.113.9 https://talk.example /p" {
		t.Errorf("got %q, %v", got, err)
	}
}
