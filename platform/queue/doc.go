// Package queue runs background tasks through Redis (asynq). It is transport only: what has
// been done and what is due is decided in Postgres, so losing Redis loses time and nothing
// else, and a task may be run twice, also at the same time. Handlers obey their context, check
// in Postgres that the work is still theirs, and are harmless when repeated.
//
// A task's fate follows from the handler's error, as fault.From sees it:
//
//	nil                           done
//	retryable kind, or no fault   again later: fault.RetryAfter, else 1 s doubled up to 10 min
//	any other kind                given up (archived)
//
// Work that its owner finds again by itself may be run where it was found, without Redis (TryRun).
//
// Facts about asynq 0.26 that show (design, section 3): delays have whole seconds; a worker
// killed hard has its tasks taken over after 60 to 120 s; enqueueing fails at once while Redis
// is away; a task id is taken until its task is done, and for as long as it stays archived, so
// ids hold the attempt.
package queue
