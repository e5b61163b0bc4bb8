// Package queue runs background tasks through Redis (asynq). It is transport only: Postgres decides
// what was done and what is due, so losing Redis loses time and nothing else. A task may run twice,
// also at the same time. Handlers obey their context, check in Postgres that the work is still
// theirs, and are harmless when repeated.
//
// A task's fate follows from the handler's error, as fault.From sees it:
//
//	nil                           done
//	retryable kind, or no fault   again later: fault.RetryAfter, else 1 s doubled up to 10 min
//	any other kind                given up (archived)
//
// Facts about asynq 0.26 that callers notice (design, section 3): delays have whole seconds; the
// tasks of a worker that was killed are taken over after 60 to 120 s; enqueueing fails at once
// while Redis is away; an idle pool polls its queues (Pool.PollInterval), which is most of a task's
// latency on an idle system; a task id is taken until its task is done, and for as long as the task
// stays archived, so ids hold the attempt.
package queue
