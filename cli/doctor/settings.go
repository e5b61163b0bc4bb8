package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	"parlance.dev/parlance/app"
)

// A certificate with a short life should be renewed when a fifth, or at least a tenth, of it is
// left.
const (
	certificateSoon = 14 * 24 * time.Hour
	certificateNow  = 3 * 24 * time.Hour
)

func checkSettings(_ context.Context, d Deps, r *report) {
	for _, problem := range d.Problems {
		r.fail("values", "Correct the setting; `parlance config` lists them all, with their values.", "%v", problem)
	}
	if len(d.Problems) == 0 {
		r.ok("values", "every setting that is set can be read, and what must be set is")
	}
	for _, name := range app.UnknownVariables(d.Environ) {
		r.warn("names", "Correct the name, or unset it; `parlance config` lists the settings.", "%s is set, and no setting has that name", name)
	}
	if len(d.Config.EgressAllowCIDRs) > 0 {
		r.warn("egress", "Unset PARLANCE_EGRESS_ALLOW_CIDRS unless every tenant may call these addresses.",
			"tools, webhooks and fetched pages of tenants may reach %s", strings.Join(d.Config.EgressAllowCIDRs, ", "))
	}
	if len(d.Config.EgressDenyCIDRs) > 0 {
		r.ok("egress-denied", "tools, webhooks and fetched pages of tenants may not reach %s", strings.Join(d.Config.EgressDenyCIDRs, ", "))
	}
	if slices.Contains(d.Config.CORSOrigins, "*") {
		r.warn("cors", "Name the origins in PARLANCE_CORS_ORIGINS.", "pages of any origin may call the API from browsers")
	}
	if _, err := d.Config.Plans(); err != nil {
		r.fail("plans", "Correct the file that PARLANCE_PLANS_FILE names; docs/operations.md has an example.", "%v", err)
	}
	if _, err := d.Config.Prices(); err != nil {
		r.fail("prices", "Correct the file that PARLANCE_MODEL_PRICES_FILE names; docs/receipts.md has an example.", "%v", err)
	}
	if d.Config.TLSCertFile != "" && d.Config.TLSKeyFile != "" {
		checkOwnCertificate(d, r)
	}
}

// checkOwnCertificate reads the certificate a server would serve TLS with.
func checkOwnCertificate(d Deps, r *report) {
	pair, err := tls.LoadX509KeyPair(d.Config.TLSCertFile, d.Config.TLSKeyFile)
	if err != nil {
		r.fail("tls", "Make PARLANCE_TLS_CERT_FILE and PARLANCE_TLS_KEY_FILE a matching pair that the service may read.", "%v", err)
		return
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		r.fail("tls", "Put the server's own certificate first in PARLANCE_TLS_CERT_FILE.", "%v", err)
		return
	}
	sayCertificate("tls", leaf, d.Now(), r)
}

// sayCertificate says how long a certificate is still good for.
func sayCertificate(check string, leaf *x509.Certificate, now time.Time, r *report) {
	left, life := leaf.NotAfter.Sub(now), leaf.NotAfter.Sub(leaf.NotBefore)
	switch {
	case left <= 0:
		r.fail(check, "Renew the certificate.", "the certificate ran out on %s", leaf.NotAfter.UTC().Format(time.DateOnly))
	case left < min(certificateNow, life/10):
		r.fail(check, "Renew the certificate today, and find out why nothing did.", "the certificate runs out in %s", inWords(left))
	case left < min(certificateSoon, life/5):
		r.warn(check, "See that the certificate is renewed.", "the certificate runs out in %s", inWords(left))
	default:
		r.ok(check, "the certificate is good for another %s", inWords(left))
	}
}

// inWords is a duration in the unit people count it in.
func inWords(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
