package postgres

import "database/sql"

// Changed says whether a statement changed a row: postgres.Changed(db.ExecContext(…)).
func Changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
