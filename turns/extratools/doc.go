// Package extratools has the tools that an agent's settings turn on: transfer_to_person and
// press_keys. They are in no catalog and their names are not reserved: a tool of the workspace or
// of the client with the same name takes their place.
//
// The package describes them and answers their calls. Package turns carries out their effects.
//
// Tables: none. Events: none.
package extratools
