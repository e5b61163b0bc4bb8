package agents_test

import (
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
		"https://example..org", "https://exa mple.org", "https://bücher.example", "https://example.org:", "https://example.org:x", "null",
		"//example.org", "https:example.org",
	} {
		widget := agents.Widget{AllowedOrigins: []string{"https://ok.example", origin}}
		_, err := f.agents.Create(t.Context(), f.ours, "x", agents.Config{Widget: widget})
		if fields := fault.From(err).Fields; len(fields) != 1 || fields[0].Field != "widget.allowed_origins[1]" {
			t.Errorf("%q: %v %v", origin, err, fields)
		}
	}
}
