package redact

import "testing"

func TestURLs(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"http://models:8080/v1":                          "http://models:8080/v1",
		"postgres://ada:hunter2@db/p?sslmode=off":        "postgres://ada:***@db/p?sslmode=off",
		"postgres://ada:hun/t@er2@db/p":                  "postgres://ada:***@db/p",
		"https://hunter2@host/v1":                        "https://***@host/v1",
		"vault://u:hunter2@h/a,vault://u:hunter2@h":      "vault://u:***@h/a,vault://u:***@h",
		"https://h/v1?api-version=3&api-key=hunter2&x=1": "https://h/v1?api-version=3&api-key=***&x=1",
		"s3://bucket?endpoint=https://k:hunter2@h":       "s3://bucket?endpoint=https://k:***@h",
		"s3://hunter2@b?region=eu, see ops@example.com":  "s3://***@b?region=eu, see ops@example.com",
		"https://h/docs/@types?page=2":                   "https://h/docs/@types?page=2",
	} {
		if got := URLs(given); got != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://h/v1":                                      "https://h/v1",
		"https://h/v1?code=1&empty=&bare#top":               "https://h/v1?code=***&empty=&***#top",
		"https://h/?%74oken=a&next=https://b?c=d, and more": "https://h/?%74oken=***&next=*** and more",
		`see "https://h?a=b" or what? it=is`:                `see "https://h?a=***" or what? it=is`,
	} {
		if got := Queries(given); got != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"":                               "",
		"no address: a//b":               "no address: a//b",
		"https://h.example":              "https://h.example",
		"https://h.example/":             "https://h.example/",
		"HTTPS://h.example:8443?t=s":     "https://h.example:8443/…",
		"https://s3cret@h.example/":      "https://h.example/…",
		"https://u:s3/cret@h.example/":   "REDACTED",
		"get https://h/s3cret/x: 404":    "get https://h/… 404",
		`"https://h/a?b=c" <ftp://h/#x>`: `"https://h/…" <ftp://h/…>`,
	} {
		if got := Origins(given); got != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
	for given, want := range map[string]string{
		"": "REDACTED", "h.example/s3cret": "REDACTED", "https://{host}/x": "REDACTED", "https://h/{x}": "https://h/…",
	} {
		if got := Origin(given); got != want {
			t.Errorf("the address %s became %s, want %s", given, got, want)
		}
	}
}
