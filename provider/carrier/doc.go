// Package carrier is the contract with companies that connect telephone calls.
//
//	Place ──► the carrier calls a number
//	            │ answered                          somebody calls one of our numbers
//	            ▼                                     ▼
//	          Webhook{Kind: Asked} ◄─────────────── Webhook{Kind: Asked}
//	            │ Render(Connect)
//	            ▼
//	          a media socket: the sound of the call, both ways (server/realtime/mediastream)
//
// A carrier tells of a call by webhooks: its status, whether a machine answered, how a transfer
// goes. They may come twice, late and in another order; Update.Sequence orders those of a carrier
// that counts them. Some ask what is to be done next, and are answered with an Instruction.
//
// The package knows calls by the carrier's ids only. Package telephony has ours, and puts them into
// the addresses of webhooks.
package carrier
