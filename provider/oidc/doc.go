// Package oidc asks an OpenID Connect issuer who somebody is: the authorization code flow with
// PKCE, and the groups in what the issuer says.
//
// The issuer's discovery document is read when it is first needed, and again when that failed, so
// that an issuer that is down stops nobody's process. Requests go to the issuer and to the
// endpoints that its document names, and nowhere else.
package oidc
