import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState, type RefObject } from 'react';

import type { RecordingMark, Session, Turn } from '#gen/sessions_pb';

import * as api from '../../../api/clients';
import { useMaySeePersonal } from '../../../app/caller';

/** When an item of the conversation is heard in the recording, in milliseconds. */
export interface Stretch {
  itemId: string;
  role: string;
  fromMs: number;
  toMs: number;
}

/** The recording of a session. */
export interface Player {
  audio: RefObject<HTMLAudioElement | null>;
  /** Where the recording was loaded to, once it was. */
  url: string;
  isLoading: boolean;
  /** How many bytes were loaded. */
  loaded: number;
  error: unknown;
  stretches: readonly Stretch[];
  load(): Promise<void>;
  /** Plays from a place, and loads the recording for it. */
  playFrom(ms: number): Promise<void>;
  timeChanged(): void;
  /** Where a turn begins to be heard; undefined when it is not. */
  startOf(turn: Turn): number | undefined;
  isPlaying(turn: Turn): boolean;
}

/** Words and sentences put together to items. */
function stretchesOf(marks: readonly RecordingMark[]): Stretch[] {
  const byItem = new Map<string, Stretch>();
  for (const { itemId, role, fromMs, toMs } of marks) {
    const known = byItem.get(itemId);
    if (known) Object.assign(known, { fromMs: Math.min(known.fromMs, fromMs), toMs: Math.max(known.toMs, toMs) });
    else byItem.set(itemId, { itemId, role, fromMs, toMs });
  }
  return [...byItem.values()];
}

async function download(sessionId: string, signal: AbortSignal, onProgress: (bytes: number) => void): Promise<string> {
  const parts: BlobPart[] = [];
  let size = 0;
  for await (const { data } of api.sessions.downloadRecording({ sessionId }, { signal })) {
    parts.push(data as Uint8Array<ArrayBuffer>);
    onProgress((size += data.length));
  }
  return URL.createObjectURL(new Blob(parts, { type: 'audio/wav' }));
}

/** Loads and plays a session's recording. It is loaded when it is asked for: each download is in the audit log. */
export function usePlayer({ id: sessionId, recording }: Session): Player {
  const may = useMaySeePersonal();
  const hasSound = ['ready', 'incomplete', 'recording'].includes(recording?.status ?? '');
  const marks = useQuery({
    queryKey: ['session', sessionId, 'marks', recording?.durationMs],
    enabled: hasSound && may,
    retry: false,
    queryFn: async ({ signal }) => (await api.sessions.getRecordingMarks({ sessionId }, { signal })).marks,
  });
  const stretches = useMemo(() => stretchesOf(marks.data ?? []), [marks.data]);
  const audio = useRef<HTMLAudioElement>(null);
  const [state, setState] = useState({ url: '', isLoading: false, loaded: 0, error: undefined as unknown });
  const [nowMs, setNow] = useState(-1);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const { url } = state;
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  const load = async () => {
    if (state.isLoading || url) return;
    stop.current = new AbortController();
    setState({ url: '', isLoading: true, loaded: 0, error: undefined });
    try {
      const made = await download(sessionId, stop.current.signal, (loaded) =>
        setState((before) => ({ ...before, loaded })),
      );
      setState({ url: made, isLoading: false, loaded: 0, error: undefined });
    } catch (error) {
      if (!stop.current.signal.aborted) setState({ url: '', isLoading: false, loaded: 0, error });
    }
  };
  const wanted = useRef<number>(undefined);
  const seek = async (ms: number) => {
    const element = audio.current;
    if (!element) return;
    element.currentTime = ms / 1000;
    await element.play().catch(() => undefined); // the browser wants another press
  };
  useEffect(() => {
    if (!url || wanted.current === undefined) return;
    void seek(wanted.current);
    wanted.current = undefined;
  }, [url]);
  const ofTurn = ({ items }: Turn) => stretches.filter(({ itemId }) => items.some(({ id }) => id === itemId));
  return {
    ...state,
    audio,
    stretches,
    load,
    async playFrom(ms) {
      if (url) return seek(ms);
      wanted.current = ms;
      return load();
    },
    timeChanged: () => setNow((audio.current?.currentTime ?? 0) * 1000),
    startOf: (turn) =>
      ofTurn(turn).reduce<number | undefined>((first, { fromMs }) => Math.min(first ?? fromMs, fromMs), undefined),
    isPlaying: (turn) => ofTurn(turn).some(({ fromMs, toMs }) => fromMs <= nowMs && nowMs < toMs),
  };
}
