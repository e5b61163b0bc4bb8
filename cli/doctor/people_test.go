package doctor_test

import (
	"testing"

	"parlance.dev/parlance/cli/doctor"
	"parlance.dev/parlance/test/fake/oidcissuer"
)

func TestPeople(t *testing.T) {
	t.Parallel()
	wants(t, installation{}.examine(t, "people", nil), "issuer", doctor.Skipped, "API key")
	issuer := oidcissuer.Start(t)
	in := installation(issuer.Settings("admins=owner"))
	found := in.examine(t, "people", nil)
	wants(t, found, "issuer", doctor.OK, issuer.Issuer())
	wants(t, found, "redirect", doctor.Warning, "each request's host")
	in["PARLANCE_PUBLIC_URL"] = "https://console.example"
	wants(t, in.examine(t, "people", nil), "redirect", doctor.OK, "https://console.example/console/auth/callback")
	in["PARLANCE_PUBLIC_URL"] = "http://console.example"
	wants(t, in.examine(t, "people", nil), "redirect", doctor.Warning, "not https")
	issuer.SetDown(true)
	wants(t, in.examine(t, "people", nil), "issuer", doctor.Failed, issuer.Issuer())
}
