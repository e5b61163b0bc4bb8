// Package seal keeps secrets: it encrypts what is stored and hides what is in memory.
//
// [Keyring] is envelope encryption in two layers, AES-256-GCM both:
//
//	value     ── sealed by ──▶  data key    one of a tenant (or of the installation itself),
//	                                        random, a row of data_keys, used for 30 days
//	data key  ── wrapped by ─▶  master key  [MasterKey]: local, or in a key-management service
//
// A value is bound to the place it belongs to ([Binding]: tenant, record, field) and to its data
// key; a data key to its row, its tenant and its master key. A ciphertext copied into another
// row, column or tenant does not open. Deleting a tenant deletes its data keys, and with them
// whatever copy of its secrets is left somewhere.
//
// Data keys are unwrapped when they are needed and kept in memory for five minutes (for an hour
// while a key-management service is silent). The first of several master keys wraps, all of them
// unwrap: RotateMaster moves the data keys to the first one and touches no value.
//
// A blob, version 2:
//
//	1 byte    version
//	16 bytes  id of the data key
//	12 bytes  nonce
//	rest      encrypted value and tag (16 bytes)
//
// [Secret] is a string that prints, marshals and logs as ***.
//
// Tables: data_keys.
package seal
