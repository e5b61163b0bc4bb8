// Package signin serves the paths by which people sign in at the console and out again. They are
// pages for browsers, beside the API: they send the browser to the issuer and take it back, and set
// the cookie that package interceptor lets count.
//
//	GET  /console/auth/session   who is signed in; always 200
//	GET  /console/auth/login     to the issuer's page
//	GET  /console/auth/callback  back from it
//	POST /console/auth/logout    out
//
// What is decided is decided by package people.
package signin
