// The microphone and the loudspeaker of this machine, for one call.
import type { WorkletUrls } from './options.js';

/** Why there is no microphone, by the name of the browser's error. */
const troubles = {
  NotAllowedError: 'The browser does not let this page use the microphone. Allow it beside the address, then try again.',
  NotFoundError: 'No microphone was found. Connect one, then try again.',
  NotReadableError: 'The microphone cannot be used. Perhaps another program has it.',
  InsecureContext: 'Browsers have a microphone only for pages over https:// or on localhost.',
  NoWorklets: 'The files that handle sound could not be loaded.',
  Lost: 'The microphone is gone.',
  Other: 'The microphone could not be opened.',
} as const;

/** What kind of trouble there is with the microphone. */
export type SoundTrouble = keyof typeof troubles;

/** Why there is no microphone. The message is an English sentence. */
export class SoundError extends Error {
  constructor(readonly code: SoundTrouble) {
    super(troubles[code]);
  }
}

/** What was played of an item of the conversation, as far as it has left the loudspeaker. */
export interface Heard {
  readonly item: string;
  readonly playedMs: number;
  readonly leftMs: number;
}

/** Where the sound of a call goes. PCM is 16-bit mono at 24 kHz. */
export interface SoundListener {
  /** 20 ms of what the microphone hears, also when it is muted. */
  frame(pcm: Uint8Array, loudnessDb: number): void;
  /** What the loudspeaker does, every 40 ms while it plays. */
  playing(playing: boolean, loudnessDb: number): void;
  /** The microphone is gone. */
  lost(): void;
}

export interface Sound {
  /** Asks for the microphone. Rejects with a SoundError. */
  open(): Promise<void>;
  /** Plays PCM of an item of the conversation behind what is played already. */
  play(item: string, pcm: Uint8Array): void;
  /** Says that no more sound of an item comes. */
  end(item: string): void;
  /** Drops what was not played, and tells what was. */
  clear(): Promise<readonly Heard[]>;
  /** A muted microphone hears silence. */
  mute(muted: boolean): void;
  /** Stops the microphone. What is to be played is played. */
  closeMicrophone(): void;
  /** Stops the microphone, and the loudspeaker when what waits was played. */
  finish(): void;
  /** Stops everything. */
  close(): void;
}

interface Report {
  readonly cleared?: readonly Heard[];
  readonly playing?: boolean;
  readonly loudnessDb?: number;
  readonly waits?: boolean;
}

/** Makes the sound of a call. Nothing is opened before open(). */
export function makeSound(worklets: WorkletUrls, listener: SoundListener): Sound {
  let context: AudioContext | undefined;
  let stream: MediaStream | undefined;
  let microphone: AudioWorkletNode | undefined;
  let player: AudioWorkletNode | undefined;
  let clearing: ((heard: readonly Heard[]) => void)[] = [];
  let isPlaying = false;
  let isMuted = false;
  let finishing = false;
  let closed = false;

  async function open(): Promise<void> {
    if (!globalThis.navigator?.mediaDevices?.getUserMedia || !globalThis.AudioWorkletNode)
      throw new SoundError('InsecureContext');
    // Made at once: the browser lets a page make sound only while the user presses something.
    context = new AudioContext({ latencyHint: 'interactive' });
    try {
      const audio = { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true };
      stream = await navigator.mediaDevices.getUserMedia({ audio });
      if (!closed) await connect(context, stream);
      if (closed) close(); // close() was called meanwhile
    } catch (error) {
      close();
      throw error instanceof SoundError ? error : new SoundError(troubleOf(error));
    }
  }

  async function connect(context: AudioContext, stream: MediaStream): Promise<void> {
    try {
      const load = (url: string): Promise<void> => context.audioWorklet.addModule(url);
      await Promise.all([context.resume(), load(worklets.microphone), load(worklets.player)]);
    } catch {
      throw new SoundError('NoWorklets');
    }
    if (closed) return;
    const mono = { channelCount: 1, channelCountMode: 'explicit', outputChannelCount: [1] } as const;
    player = new AudioWorkletNode(context, 'parlance-player', { ...mono, outputChannelCount: [1], numberOfInputs: 0 });
    player.port.onmessage = ({ data }: MessageEvent<Report>) => reported(data);
    player.connect(context.destination);
    microphone = new AudioWorkletNode(context, 'parlance-microphone', { ...mono, outputChannelCount: [1] });
    microphone.port.onmessage = ({ data }: MessageEvent<{ pcm: Uint8Array; loudnessDb: number }>) =>
      listener.frame(data.pcm, data.loudnessDb);
    context.createMediaStreamSource(stream).connect(microphone);
    microphone.connect(context.destination); // it is silent, and browsers run only what is connected
    for (const track of stream.getTracks()) {
      track.enabled = !isMuted;
      track.onended = () => listener.lost();
    }
  }

  function reported({ cleared, playing = false, loudnessDb = 0, waits = false }: Report): void {
    if (cleared) {
      const latencyMs = (context?.outputLatency || 0) * 1000; // not yet out of the loudspeaker
      clearing.shift()?.(cleared.map((one) => ({ ...one, playedMs: Math.max(0, one.playedMs - latencyMs) })));
      return;
    }
    isPlaying = playing || waits;
    listener.playing(playing, loudnessDb);
    if (finishing && !isPlaying) close();
  }

  function closeMicrophone(): void {
    for (const track of stream?.getTracks() ?? []) track.stop();
    microphone?.port.postMessage({ type: 'close' });
  }

  function close(): void {
    closed = true;
    closeMicrophone();
    player?.port.postMessage({ type: 'close' });
    if (context && context.state !== 'closed') void context.close();
    for (const resolve of clearing) resolve([]);
    clearing = [];
  }

  return {
    open,
    play(item, pcm) {
      isPlaying = true;
      player?.port.postMessage({ type: 'play', item, pcm });
    },
    end: (item) => player?.port.postMessage({ type: 'end', item }),
    clear() {
      if (!player || closed) return Promise.resolve([]);
      player.port.postMessage({ type: 'clear' });
      return new Promise((resolve) => clearing.push(resolve));
    },
    mute(muted) {
      isMuted = muted;
      for (const track of stream?.getTracks() ?? []) track.enabled = !muted;
    },
    closeMicrophone,
    finish() {
      closeMicrophone();
      finishing = true;
      if (!isPlaying) close();
    },
    close,
  };
}

function troubleOf(error: unknown): SoundTrouble {
  const name = error instanceof Error ? error.name : '';
  return name === 'NotAllowedError' || name === 'NotFoundError' || name === 'NotReadableError' ? name : 'Other';
}
