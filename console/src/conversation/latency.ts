// How long the beginning of a spoken answer takes, from the end of what the user said.

import type { SessionEvent } from '#sdk/session/index';

/** Milliseconds from the end of the speech. */
export interface Latency {
  /** When the speech ended, on performance.now(); 0: nothing that is said now belongs to it. */
  endedAt: number;
  isMeasured: boolean;
  reached: Partial<Record<Stage, number>>;
}

export type Stage = 'endpoint' | 'transcript' | 'token' | 'sound';

export const stageNames: [Stage, string][] = [
  ['endpoint', 'believed to be over'],
  ['transcript', 'words known'],
  ['token', 'first token'],
  ['sound', 'first sound'],
];

export const noLatency: Latency = { endedAt: 0, isMeasured: false, reached: {} };

/** The latency after an event. Until the service sends its own measurement it is measured here. */
export function reduceLatency(latency: Latency, event: SessionEvent): Latency {
  const reach = (stage: Stage): Latency => {
    if (latency.isMeasured || latency.endedAt === 0 || latency.reached[stage] !== undefined) return latency;
    return { ...latency, reached: { ...latency.reached, [stage]: Math.round(performance.now() - latency.endedAt) } };
  };
  switch (event.type) {
    case 'speech.started':
      return { ...latency, endedAt: 0 };
    case 'speech.stopped': {
      const now = performance.now();
      const endedAt = Math.min(event.endedAtMs, now);
      return { endedAt, isMeasured: false, reached: { endpoint: Math.round(now - endedAt) } };
    }
    case 'user.message':
      return event.spoken && event.text ? reach('transcript') : latency;
    case 'answer.delta':
      return reach('token');
    case 'sound':
      return event.direction === 'in' ? reach('sound') : latency;
    case 'timing': {
      const { endpointMs, transcriptMs, firstTokenMs, firstAudioMs } = event.timing;
      return {
        ...latency,
        isMeasured: true,
        reached: { endpoint: endpointMs, transcript: transcriptMs, token: firstTokenMs, sound: firstAudioMs },
      };
    }
    default:
      return latency;
  }
}
