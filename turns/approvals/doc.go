// Package approvals keeps the requests for approval of calls (table call_approvals) and the
// decisions on them: the first decision on a request counts. Package turns asks, and waits for the
// decision.
package approvals
