import { useEffect, useState } from 'react';

import type { Session } from '#sdk/session/index';

/** The loudness at which a level is empty, in decibels below full scale. */
const quietDb = -60;

/** How often they are shown, in milliseconds. */
const showMs = 60;

/** How loud the user and the agent are. */
export function Levels({ session }: { session: Session }) {
  const [levels, setLevels] = useState({ inputDb: quietDb, outputDb: quietDb });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let newest = { inputDb: quietDb, outputDb: quietDb };
    const stop = session.on('levels', ({ inputDb, outputDb }) => {
      newest = { inputDb, outputDb };
      timer ??= setTimeout(() => {
        timer = undefined;
        setLevels(newest);
      }, showMs);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [session]);
  return (
    <span className="row levels small">
      <span>You</span>
      <meter min={quietDb} max={0} value={levels.inputDb} aria-label="Loudness of your microphone" />
      <span>Agent</span>
      <meter min={quietDb} max={0} value={levels.outputDb} aria-label="Loudness of the agent" />
    </span>
  );
}
