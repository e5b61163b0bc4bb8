// The microphone and the loudspeaker of this machine, for one call.

/** Why there is no microphone, by the name of the browser's error. */
const refusals = {
  NotAllowedError:
    'The browser does not let this page use the microphone. Allow it beside the address, then press “Talk” again.',
  NotFoundError: 'No microphone was found. Connect one, then press “Talk” again.',
  NotReadableError: 'The microphone cannot be used. Perhaps another program has it.',
};

/**
 * The sound of a call. It dispatches
 *
 * - `frame` (detail: { pcm, loudnessDB }): 20 ms of what the microphone hears, also when it is muted
 * - `playing` (detail: { playing, loudnessDB }): what the loudspeaker does, every 40 ms
 * - `lost`: the microphone is gone
 *
 * PCM is 16-bit mono at 24 kHz.
 */
export class Sound extends EventTarget {
  #context;
  #stream;
  #microphone;
  #player;
  #clearing = [];
  #playing = false;
  #muted = false;
  #closed = false;

  /** Asks for the microphone. Throws an Error that says why there is none. */
  async open() {
    if (!navigator.mediaDevices?.getUserMedia || !window.AudioWorkletNode)
      throw new Error('Browsers have a microphone only for pages over https:// or on localhost.');
    // Made at once: the browser lets a page make sound only while the user presses something.
    this.#context = new AudioContext({ latencyHint: 'interactive' });
    try {
      this.#stream = await navigator.mediaDevices.getUserMedia({
        audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
      });
      if (!this.#closed) await this.#connect();
      if (this.#closed) this.close(); // close() was called meanwhile
    } catch (error) {
      this.close();
      throw new Error(refusals[error.name] ?? `The microphone could not be opened: ${error.message}`);
    }
  }

  async #connect() {
    const context = this.#context;
    await Promise.all([
      context.resume(),
      context.audioWorklet.addModule(new URL('./microphone-worklet.js', import.meta.url)),
      context.audioWorklet.addModule(new URL('./player-worklet.js', import.meta.url)),
    ]);
    if (this.#closed) return;
    const mono = { channelCount: 1, channelCountMode: 'explicit', outputChannelCount: [1] };
    this.#player = new AudioWorkletNode(context, 'player', { ...mono, numberOfInputs: 0 });
    this.#player.port.onmessage = ({ data }) => this.#played(data);
    this.#player.connect(context.destination);
    this.#microphone = new AudioWorkletNode(context, 'microphone', mono);
    this.#microphone.port.onmessage = ({ data }) => this.#dispatch('frame', data);
    context.createMediaStreamSource(this.#stream).connect(this.#microphone);
    this.#microphone.connect(context.destination); // it is silent, and browsers run only what is connected
    for (const track of this.#stream.getTracks()) {
      track.enabled = !this.#muted;
      track.onended = () => this.#dispatch('lost');
    }
  }

  #dispatch(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #played({ cleared, playing, loudnessDB, items }) {
    if (cleared) return this.#clearing.shift()(cleared.map((one) => ({ ...one, playedMS: this.#heard(one.playedMS) })));
    this.#playing = playing || items.some((i) => i.leftMS > 0);
    this.#dispatch('playing', { playing, loudnessDB });
  }

  /** How much of what was played has left the loudspeaker. */
  #heard(playedMS) {
    return Math.max(0, playedMS - (this.#context.outputLatency || 0) * 1000);
  }

  /** Plays PCM of an item of the conversation behind what is played already. */
  play(item, pcm) {
    this.#playing = true;
    this.#player.port.postMessage({ type: 'play', item, pcm });
  }

  /** Says that no more sound of an item comes. */
  end(item) {
    this.#player.port.postMessage({ type: 'end', item });
  }

  /** Drops what was not played. Resolves to what was: [{ item, playedMS, leftMS }]. */
  clear() {
    this.#player.port.postMessage({ type: 'clear' });
    return new Promise((resolve) => this.#clearing.push(resolve));
  }

  get muted() {
    return this.#muted;
  }

  /** A muted microphone hears silence. */
  set muted(muted) {
    this.#muted = muted;
    for (const track of this.#stream?.getTracks() ?? []) track.enabled = !muted;
  }

  /** Stops the microphone. What is to be played is played. */
  closeMicrophone() {
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
    this.#microphone?.port.postMessage({ type: 'close' });
  }

  /** Stops the microphone, and the loudspeaker when what waits was played. */
  finish() {
    this.closeMicrophone();
    if (!this.#playing) return this.close();
    this.addEventListener('playing', () => {
      if (!this.#playing) this.close();
    });
  }

  /** Stops everything. */
  close() {
    this.#closed = true;
    this.closeMicrophone();
    this.#player?.port.postMessage({ type: 'close' });
    if (this.#context && this.#context.state !== 'closed') this.#context.close();
  }
}
