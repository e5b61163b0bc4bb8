// Package oidcissuer is an OpenID Connect issuer on its real wire (mockoidc), which a test can make
// misbehave.
package oidcissuer
