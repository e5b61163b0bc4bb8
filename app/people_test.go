package app_test

import (
	"maps"
	"strings"
	"testing"

	"parlance.dev/parlance/app"
)

func TestOIDCSettings(t *testing.T) {
	t.Parallel()
	whole := map[string]string{
		"PARLANCE_OIDC_ISSUER": "https://issuer.example/realms/x/", "PARLANCE_OIDC_CLIENT_ID": "parlance",
		"PARLANCE_OIDC_CLIENT_SECRET_FILE": "/secret",
		"PARLANCE_OIDC_ROLES":              "admins=owner, support=operator",
	}
	files := map[string]string{"/secret": "s3cret\n"}
	c, err := app.Load(source(whole, files, nil))
	if err != nil {
		t.Fatal(err)
	}
	if c.OIDC.Issuer != "https://issuer.example/realms/x/" || c.OIDC.ClientSecret.Reveal() != "s3cret" || c.OIDC.GroupsClaim != "groups" ||
		len(c.OIDC.Scopes) != 3 || c.OIDC.MaxLife.Hours() != 12 || c.OIDC.MaxIdle.Hours() != 2 {
		t.Errorf("got %+v", c.OIDC)
	}
	for what, row := range map[string]struct {
		without string
		with    map[string]string
		says    string
	}{
		"no issuer":    {"PARLANCE_OIDC_ISSUER", nil, "PARLANCE_OIDC_ISSUER"},
		"no client":    {"PARLANCE_OIDC_CLIENT_ID", nil, "PARLANCE_OIDC_CLIENT_ID"},
		"no secret":    {"PARLANCE_OIDC_CLIENT_SECRET_FILE", nil, "PARLANCE_OIDC_CLIENT_SECRET"},
		"no roles":     {"PARLANCE_OIDC_ROLES", nil, "PARLANCE_OIDC_DEFAULT_ROLE"},
		"unknown role": {"", map[string]string{"PARLANCE_OIDC_ROLES": "a=king"}, "king"},
		"no URL":       {"", map[string]string{"PARLANCE_OIDC_ISSUER": "issuer.example"}, "PARLANCE_OIDC_ISSUER"},
		"too short":    {"", map[string]string{"PARLANCE_SIGN_IN_IDLE": "10s"}, "PARLANCE_SIGN_IN_IDLE"},
	} {
		env := maps.Clone(whole)
		delete(env, row.without)
		maps.Copy(env, row.with)
		if _, err := app.Load(source(env, files, nil)); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}
