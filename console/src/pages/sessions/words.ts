import { capital, endText } from '../callbacks/words';

/** Why sessions end. Source: Session.end_reason */
export const outcomes: Record<string, string> = {
  end_call: 'The agent ended it',
  hang_up: 'The user hung up',
  ended_by_api: 'Ended by a program',
  idle_timeout: 'Silence',
  max_duration: 'Longest time reached',
  no_turns: 'Nothing was said',
  disconnected: 'The connection was lost',
  expired: 'Never began',
  budget_used_up: 'The budget was used up',
  internal_error: 'An error of the service',
};

/** Why a session or its call ended; a reason of the caller's own as it is. */
export const outcomeOf = (reason: string) => {
  const words = outcomes[reason] ?? endText(reason);
  return words === reason ? reason : capital(words);
};

const states: Record<string, { text: string; tone?: 'good' | 'bad' | 'accent' }> = {
  pending: { text: 'not begun' },
  in_progress: { text: 'going on', tone: 'accent' },
  completed: { text: 'completed', tone: 'good' },
  failed: { text: 'failed', tone: 'bad' },
};

export const statusOf = (status: string) => states[status] ?? { text: status };

export const statuses = [
  { id: '', text: 'All' },
  { id: 'in_progress', text: 'Going on' },
  { id: 'pending', text: 'Not begun' },
  { id: 'completed', text: 'Completed' },
  { id: 'failed', text: 'Failed' },
];

export const modalities = [
  { id: '', text: 'All' },
  { id: 'voice', text: 'Voice' },
  { id: 'voice+text', text: 'Voice and text' },
  { id: 'text', text: 'Text' },
];

export const handovers = [
  { id: '', text: 'All' },
  { id: 'requested', text: 'Waits for a person' },
  { id: 'operator', text: 'With a person' },
];
