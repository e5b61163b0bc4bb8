import { failureOf } from '../../api/failure';
import { FailureNote } from '../../ui/Page';

/** What went wrong; of a refusal by the plan also where the plan is. */
export function ToolFailure({ error }: { error: unknown }) {
  const isPlan = failureOf(error).reason.startsWith('plan-');
  return <FailureNote error={error} retry={isPlan && <a href="#/usage">See the plans</a>} />;
}
