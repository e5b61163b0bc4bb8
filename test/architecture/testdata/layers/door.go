package layers

// Open names a type below it.
func Open(Thing) Thing { return Thing{Open: true} }
