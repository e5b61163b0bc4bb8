package sessions

import (
	"parlance.dev/parlance/tools"
)

const (
	CodeNotApproved = tools.Code("not-approved")
)
