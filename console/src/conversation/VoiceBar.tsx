import { useState } from 'react';
import { ToggleButton } from 'react-aria-components/ToggleButton';

import type { Session, VoiceState } from '#sdk/session/index';

import { Button } from '../ui/Button';
import { duration } from '../ui/format';
import { stageNames, type Latency } from './latency';
import { Levels } from './Levels';

const headphonesKey = 'parlance.headphones';

const unheard =
  'This installation has nothing that understands speech, so the microphone is off. Whoever runs it can set ' +
  'PARLANCE_STT_BASE_URL. Until then type: what you type is answered aloud if there is a voice.';

function wordsOf({ phase, hears, muted, userSpeaks, agentSpeaks }: VoiceState): string {
  if (phase === 'asking') return 'Waiting until you allow the microphone …';
  if (phase === 'connecting') return 'Connecting …';
  if (userSpeaks) return 'You are speaking.';
  if (agentSpeaks) return 'The agent is speaking.';
  if (!hears) return 'Type; the agent answers aloud.';
  return muted ? 'You are muted. Nobody is speaking.' : 'Nobody is speaking.';
}

/** What is shown while the conversation is aloud: who speaks, how loud, mute, and where the time went. */
export function VoiceBar({ session, voice, latency }: { session: Session; voice: VoiceState; latency: Latency }) {
  const [hint, setHint] = useState(() => localStorage.getItem(headphonesKey) === null);
  const isOff = voice.phase === 'off';
  if (isOff && !voice.trouble) return null;
  const understood = () => {
    localStorage.setItem(headphonesKey, 'told');
    setHint(false);
  };
  return (
    <section className="voice-bar stack tight" aria-label="Voice">
      {voice.trouble && (
        <p className="note warn" role="alert">
          {voice.trouble}
        </p>
      )}
      {!isOff && !voice.hears && (
        <p className="note warn" role="status">
          {unheard}
        </p>
      )}
      {!isOff && voice.hears && hint && (
        <div className="note row between" role="status">
          <span>
            Headphones help: without them the microphone also hears the agent, which may then interrupt itself.
          </span>
          <Button kind="quiet" onPress={understood}>
            Understood
          </Button>
        </div>
      )}
      {!isOff && (
        <div className="row">
          <span className={`dot ${voice.userSpeaks ? 'user' : voice.agentSpeaks ? 'agent' : ''}`} aria-hidden="true" />
          <span className="who">{wordsOf(voice)}</span>
          <span className="grow" />
          <Levels session={session} />
          {voice.hears && (
            <ToggleButton className="button" isSelected={voice.muted} onChange={(muted) => session.voice.mute(muted)}>
              Mute
            </ToggleButton>
          )}
        </div>
      )}
      <LatencyBar latency={latency} />
    </section>
  );
}

/** The stages of the newest spoken answer, one behind the other. */
function LatencyBar({ latency: { reached, isMeasured } }: { latency: Latency }) {
  const stages = stageNames.filter(([stage]) => reached[stage] !== undefined);
  if (stages.length === 0) return null;
  const end = Math.max(1, ...stages.map(([stage]) => reached[stage] ?? 0));
  const bars = stages.map(([stage, name], at) => {
    const before = stages[at - 1];
    const from = Math.min(before ? (reached[before[0]] ?? 0) : 0, reached[stage] ?? 0);
    return { stage, name, from, to: reached[stage] ?? 0 };
  });
  return (
    <div className="latency small">
      <span className="dim">
        {isMeasured ? 'From the end of your speech:' : 'From the end of your speech, as this page sees it:'}
      </span>
      <span className="latency-track" aria-hidden="true">
        {bars.map(({ stage, from, to }) => (
          <span
            key={stage}
            className={`stretch ${stage}`}
            style={{ left: `${(100 * from) / end}%`, width: `${(100 * (to - from)) / end}%` }}
          />
        ))}
      </span>
      <ol className="row">
        {bars.map(({ stage, name, to }) => (
          <li key={stage}>
            <span className={`key ${stage}`} aria-hidden="true" />
            {name} <strong>{duration(to)}</strong>
          </li>
        ))}
      </ol>
    </div>
  );
}
