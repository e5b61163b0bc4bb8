package postgres

import "time"

// SetPlanAge is for tests that cannot wait.
func (d *DB) SetPlanAge(age time.Duration) { d.planAge = age }
