// Package httptool is a small customer's endpoint for HTTP tools, for tests:
//
//	shop := httptool.New(t)
//	shop.Script("/orders", httptool.Step{Status: 503}, httptool.Step{Body: `{"ok":true}`})
//	… webhook_url: shop.URL + "/orders" …
//	shop.Requests("/orders")[0].Header.Get("Authorization")
//
// It listens on loopback and records every request before it answers. The n-th request to a
// scripted path takes the n-th step, the last step repeats; a path without a script echoes the
// request as JSON.
package httptool
