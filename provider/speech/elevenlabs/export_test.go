package elevenlabs

// AwaitSpare waits until no connection is being made ahead.
func AwaitSpare(s *Synthesizer) { s.spares.work.Wait() }
