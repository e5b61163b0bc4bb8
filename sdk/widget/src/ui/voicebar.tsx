// The microphone: who speaks, how loud it is, mute and stop.
import type { Voice, VoiceState } from '../../../typescript/src/session/index.js';
import type { Strings } from '../strings.js';
import { MicrophoneIcon, MutedIcon, StopIcon } from './icons.js';

/** The loudness at which the level is empty, in decibels below full scale. */
const quietDb = -60;

const troubles: Readonly<Record<string, keyof Strings>> = {
  NotAllowedError: 'micDenied',
  NotFoundError: 'micMissing',
  NotReadableError: 'micBusy',
  Lost: 'micMissing',
  connection: 'reconnecting',
};

/** Why the voice is off, in words; empty without trouble. */
export function voiceTrouble({ phase, troubleCode }: VoiceState, strings: Strings): string {
  if (!troubleCode || troubleCode === 'closed' || troubleCode === 'unavailable') return '';
  return phase === 'off' || troubleCode === 'connection' ? strings[troubles[troubleCode] ?? 'micFailed'] : '';
}

interface Props {
  readonly voice: Voice;
  readonly state: VoiceState;
  readonly inputDb: number;
  readonly strings: Strings;
}

export function VoiceBar({ voice, state, inputDb, strings }: Props) {
  const { phase, muted, hears } = state;
  if (phase === 'off') return null;
  const muteName = muted ? strings.unmute : strings.mute;
  return (
    <div class="voice">
      <span class="who">{words(state, strings)}</span>
      {phase === 'on' && hears && (
        <meter min={quietDb} max={0} value={Math.max(quietDb, inputDb)} aria-label={strings.level} />
      )}
      {hears && (
        <button type="button" class="icon" aria-label={muteName} title={muteName} onClick={() => voice.mute(!muted)}>
          {muted ? <MutedIcon /> : <MicrophoneIcon />}
        </button>
      )}
      <button
        type="button"
        class="icon"
        aria-label={strings.stopTalking}
        title={strings.stopTalking}
        onClick={() => void voice.stop()}
      >
        <StopIcon />
      </button>
    </div>
  );
}

function words({ phase, hears, muted, userSpeaks, agentSpeaks }: VoiceState, strings: Strings): string {
  if (phase === 'asking') return strings.asking;
  if (phase === 'connecting') return strings.connecting;
  if (agentSpeaks) return strings.agentSpeaks;
  if (userSpeaks) return strings.youSpeak;
  if (!hears) return strings.typeOnly;
  return muted ? strings.muted : strings.listening;
}
