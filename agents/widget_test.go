package agents_test

import (
	"slices"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
)

func TestAllowedOrigins(t *testing.T) {
	t.Parallel()
	rows := []struct {
		allowed, origin string
		want            bool
	}{
		{"https://www.example.org", "https://www.example.org", true},
		{"HTTPS://WWW.Example.org:443", "https://www.example.org", true},
		{"https://www.example.org", "https://WWW.example.org:443", true},
		{"https://www.example.org", "http://www.example.org", false},
		{"https://www.example.org", "https://www.example.org:8443", false},
		{"https://www.example.org", "https://www.example.org.evil.example", false},
		{"https://www.example.org", "null", false},
		{"http://localhost:3000", "http://localhost:3000", true},
		{"http://localhost:3000", "http://localhost", false},
		{"http://[::1]:3000", "http://[::1]:3000", true},
		{"https://*.example.org", "https://a.example.org", true},
		{"https://*.example.org", "https://a.b.example.org", true},
		{"https://*.example.org", "https://example.org", false},
		{"https://*.example.org", "https://.example.org", false},
		{"https://*.example.org", "https://evilexample.org", false},
		{"https://*.example.org", "http://a.example.org", false},
		{"https://*.example.org", "https://a.example.org:8443", false},
		{"https://*.example.org:8443", "https://a.example.org:8443", true},
		{"https://*.example.org", "https://evil.test/.example.org", false},
		{"chrome-extension://abcdef", "chrome-extension://abcdef", true},
		{"https://[0:0:0:0:0:0:0:1]", "https://[::1]", true},
		{"https://example.org:0443", "https://example.org", true},
		{"https://Bücher.example", "https://xn--bcher-kva.example", true},
		{"https://*.bücher.example", "https://a.xn--bcher-kva.example", true},
		{"https://my_pages.example", "https://my_pages.example", true},
		{"http://*.intranet", "http://wiki.intranet", true},
	}
	f := open(t)
	for _, row := range rows {
		made := f.create(t, agents.Config{Widget: agents.Widget{AllowedOrigins: []string{"https://else.example", row.allowed}}})
		if got := made.Config.Widget.Allows(row.origin); got != row.want {
			t.Errorf("%s allows %s: %t", row.allowed, row.origin, got)
		}
	}
	if !(agents.Widget{}).Allows("https://anywhere.example") {
		t.Error("no list refuses a page")
	}
}

func TestNoOrigins(t *testing.T) {
	t.Parallel()
	f := open(t)
	for _, origin := range []string{
		"*", "example.org", "https://", "https://example.org/", "https://example.org/chat", "https://example.org?x", "https://example.org#x",
		"https://user@example.org", "https://*", "https://*.", "https://a.*.example.org", "https://a*.example.org", "https://*.*.example.org",
		"https://example..org", "https://exa mple.org", "https://example.org:", "https://example.org:x", "null",
		"//example.org", "https:example.org", "ws://example.org", "ftp://example.org", "https://example.org:0", "https://example.org:65536",
		"http://127.1", "http://2130706433", "http://0x7f000001", "https://*.127.0.0.1", "https://*.[::1]", "https://[fe80::1%25eth0]",
		"https://*.com", "https://*.co.uk", "https://*.github.io",
	} {
		widget := agents.Widget{AllowedOrigins: []string{"https://ok.example", origin}}
		_, err := f.agents.Create(t.Context(), f.ours, "x", agents.Config{Widget: widget})
		if fields := fault.From(err).Fields; len(fields) != 1 || fields[0].Field != "widget.allowed_origins[1]" {
			t.Errorf("%q: %v %v", origin, err, fields)
		}
	}
}

func TestOriginsAreStoredOnce(t *testing.T) {
	t.Parallel()
	f := open(t)
	made := f.create(t, agents.Config{Widget: agents.Widget{AllowedOrigins: []string{"https://a.org", "https://A.org:443", "https://b.org"}}})
	if got := made.Config.Widget.AllowedOrigins; !slices.Equal(got, []string{"https://a.org", "https://b.org"}) {
		t.Errorf("stored %q", got)
	}
}
