// The spoken half of a session: what its voice socket does with the microphone and the loudspeaker.
import { base64Of, bytesOf, lengthMs, silentDb, wireHz } from '../audio/pcm.js';
import { ownEvent, type VoiceTap } from './conversation.js';
import type { ConnectionState, SessionEvent, VoiceState } from './events.js';
import { newId } from './ids.js';
import type { WorkletUrls } from './options.js';
import { makeSound, type Sound, SoundError } from './sound.js';
import type { ClientEvent, Fields } from './wire.js';

const pcmFormat = { type: 'audio/pcm', rate: wireHz };

/** How long stop() waits for the audio thread to tell what was heard. */
const patienceMs = 300;

const noVoice = 'This conversation is in writing only: it has no wsUrl, or no worklets, or it is over.';

const off: VoiceState = {
  phase: 'off', muted: false, hears: true, userSpeaks: false, agentSpeaks: false, trouble: '', troubleCode: '',
};

/** The voice of a session. It is off until start(). */
export interface Voice {
  readonly state: VoiceState;
  /** Whether the session can be talked with: it has a `wsUrl`, and there are worklets. */
  readonly isAvailable: boolean;
  /**
   * Asks for the microphone and connects. Call it while the user presses something: browsers allow
   * sound only then. Resolves once it is on, or cannot be; see `state`.
   */
  start(): Promise<void>;
  /** Stops listening and speaking. The session goes on in writing. */
  stop(): Promise<void>;
  /** A muted microphone sends silence. */
  mute(muted: boolean): void;
  /** Has the agent be silent, and tells the service how much was heard. */
  silence(): void;
}

/** What the voice needs of its session. */
export interface VoiceHost {
  /** Undefined while there is no session. */
  canTalk(): boolean | undefined;
  /** Resolves when there is a session, or none can be had. */
  ready(): Promise<void>;
  open(): void;
  leave(): void;
  isOpen(): boolean;
  send(event: ClientEvent): boolean;
}

export interface VoiceParts {
  readonly voice: Voice;
  readonly tap: VoiceTap;
  /** Stops at once, because the session is left. */
  close(): void;
}

