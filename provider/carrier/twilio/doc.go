// Package twilio is a carrier.Carrier over Twilio's REST API (version 2010-04-01).
//
//	Place, Find, Look, Instruct, Configure, Check ──► api.twilio.com   client.go, calls.go
//	Twilio ──► our webhooks: Read checks and reads them                signature.go, webhook.go
//	our answers: Render writes TwiML, Twilio's XML of instructions     twiml.go
//
// Requests are signed with the account's auth token: there is no other secret. The package is a
// plain client, because Twilio's own module takes minutes to compile.
package twilio
