// Package seal keeps secrets: it encrypts what is stored and hides what is in memory.
//
// [Keyring] is envelope encryption: each value has a random data key of its own (AES-256-GCM),
// which is wrapped by a master key (AES-256-GCM). Both layers are bound to the place the
// value belongs to ([Binding]: tenant, record, field), so a ciphertext copied into another
// row does not open. The keyring seals with its first key and opens with all of them; after
// a new key has been put first, Rewrap moves a blob to it without touching the value.
//
// A blob, version 1:
//
//	1 byte    version
//	8 bytes   id of the master key
//	60 bytes  nonce and wrapped data key
//	rest      nonce and encrypted value
//
// [Secret] is a string that prints, marshals and logs as ***.
package seal