export function makeVoice(
  worklets: WorkletUrls | undefined,
  emit: (event: SessionEvent) => void,
  host: VoiceHost,
): VoiceParts {
  let state = off;
  let sound: Sound | undefined;
  let interrupts = true;
  let inputDb = silentDb;
  let outputDb = silentDb;
  let sentMs = 0; // the service counts sound from the beginning of a connection
  let sentAt = 0;
  let connected: (() => void) | undefined;
  /** The response of each item whose sound is coming. */
  const coming = new Map<string, string>();
  /** Responses that were interrupted: their sound is not played any more. */
  const cut = new Set<string>();

  function change(members: Partial<VoiceState>): void {
    state = { ...state, ...members };
    emit({ type: 'voice', voice: state });
  }

  function levels(input: number, output: number): void {
    [inputDb, outputDb] = [input, output];
    emit({ type: 'levels', inputDb, outputDb });
  }

  function switchOff(trouble = '', troubleCode = ''): void {
    sound = undefined;
    coming.clear();
    cut.clear();
    change({ phase: 'off', trouble, troubleCode, userSpeaks: false, agentSpeaks: false });
    levels(silentDb, silentDb);
    connected?.();
  }

  async function start(): Promise<void> {
    if (state.phase !== 'off') return;
    if (!worklets || host.canTalk() === false) return change({ ...off, trouble: noVoice, troubleCode: 'unavailable' });
    const made = makeSound(worklets, {
      frame: (pcm, db) => frame(pcm, db),
      playing: (playing, db) => {
        if (sound !== made) return;
        levels(inputDb, db);
        if (playing !== state.agentSpeaks) change({ agentSpeaks: playing });
      },
      lost: () => void stop(new SoundError('Lost')),
    });
    sound = made;
    change({ ...off, phase: 'asking', muted: false });
    try {
      await made.open(); // first: the browser asks only while the user presses something
      await host.ready();
    } catch (error) {
      const { message, code } = error instanceof SoundError ? error : new SoundError('Other');
      if (sound === made) switchOff(message, code);
      return;
    }
    if (sound !== made) return;
    if (!host.canTalk()) {
      made.close();
      return switchOff(noVoice, 'unavailable');
    }
    change({ phase: 'connecting' });
    const first = new Promise<void>((resolve) => (connected = resolve));
    host.open();
    await first;
  }

  async function stop(why?: SoundError): Promise<void> {
    const stopped = sound;
    if (!stopped) return;
    stopped.closeMicrophone();
    if (host.isOpen()) {
      host.send({ type: 'output_audio_buffer.clear' });
      await Promise.race([interrupt(), new Promise((resolve) => setTimeout(resolve, patienceMs))]);
    }
    if (sound !== stopped) return;
    sound = undefined; // the state of the socket that is left concerns nobody
    host.leave();
    stopped.close();
    switchOff(why?.message, why?.code);
  }

  function frame(pcm: Uint8Array, loudnessDb: number): void {
    if (!sound || !state.hears) return;
    levels(loudnessDb, outputDb);
    if (state.phase === 'on') host.send({ type: 'input_audio_buffer.append', audio: base64Of(pcm) });
  }

  function socketChanged(socket: ConnectionState): void {
    if (!sound) return;
    if (socket.name === 'reconnecting')
      change({ phase: 'connecting', trouble: socket.text, troubleCode: 'connection', userSpeaks: false });
    if (socket.name === 'closed') {
      sound.finish(); // what the agent said last is heard to its end
      switchOff(socket.text, 'closed');
    }
  }

  function opened(event: Fields): void {
    sentMs = 0;
    follow(event);
    change({ phase: 'on', trouble: '', troubleCode: '', userSpeaks: false });
    connected?.();
  }

  /** Has the agent be silent, and tells the service how much of what it said was heard. */
  async function interrupt(): Promise<void> {
    const unfinished = new Set(coming.keys());
    for (const response of coming.values()) cut.add(response);
    coming.clear();
    for (const { item, playedMs, leftMs } of (await sound?.clear()) ?? []) {
      if (leftMs === 0 && !unfinished.has(item)) continue; // it was heard to its end
      host.send({
        type: 'conversation.item.truncate',
        event_id: newId(ownEvent),
        item_id: item,
        content_index: 0,
        audio_end_ms: Math.floor(playedMs),
      });
    }
  }

  function play({ response_id: response = '', item_id: item = '', delta = '' }: Fields): void {
    const pcm = bytesOf(delta);
    emit({ type: 'sound', direction: 'in', event: 'response.output_audio.delta', ms: lengthMs(pcm) });
    if (!sound || cut.has(response)) return;
    coming.set(item, response);
    sound.play(item, pcm);
  }

  function follow(event: Fields): void {
    if (!event.session) return;
    interrupts = event.session.audio?.input?.turn_detection?.interrupt_response !== false;
  }

  function speech(event: Fields): void {
    const id = event.item_id ?? '';
    if (event.type === 'input_audio_buffer.speech_started') {
      if (interrupts) void interrupt();
      change({ userSpeaks: true });
      emit({ type: 'speech.started', id });
    } else if (event.type === 'input_audio_buffer.speech_stopped') {
      change({ userSpeaks: false });
      emit({ type: 'speech.stopped', id, endedAtMs: sentAt - (sentMs - (event.audio_end_ms ?? sentMs)) });
    } else if (event.type === 'parlance.speech_dropped') {
      change({ userSpeaks: false });
      emit({ type: 'speech.dropped', id, reason: event.reason ?? '' });
    }
  }

  function timing(event: Fields): void {
    emit({
      type: 'timing',
      timing: {
        answerId: event.response_id ?? '',
        endpointMs: event.endpoint_ms ?? 0,
        transcriptMs: event.transcript_ms ?? 0,
        firstTokenMs: event.first_token_ms ?? 0,
        firstAudioMs: event.first_audio_ms ?? 0,
      },
    });
  }

  /** Nothing there understands speech: the microphone is not needed. */
  function unheard(): void {
    sound?.closeMicrophone();
    change({ hears: false, userSpeaks: false });
    levels(silentDb, outputDb);
  }

  function take(event: Fields): boolean {
    switch (event.type) {
      case 'response.output_audio.delta':
        play(event);
        return true;
      case 'session.created':
        opened(event);
        break;
      case 'session.updated':
        follow(event);
        break;
      case 'response.output_audio.done':
        coming.delete(event.item_id ?? '');
        sound?.end(event.item_id ?? '');
        break;
      case 'response.done':
        cut.delete(event.response?.id ?? '');
        break;
      case 'parlance.timing':
        timing(event);
        break;
      case 'error':
        if (event.error?.code !== 'stt-not-configured') return false;
        unheard();
        return true;
      default:
        speech(event);
    }
    return false;
  }

  return {
    voice: {
      get state() {
        return state;
      },
      get isAvailable() {
        return Boolean(worklets) && host.canTalk() === true;
      },
      start,
      stop: () => stop(),
      mute(muted) {
        sound?.mute(muted);
        if (state.phase !== 'off') change({ muted });
      },
      silence: () => void interrupt(),
    },
    tap: {
      state: socketChanged,
      settings: () => ({ audio: { input: { format: pcmFormat }, output: { format: pcmFormat } } }),
      take,
      sent(event) {
        const ms = (String(event['audio']).length * 3) / 4 / 2 / (wireHz / 1000);
        sentMs += ms;
        sentAt = performance.now();
        emit({ type: 'sound', direction: 'out', event: event.type, ms });
      },
    },
    close() {
      const closed = sound;
      sound = undefined;
      closed?.close();
      if (state.phase !== 'off') switchOff();
    },
  };
}
