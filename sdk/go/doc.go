// Package parlance is the client of Parlance, the service for agents that talk in voice and text.
//
//	client, err := parlance.New(parlance.Options{}) // PARLANCE_BASE_URL and PARLANCE_API_KEY
//	session, err := client.Sessions.CreateSession(ctx, &parlancev1.CreateSessionRequest{…})
//	for event, err := range client.StreamTurn(ctx, &parlancev1.StreamTurnRequest{…}) { … }
//
// A Client has a field for each service of the contract. The fields are the generated Connect
// clients, with requests and answers of package parlancev1. Under them calls carry the API key, the
// version of the contract and an Idempotency-Key, and are repeated when that may help. Beside them
// there is what one call alone does not do: [All] reads every page of a list, [Client.StreamTurn]
// and [Client.WatchEvents] come back after a lost connection, [Client.Upload] sends a file,
// [Client.Connect] holds a conversation over a WebSocket, and [VerifyWebhook] checks what a webhook
// brings.
//
// Every refusal is an [*Error] with a [Reason]; [IsReason] compares it. Errors and logs never hold
// the API key or a signed URL.
package parlance
