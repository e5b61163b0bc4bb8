// The spoken half of a session: its voice socket, the microphone and the loudspeaker.
import { Latency } from './latency.js';
import { base64Of, bytesOf, lengthMS, silentDB, wireHz } from './pcm.js';
import { Conversation } from './realtime.js';
import { Sound } from './sound.js';

const pcmFormat = { type: 'audio/pcm', rate: wireHz };

/** How long stop() waits for the audio thread to tell what was heard. */
const patienceMS = 300;

/** Begins the ids of events whose errors concern nobody: the answer had ended before they came. */
const ownEvent = 'console_voice_';

/**
 * A session's voice. It is off until start(). It dispatches
 *
 * - `event` (detail): an event of the service, without those that are sound
 * - `sent` (detail): an event that was sent, without those that are sound
 * - `sound` (detail: { direction, type, ms }): an event with sound
 * - `socket` (detail): a state of the socket, as Conversation has them
 * - `changed`: one of the members below is another
 * - `levels`: inputDB or outputDB is another
 */
export class Voice extends EventTarget {
  /** off, asking (for the microphone), connecting or on. */
  phase = 'off';
  /** Whether the user, or the agent, is heard to speak now. */
  userSpeaks = false;
  agentSpeaks = false;
  /** Whether the service has something that understands speech. */
  hears = true;
  /** Why it is off, or waits for a connection. */
  trouble = '';
  inputDB = silentDB;
  outputDB = silentDB;
  latency = new Latency();

  #session;
  #tools;
  #conversation;
  #sound;
  #interrupts = true;
  /** The response of each item whose sound is coming. */
  #coming = new Map();
  /** Responses that were interrupted: their sound is not played any more. */
  #cut = new Set();
  #sentMS = 0;
  #sentAt = 0;
  #events = 0;

  /** tools are the client's tools, which each socket declares. */
  constructor(session, tools) {
    super();
    this.#session = session;
    this.#tools = tools;
  }

