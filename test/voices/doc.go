// Package voices makes speech for tests by flite and espeak-ng, which it installs on Debian and
// Ubuntu, and noise to mix it with.
//
//	samples := voices.Say(t, "flite", "slt", "When are you open?", 16_000)
//	noisy := voices.WithNoise(samples, 20, 1)
//
// flite's voices are slt, rms, awb and kal16, and speak English. espeak-ng's are the names of
// languages and variants: en-us, en-gb+f3, de.
//
// Speech begins and ends without silence, at Level, whatever the voice. The same arguments give the
// same samples.
package voices
