// What the page shows of a session's voice: buttons, levels, who speaks, where the time goes.
import { fill, h, notice } from './dom.js';

const headphonesKey = 'parlance.headphones';

/** The loudness at which a level is empty, in decibels below full scale. */
const quietDB = -60;

/**
 * The panel of a Voice, or of a session without a voice socket (voice is undefined): there `renew`
 * starts another session that has one.
 */
export class VoicePanel {
  #voice;
  #renew;
  #over = false;
  #trouble = h('div');
  #hint = h('div');
  #talk = h('button', { type: 'button', onclick: () => this.#pressed() }, 'Talk');
  #mute = h(
    'button',
    {
      'type': 'button',
      'class': 'quiet',
      'aria-pressed': 'false',
      'hidden': true,
      'onclick': () => {
        this.#voice.muted = !this.#voice.muted;
      },
    },
    'Mute',
  );
  #who = h('span', { class: 'who' });
  #input = level('Loudness of your microphone');
  #output = level('Loudness of the agent');
  #levels = h('span', { class: 'levels', hidden: true }, 'You ', this.#input, ' Agent ', this.#output);

  constructor(voice, renew) {
    this.#voice = voice;
    this.#renew = renew;
    this.element = h(
      'section',
      { 'class': 'voice', 'aria-label': 'Voice' },
      this.#trouble,
      this.#hint,
      h('div', { class: 'row' }, this.#talk, this.#mute, this.#who, this.#levels),
      voice?.latency.element,
    );
    voice?.addEventListener('changed', () => this.#show());
    voice?.addEventListener('levels', () => {
      this.#input.value = voice.inputDB;
      this.#output.value = voice.outputDB;
    });
  }

  /** Whether the session is over, or another page has it: talking cannot be begun any more. */
  set over(over) {
    this.#over = over;
    this.#show();
  }

  /** Starts talking, as the button does. */
  async start() {
    this.#showHeadphones();
    const hadFocus = document.activeElement === this.#talk;
    const started = this.#voice.start();
    if (hadFocus) this.#mute.focus(); // the space bar mutes now
    await started;
  }

  #pressed() {
    if (!this.#voice) return this.#offer();
    if (this.#voice.phase === 'off') return this.start();
    return this.#voice.stop();
  }

  #offer() {
    fill(
      this.#trouble,
      h(
        'p',
        { class: 'notice hint', role: 'status' },
        'This session takes text only. ',
        h(
          'button',
          { type: 'button', class: 'quiet', onclick: this.#renew },
          'Start one with the same settings to talk',
        ),
      ),
    );
  }

  /** The hint about headphones, once in each browser. */
  #showHeadphones() {
    try {
      if (localStorage.getItem(headphonesKey)) return;
      localStorage.setItem(headphonesKey, 'told');
    } catch {
      // A browser without storage is told each time.
    }
    fill(
      this.#hint,
      h(
        'p',
        { class: 'notice hint', role: 'status' },
        'Headphones help: without them the microphone also hears the agent, which may then interrupt itself. ',
        h('button', { type: 'button', class: 'quiet', onclick: () => fill(this.#hint) }, 'Understood'),
      ),
    );
  }

  #show() {
    const { phase = 'off', hears = true, trouble = '', muted = false } = this.#voice ?? {};
    const off = phase === 'off';
    this.#talk.disabled = off && this.#over;
    this.#talk.textContent = off ? 'Talk' : 'Stop';
    this.#talk.setAttribute('aria-label', off ? 'Talk with the agent' : 'Stop talking with the agent');
    const lost = this.#mute === document.activeElement && (off || !hears);
    this.#mute.hidden = off || !hears;
    if (lost) this.#talk.focus();
    this.#mute.setAttribute('aria-pressed', String(muted));
    this.#levels.hidden = off;
    this.#who.textContent = this.#words();
    if (off) fill(this.#hint);
    if (hears || trouble) return notice(this.#trouble, trouble);
    if (!this.#trouble.textContent) notice(this.#trouble, unheard, 'hint');
  }

  #words() {
    const { phase = 'off', hears, muted, userSpeaks, agentSpeaks } = this.#voice ?? {};
    if (phase === 'off') return '';
    if (phase === 'asking') return 'Waiting until you allow the microphone …';
    if (phase === 'connecting') return 'Connecting …';
    if (userSpeaks) return 'You are speaking.';
    if (agentSpeaks) return 'The agent is speaking.';
    if (!hears) return 'Type; the agent answers aloud.';
    return muted ? 'You are muted. Nobody is speaking.' : 'Nobody is speaking.';
  }
}

const unheard =
  'This installation has nothing that understands speech, so the microphone is off. Whoever runs it can set' +
  ' PARLANCE_STT_BASE_URL. Until then type: what you type is answered aloud if there is a voice.';

const level = (name) => h('meter', { 'min': quietDB, 'max': 0, 'value': quietDB, 'aria-label': name });
