// Package rest is the REST facade: it serves the generated route table by turning each request
// into a call of the same Connect handler, in memory, so that one interceptor chain sees every
// protocol.
//
//	request ─match─► route ─admit, once, decode─► message ─call─► Connect handler
//	                                                                 │ proto, or an error
//	answer  ◄─JSON, or text/event-stream, or a problem ──────────────┘
//
// Rules (source: decisions, Addressing and versions; Errors; Success codes):
//
//   - Paths match segment by segment on the escaped path, so %2F stays inside a variable. A slash
//     at the end is another path: 404. A known path with another verb is 405 with Allow. HEAD is
//     GET.
//   - JSON is strict: unknown, duplicate and ill-typed members are 400 with their snake_case
//     paths, all at once; snake_case and lowerCamelCase are both read, snake_case is written.
//     Numbers are not read from strings, except 64-bit ones. An empty body is {}.
//   - Some members are also read as callers of other APIs write them (accommodate.go): variables as
//     numbers and booleans, client tools as OpenAI's functions, ttl_seconds of any size.
//   - A body is application/json or has no Content-Type, as it is or in gzip; anything else is
//     415. Over the limit, which counts what gzip becomes: 413. Accept is looked at for
//     text/event-stream only: a caller that accepts neither gets JSON.
//   - Path variables fill their fields; a body that names one with another value is 400.
//   - Without a body in the contract, fields come from the query string, and a body other than {}
//     is 400. Unknown query parameters are 400.
//   - A request message with the field update_mask (PATCH) gets in it the keys of the body, so
//     that absent keeps and null clears: a key with null is in the mask, its field unset. Keys
//     inside an object of the contract are in it by their paths (model.name), so that such objects
//     are merged; a free JSON object, a map or a list is one value. Callers cannot send the mask.
//     An empty mask means that nothing changes.
//   - Server streams are Server-Sent Events, named by the message's `type`, numbered by its
//     `event_id`. An error before the first event is an ordinary problem, later an `error` event.
//
// It does not authenticate, validate, limit or store answers: Config.Admit and the
// interceptors do. It has no state.
package rest
