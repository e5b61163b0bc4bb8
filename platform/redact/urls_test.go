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
