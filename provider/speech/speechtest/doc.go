// Package speechtest is the conformance suite of transcribers and synthesizers, and the scripts
// that the fakes of test/fake follow.
//
// [RunTranscriber] runs an adapter against the fake of its service; a [Heard] says what the service
// does with one utterance. [RunSynthesizer] and [Spoken] are the same for synthesizers.
package speechtest
