// Package people is who signs in at the console, in which browsers, and what they may do.
//
//	login ── Begin ──▶ the issuer's page ──▶ callback ── Finish ──┬──▶ a cookie with a token
//	                                                             └──▶ refused: no role, disabled
//	a call with the cookie ── Authenticate ──▶ workspaces.Principal
//
// An OpenID Connect issuer says who somebody is and which groups they are in. The groups give a
// role; an owner may give another one in its place. Role and state are read for each call, so
// that a change counts at once. Nobody is added here: a person appears when they first sign in.
//
// Tables: people, person_sign_ins. Events: none.
package people
