// Package webhooks is `parlance webhooks`: endpoints, their deliveries, and a receiver on this
// machine.
package webhooks