  get open() {
    return Boolean(this.#conversation?.open);
  }

  get muted() {
    return Boolean(this.#sound?.muted);
  }

  set muted(muted) {
    if (this.#sound) this.#sound.muted = muted;
    this.#change();
  }

  /** Starts. Resolves once there is a connection, or none can be had. */
  async start() {
    if (this.phase !== 'off') return;
    const sound = new Sound();
    this.#sound = sound;
    this.#change({ phase: 'asking', trouble: '', hears: true });
    sound.addEventListener('frame', ({ detail }) => this.#frame(detail));
    sound.addEventListener('playing', ({ detail }) => this.#playing(detail));
    sound.addEventListener('lost', () => this.stop('The microphone is gone.'));
    try {
      await sound.open();
    } catch (failure) {
      if (this.#sound === sound) this.#off(failure.message);
      return;
    }
    if (this.#sound === sound) await this.#connect();
  }

  /** Resolves with the first state of the socket that is not an attempt. */
  #connect() {
    this.#change({ phase: 'connecting' });
    const conversation = new Conversation(this.#session.id, this.#session.ws_url);
    this.#conversation = conversation;
    conversation.addEventListener('event', ({ detail }) => this.#take(detail));
    conversation.addEventListener('sent', ({ detail }) => {
      if (detail.type !== 'input_audio_buffer.append') this.#dispatch('sent', detail);
    });
    return new Promise((resolve) => {
      conversation.addEventListener('state', ({ detail }) => {
        this.#socketChanged(detail);
        if (detail.name !== 'connecting') resolve();
      });
      conversation.connect();
    });
  }

  /** Connects again after drop(). */
  reconnect() {
    if (this.#conversation && !this.open) this.#conversation.connect();
  }

  /** Loses the connection on purpose. */
  drop() {
    this.#conversation?.drop();
  }

  /** Sends an event over the voice socket; false when there is no connection. */
  send(event) {
    return Boolean(this.#conversation?.send(event));
  }

  /** Has the agent be silent. */
  silence() {
    if (this.#sound) this.#interrupt();
  }

  /** Stops listening and speaking. The session goes on. `why` is shown. */
  async stop(why = '') {
    const sound = this.#sound,
      conversation = this.#conversation;
    if (!sound) return;
    sound.closeMicrophone();
    if (conversation?.open) {
      this.send({ type: 'output_audio_buffer.clear' });
      await Promise.race([this.#interrupt(), new Promise((resolve) => setTimeout(resolve, patienceMS))]);
    }
    conversation?.leave();
    sound.close();
    if (this.#sound === sound) this.#off(why);
  }

  /** Stops at once, because the page or the session is left. */
  leave() {
    this.#conversation?.leave();
    this.#sound?.close();
    this.#off();
  }

  #off(trouble = '') {
    this.#sound = this.#conversation = undefined;
    this.#coming.clear();
    this.#cut.clear();
    this.inputDB = this.outputDB = silentDB;
    this.#change({ phase: 'off', trouble, userSpeaks: false, agentSpeaks: false });
    this.#dispatch('levels');
  }

  #change(members = {}) {
    Object.assign(this, members);
    this.#dispatch('changed');
  }

  #dispatch(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #socketChanged(state) {
    this.#dispatch('socket', state);
    if (state.name === 'open') {
      this.#sentMS = 0; // the service counts sound from the beginning of a connection
      const audio = { input: { format: pcmFormat }, output: { format: pcmFormat } };
      const session = { type: 'realtime', audio, ...(this.#tools.length > 0 && { tools: this.#tools }) };
      this.send({ type: 'session.update', session });
      this.#change({ phase: 'on', trouble: '', userSpeaks: false });
    }
    if (state.name === 'waiting') this.#change({ phase: 'connecting', trouble: state.text, userSpeaks: false });
    if (state.name === 'closed') {
      this.#sound?.finish(); // what the agent said last is heard to its end
      this.#off(state.text);
    }
  }

  #frame({ pcm, loudnessDB }) {
    if (!this.#sound || !this.hears) return;
    this.inputDB = loudnessDB;
    this.#dispatch('levels');
    if (!this.send({ type: 'input_audio_buffer.append', audio: base64Of(pcm) })) return;
    const ms = lengthMS(pcm);
    this.#sentMS += ms;
    this.#sentAt = performance.now();
    this.#dispatch('sound', { direction: '→', type: 'input_audio_buffer.append', ms });
  }

  #playing({ playing, loudnessDB }) {
    if (!this.#sound) return;
    this.outputDB = loudnessDB;
    this.#dispatch('levels');
    if (playing !== this.agentSpeaks) this.#change({ agentSpeaks: playing });
  }

  #take(event) {
    if (event.type === 'response.output_audio.delta') return this.#play(event);
    const isOwn = String(event.error?.event_id ?? '').startsWith(ownEvent);
    this.#follow(event);
    this.#dispatch('event', { ...event, isHandled: isOwn || event.error?.code === 'stt-not-configured' });
  }

  #follow(event) {
    const now = performance.now();
    switch (event.type) {
      case 'session.created':
      case 'session.updated':
        this.#interrupts = event.session?.audio?.input?.turn_detection?.interrupt_response !== false;
        break;
      case 'input_audio_buffer.speech_started':
        this.latency.reset();
        if (this.#interrupts) this.#interrupt();
        this.#change({ userSpeaks: true });
        break;
      case 'input_audio_buffer.speech_stopped':
        this.latency.begin(this.#sentAt - (this.#sentMS - event.audio_end_ms), now);
        this.#change({ userSpeaks: false });
        break;
      case 'conversation.item.input_audio_transcription.completed':
        this.latency.reach('transcript', now);
        break;
      case 'response.output_audio_transcript.delta':
        this.latency.reach('token', now);
        break;
      case 'response.output_audio.done':
        this.#coming.delete(event.item_id);
        this.#sound?.end(event.item_id);
        break;
      case 'parlance.timing':
        this.latency.measured(event);
        break;
      case 'conversation.item.truncated': // only the item tells which words were heard
        this.send({ type: 'conversation.item.retrieve', event_id: this.#ownID(), item_id: event.item_id });
        break;
      case 'response.done':
        this.#cut.delete(event.response?.id);
        break;
      case 'error':
        if (event.error?.code === 'stt-not-configured') this.#unheard();
        break;
    }
  }

  /** Nothing here understands speech: the microphone is not needed. */
  #unheard() {
    this.#sound?.closeMicrophone();
    this.inputDB = silentDB;
    this.#dispatch('levels');
    this.#change({ hears: false, userSpeaks: false });
  }

  #play({ response_id: response, item_id: item, delta }) {
    const pcm = bytesOf(delta);
    this.#dispatch('sound', { direction: '←', type: 'response.output_audio.delta', ms: lengthMS(pcm) });
    if (!this.#sound || this.#cut.has(response)) return;
    this.latency.reach('sound', performance.now());
    this.#coming.set(item, response);
    this.#sound.play(item, pcm);
  }

  /** Has the agent be silent, and tells the service how much of what it said was heard. */
  async #interrupt() {
    const unfinished = new Set(this.#coming.keys());
    for (const response of this.#coming.values()) this.#cut.add(response);
    this.#coming.clear();
    for (const { item, playedMS, leftMS } of (await this.#sound?.clear()) ?? []) {
      if (leftMS === 0 && !unfinished.has(item)) continue; // it was heard to its end
      this.send({
        type: 'conversation.item.truncate',
        event_id: this.#ownID(),
        item_id: item,
        content_index: 0,
        audio_end_ms: Math.floor(playedMS),
      });
    }
  }

  #ownID() {
    return `${ownEvent}${++this.#events}`;
  }
}
