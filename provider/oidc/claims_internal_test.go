package oidc

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIdentityOf(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		claims, groupsClaim string
		want                Identity
	}{
		"all": {
			`{"name":" Ada\nLovelace ","email":"ada@example.com","groups":["b","a","b","",7,{},"c "," c","c\n"]}`, "groups",
			Identity{Subject: "s", Name: "AdaLovelace", Email: "ada@example.com", Groups: []string{"b", "a"}},
		},
		"nothing": {`{}`, "groups", Identity{Subject: "s"}},
		"one group": {
			`{"preferred_username":"ada","groups":"admins"}`, "groups", Identity{Subject: "s", Name: "ada", Groups: []string{"admins"}},
		},
		"nested":        {`{"realm_access":{"roles":["x"]}}`, "realm_access.roles", Identity{Subject: "s", Groups: []string{"x"}}},
		"name with dot": {`{"https://a.example/groups":["x"]}`, "https://a.example/groups", Identity{Subject: "s", Groups: []string{"x"}}},
		"other forms":   {`{"name":7,"email":["x"],"groups":{"a":"b"}}`, "groups.none", Identity{Subject: "s"}},
		"too long":      {`{"name":"` + strings.Repeat("ä", 300) + `"}`, "groups", Identity{Subject: "s", Name: strings.Repeat("ä", 200)}},
	} {
		claims := map[string]any{}
		if err := json.Unmarshal([]byte(row.claims), &claims); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(row.want, identityOf("s", claims, row.groupsClaim)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]bool{
		"auth0|1": true, "": false, "a\x00": false, "a\n": false, "\xff": false, strings.Repeat("x", 255): true, strings.Repeat("x", 256): false,
	} {
		if got := isSubject(subject); got != want {
			t.Errorf("isSubject(%q) = %t", subject, got)
		}
	}
}

// TestCheckAudience has tokens for one program and for several.
func TestCheckAudience(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		claims string
		ok     bool
	}{
		"one":                       {`{"aud":["me"]}`, true},
		"one, made for it":          {`{"aud":["me"],"azp":"me"}`, true},
		"one, made for another":     {`{"aud":["me"],"azp":"other"}`, false},
		"several":                   {`{"aud":["me","other"]}`, false},
		"several, made for it":      {`{"aud":["me","other"],"azp":"me"}`, true},
		"several, made for another": {`{"aud":["me","other"],"azp":"other"}`, false},
		"several, made for a list":  {`{"aud":["me","other"],"azp":["me"]}`, false},
		"several, made for nobody":  {`{"aud":["me","other"],"azp":null}`, false},
	} {
		var claims map[string]any
		if err := json.Unmarshal([]byte(row.claims), &claims); err != nil {
			t.Fatal(err)
		}
		if err := checkAudience(listOf(claims["aud"]), claims, "me"); errors.Is(err, ErrRefused) == row.ok {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
