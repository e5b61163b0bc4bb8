package doctor

import (
	"context"
	"strings"

	"parlance.dev/parlance/app"
)

// checkPeople reads the discovery document of the issuer by which people sign in.
func checkPeople(ctx context.Context, d Deps, r *report) {
	if d.Config.OIDC.Issuer == "" {
		r.skip("issuer", "not configured: the console asks for an API key")
		return
	}
	const advice = "See that PARLANCE_OIDC_ISSUER is the issuer exactly as its discovery document names it, that this machine reaches " +
		"it, and that PARLANCE_EGRESS_CA_FILE has the authority of its certificate."
	if _, err := app.CheckIssuer(ctx, d.Config); err != nil {
		r.fail("issuer", advice, "%s: %v", d.Config.OIDC.Issuer, err)
	} else {
		r.ok("issuer", "%s answers with its discovery document", d.Config.OIDC.Issuer)
	}
	if d.Config.PublicURL == "" {
		r.warn("redirect", "Set PARLANCE_PUBLIC_URL.", "the redirect URI is made of each request's host, and the issuer allows one only")
		return
	}
	callback := d.Config.PublicURL + "/console/auth/callback"
	if !strings.HasPrefix(d.Config.PublicURL, "https://") {
		r.warn("redirect", "Serve the console over https: over http people can sign in on this machine only.", "%s is not https", callback)
		return
	}
	r.ok("redirect", "the issuer must allow the redirect URI %s", callback)
}
