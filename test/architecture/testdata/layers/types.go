package layers

// Thing opens itself, which is for the door to do.
type Thing struct{ Open bool }

func (t Thing) door() { Open(t) }
