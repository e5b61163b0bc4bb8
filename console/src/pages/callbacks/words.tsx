import { Badge } from '../../ui/Page';

type Tone = 'good' | 'warn' | 'bad' | 'accent';

const states: Record<string, { text: string; tone?: Tone }> = {
  scheduled: { text: 'planned' },
  dialing: { text: 'dialling', tone: 'accent' },
  ringing: { text: 'ringing', tone: 'accent' },
  in_progress: { text: 'talking', tone: 'accent' },
  completed: { text: 'completed', tone: 'good' },
  no_answer: { text: 'no answer', tone: 'warn' },
  busy: { text: 'busy', tone: 'warn' },
  failed: { text: 'failed', tone: 'bad' },
  canceled: { text: 'cancelled' },
  running: { text: 'running', tone: 'accent' },
  paused: { text: 'paused', tone: 'warn' },
  stopped: { text: 'stopped', tone: 'bad' },
};

/** How the state of a callback, a call or a batch is called. */
export const stateText = (status: string) => states[status]?.text ?? status;

export const StateBadge = ({ status }: { status: string }) => (
  <Badge tone={states[status]?.tone}>{stateText(status)}</Badge>
);

/** The tone of a state, or "". */
export const stateTone = (status: string) => states[status]?.tone ?? '';

export const callbackStates = [
  { id: '', text: 'All' },
  ...['scheduled', 'dialing', 'in_progress', 'completed', 'no_answer', 'failed', 'canceled'].map((id) => ({
    id,
    text: capital(stateText(id)),
  })),
];

export const callStates = [
  { id: '', text: 'All' },
  ...['dialing', 'ringing', 'in_progress', 'completed', 'busy', 'no_answer', 'failed', 'canceled'].map((id) => ({
    id,
    text: capital(stateText(id)),
  })),
];

const ends: Record<string, string> = {
  answered: 'answered',
  transferred: 'put through to a person',
  voicemail: 'a machine answered',
  voicemail_left: 'a message was left on a machine',
  busy: 'the line was busy',
  no_answer: 'nobody answered',
  canceled: 'cancelled',
  missed: 'missed: no worker ran when it was due, or the user had been called too recently',
  rejected: 'the call was refused',
  carrier_failed: 'the carrier could not make the call',
  media_not_connected: 'no sound came from the carrier',
  media_lost: 'the sound of the call was lost',
  agent_deleted: 'the agent was deleted',
  outcome_unknown: 'not known: the carrier could not be asked',
  agent_hung_up: 'the agent hung up',
  person_hung_up: 'the person hung up',
};

/** Why a callback or a call is over; an error's name as it is. Source: end_reason of Callback and PhoneCall */
export const endText = (reason: string) => ends[reason] ?? reason;

const waits: Record<string, string> = {
  quiet_hours: 'the end of the quiet hours',
  user_called_recently: 'the pause after the last call of this user',
  batch_paused: 'the batch, which is paused',
  sessions_full: 'room for one more conversation in the plan',
  batch_full: 'another call of the batch to end',
  batch_window: 'the hours of the batch',
};

/** What a callback that is due waits for. */
export const waitText = (reason: string) => waits[reason] ?? reason;

export const creators: Record<string, string> = {
  agent: 'an agent, in a conversation',
  operator: 'an operator',
  schedule: 'a schedule',
  batch: 'a batch',
};

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
