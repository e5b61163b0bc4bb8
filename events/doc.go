// Package events is the catalog of what happens, and the transactional outbox.
//
// A noun calls [Append] in the transaction that makes the thing true; nothing else leaves
// Parlance as a side effect. After commit the relay (package worker) turns each row into webhook
// deliveries (public events) or a task (internal ones), at least once; a repeat is harmless.
//
//	noun's transaction: rows + events.Append ──commit──► NOTIFY parlance_events ──► relay
//
// The eleven public events and their payload messages are in proto/parlance/v1/events.proto;
// internal events are named with a leading underscore and never leave the installation.
//
// [Feed] reads the relayed public events in an order that never changes.
//
// Table: events.
package events
