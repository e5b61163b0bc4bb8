// The live conversation. Messages go over the socket; details of finished turns come from the
// transcript.
import { call, path } from './api.js';
import { announce, copyButton, facts, fill, h, json, notice } from './dom.js';
import { EventLog } from './log.js';
import { Now } from './now.js';
import { Conversation } from './realtime.js';
import { Requests } from './requests.js';
import { setup } from './setup.js';
import { Transcript } from './transcript.js';
import { Voice } from './voice.js';
import { VoicePanel } from './voicepanel.js';

/** The view. It goes on while another view is shown. */
export class Talk {
  element = h('div', { class: 'talk' });
  #live;

  constructor() {
    this.#begin();
  }

  #begin() {
    this.#live?.leave();
    this.#live = undefined;
    fill(
      this.element,
      setup((made) => this.#enter(made)),
      h(
        'section',
        { class: 'panel hint' },
        h('h2', {}, 'What this page is for'),
        h(
          'p',
          {},
          'Pick an agent, type or talk, and see what the answer was made of: passages with their scores, calls of' +
            ' tools, the receipt, where the time went, and each event of the socket.',
        ),
        h('p', {}, 'The key stays in this tab. Nothing is loaded from elsewhere.'),
      ),
    );
  }

  /** Shows a session. `made.talks` says that it begins with the microphone. */
  #enter(made) {
    this.#live = new Live(made, {
      again: () => {
        this.#begin();
        this.element.closest('main')?.focus(); // the button that was pressed is gone
      },
      renew: () => this.#renew(made),
    });
    fill(this.element, this.#live.element);
    this.#live.start(made.talks);
  }

  /** Replaces a session that takes text only by one with the same settings that can be talked with. */
  async #renew(made) {
    const body = { ...made.body, modality: 'voice+text' };
    const old = this.#live;
    try {
      const session = await call('POST', 'sessions', { body });
      old.leave();
      this.#enter({ ...made, body, session, talks: true });
    } catch (failure) {
      old.fail(failure.message);
    }
  }

  /** Leaves the session without ending it. */
  close() {
    this.#live?.leave();
  }
}

/** How far from the end of the conversation still counts as its end. */
const nearPX = 30;

/** How long an agent waits for a client's tool by default. */
const toolSeconds = 20;

/** A session in progress. */
class Live {
  #conversation;
  #voice;
  #panel;
  #transcript;
  #requests;
  #log = new EventLog();
  #clientTools;
  #now = new Now();
  #over = false;
  #follow = true;
  #top = 0;
  #said;
  #left = new AbortController();
  #grown = new ResizeObserver(() => this.#scroll());
  #trouble = h('div');
  #state = h('p', { class: 'state', role: 'status' });
  #turns = h('div', { class: 'turns' });
  #facts = h('div');
  #text = h('textarea', {
    'rows': 2,
    'dir': 'auto',
    'maxlength': 32000,
    'placeholder': 'Say something. Enter sends, Shift+Enter makes a line.',
    'aria-label': 'What you say',
  });
  #sendButton = h('button', { type: 'submit' }, 'Send');
  #cancel = h(
    'button',
    {
      type: 'button',
      class: 'quiet',
      disabled: true,
      onclick: () => {
        this.#send({ type: 'response.cancel' });
        this.#voice?.silence();
      },
    },
    'Stop the answer',
  );
  #drop = h(
    'button',
    {
      type: 'button',
      class: 'quiet',
      title: 'Loses the connection, to see that the session survives it',
      onclick: () => {
        this.#voice?.drop();
        this.#conversation.drop();
      },
    },
    'Drop the connection',
  );
  #reconnect = h(
    'button',
    {
      type: 'button',
      class: 'quiet',
      hidden: true,
      onclick: () => {
        this.#voice?.reconnect();
        this.#conversation.connect();
      },
    },
    'Reconnect',
  );
  #end = h('button', { type: 'button', class: 'quiet', onclick: () => this.#endSession() }, 'End the session');

  /** again() shows the settings of another session, renew() begins one that can be talked with. */
  constructor({ session, agent, clientTools, body }, { again, renew }) {
    this.session = session;
    this.agent = agent;
    this.#clientTools = clientTools;
    this.#conversation = new Conversation(session.id, session.chat_url);
    this.#transcript = new Transcript(session.id, this.#turns);
    this.#requests = new Requests((event) => this.#send(event), {
      toolSeconds: agent?.tools_config?.client_tool_timeout_seconds || toolSeconds,
      left: this.#text,
    });
    this.#conversation.addEventListener('event', ({ detail }) => this.#take(detail));
    this.#conversation.addEventListener('sent', ({ detail }) => this.#log.add('→', detail));
    this.#conversation.addEventListener('state', ({ detail }) => this.#changed(detail));
    if (body.modality !== 'text') this.#voice = this.#voiceOf(session);
    this.#panel = new VoicePanel(this.#voice, renew);
    this.#text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.#say();
      }
    });
    const form = h(
      'form',
      {
        class: 'say',
        onsubmit: (event) => {
          event.preventDefault();
          this.#say();
        },
      },
      this.#panel.element,
      this.#text,
      h('div', { class: 'row' }, this.#sendButton, this.#cancel, this.#state),
    );
    window.addEventListener('scroll', () => this.#scrolled(), { passive: true, signal: this.#left.signal });
    this.#turns.addEventListener('click', ({ target }) => {
      if (target.closest('summary')) this.#follow = false;
    }); // what was opened is read now
    window.addEventListener(
      'beforeunload',
      (event) => {
        if (!this.#over) event.preventDefault();
      },
      { signal: this.#left.signal },
    ); // the page is all that knows the way back
    this.#said = h(
      'section',
      { 'class': 'conversation', 'aria-label': 'Conversation' },
      this.#turns,
      this.#now.element,
      this.#requests.element,
      this.#trouble,
      form,
    );
    this.#grown.observe(this.#said);
    this.element = h(
      'div',
      { class: 'live' },
      this.#said,
      h(
        'aside',
        {},
        h(
          'section',
          { 'class': 'panel', 'aria-label': 'Session' },
          h('h2', {}, `Talking to ${agent?.name ?? 'the agent'}`),
          this.#facts,
          h(
            'div',
            { class: 'row' },
            this.#end,
            this.#drop,
            this.#reconnect,
            copyButton('Copy the id', () => session.id),
            h('button', { type: 'button', class: 'quiet', onclick: again }, 'Another session'),
          ),
        ),
        this.#log.element,
      ),
    );
  }

  /** Connects. With `talks` the voice socket is the first, so that a greeting is spoken. */
  async start(talks) {
    this.#showSession();
    if (talks) await this.#panel.start();
    if (!this.#left.signal.aborted) this.#conversation.connect();
  }

  #voiceOf(session) {
    const voice = new Voice(session, this.#clientTools);
    voice.addEventListener('event', ({ detail }) => this.#take(detail));
    voice.addEventListener('sent', ({ detail }) => this.#log.add('→', detail));
    voice.addEventListener('sound', ({ detail: { direction, type, ms } }) => this.#log.addSound(direction, type, ms));
    voice.addEventListener('socket', ({ detail: { name, text, code, reason } }) => {
      this.#log.add('·', { type: `voice: ${name}`, text, ...(code !== undefined && { code, reason }) });
    });
    voice.addEventListener('changed', () => this.#canStop());
    const { signal } = this.#left;
    window.addEventListener('pagehide', () => voice.leave(), { signal });
    window.addEventListener(
      'hashchange',
      () => {
        if (!this.element.isConnected) voice.stop(); // nobody is heard behind another view
      },
      { signal },
    );
    return voice;
  }

  leave() {
    this.#left.abort();
    this.#voice?.leave();
    this.#grown.disconnect();
    this.#conversation.leave();
  }

  /** Shows why something was not possible. */
  fail(message) {
    notice(this.#trouble, message);
  }

  /** Sends an event, over the voice socket while the user talks: what is asked there is answered aloud. */
  #send(event) {
    const sent = (this.#voice?.open ? this.#voice : this.#conversation).send(event);
    notice(this.#trouble, sent ? '' : 'There is no connection now. It is made again by itself, or with “Reconnect”.');
    return sent;
  }

  #say() {
    const text = this.#text.value.trim();
    if (!text || this.#over) return;
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
    if (!this.#send({ type: 'conversation.item.create', item }) || !this.#send({ type: 'response.create' })) return;
    this.#text.value = '';
    this.#now.said(text);
    this.#follow = true;
    this.#scroll();
  }

  #take(event) {
    this.#log.add('←', event);
    this.#requests.take(event);
    this.#now.take(event);
    this.#canStop();
    switch (event.type) {
      case 'session.created':
        // Client tools belong to a socket, so each connection declares them.
        if (this.#clientTools.length)
          this.#conversation.send({ type: 'session.update', session: { type: 'realtime', tools: this.#clientTools } });
        this.#refresh();
        break;
      case 'response.done':
        this.#done(event.response);
        break;
      case 'conversation.item.truncated':
        this.#refresh();
        break;
      case 'error':
        if (event.isHandled) break;
        notice(this.#trouble, `${event.error?.message ?? 'An event was refused.'} (${event.error?.code ?? 'error'})`);
        break;
    }
  }

  #canStop() {
    const answering = this.#now.answering || this.#voice?.agentSpeaks;
    this.#cancel.disabled = !answering || !(this.#conversation.open || this.#voice?.open);
  }

  #done(response) {
    const failure = response?.status_details?.error;
    if (failure) notice(this.#trouble, `${failure.message ?? 'The answer failed.'} (${failure.code ?? 'failed'})`);
    announce(`The answer is ${response?.status ?? 'over'}.`);
    this.#refresh();
    this.#showSession();
  }

  /** Replaces the exchanges in progress by their turns of the transcript, if it can be read. */
  async #refresh() {
    const over = this.#now.over;
    try {
      await this.#transcript.refresh();
    } catch (failure) {
      return notice(this.#trouble, `The turn’s details could not be read. ${failure.message}`);
    }
    this.#now.settle(this.#transcript.turns, over);
    this.#canStop();
  }

  async #showSession() {
    try {
      const s = await call('GET', `sessions/${path(this.session.id)}`);
      fill(
        this.#facts,
        facts([
          ['Session', h('code', {}, s.id)],
          ['Status', [s.status, s.end_reason].filter(Boolean).join(': ')],
          ['Agent version', s.agent_version],
          ['User', s.user_id],
          ['Modality', s.modality],
          ['Turns', s.turn_count],
          ['Language', s.language],
          ['Tokens', `${s.usage?.input_tokens ?? 0} read, ${s.usage?.output_tokens ?? 0} written`],
          ['Tool calls', s.usage?.tool_calls],
        ]),
        Object.keys(s.dynamic_variables ?? {}).length || Object.keys(s.assigned_variables ?? {}).length
          ? h('details', {}, h('summary', {}, 'Variables'), json({ ...s.dynamic_variables, ...s.assigned_variables }))
          : null,
      );
    } catch {
      // The old facts stay.
    }
  }

  #changed({ name, text, code, reason, back = false }) {
    this.#log.add('·', { type: name, text, ...(code !== undefined && { code, reason }) });
    fill(
      this.#state,
      h('span', { class: `dot ${name}` }),
      text,
      code !== undefined && h('small', {}, ` Close code ${code}${reason ? ` “${reason}”` : ''}.`),
    );
    this.#over = name === 'closed';
    const open = name === 'open';
    this.#sendButton.disabled = !open;
    this.#text.disabled = this.#over;
    this.#drop.disabled = !open;
    this.#reconnect.hidden = !(name === 'waiting' || back);
    this.#end.disabled = this.#over;
    this.#transcript.live = !this.#over; // no events of an unfinished turn follow
    this.#canStop();
    if (open) {
      notice(this.#trouble, '');
      if (document.activeElement === document.body) this.#text.focus();
    }
    this.#panel.over = this.#over;
    if (this.#over) {
      this.#requests.clear();
      this.#refresh();
      this.#showSession();
    }
  }

  async #endSession() {
    try {
      await call('POST', `sessions/${path(this.session.id)}/end`, {
        body: { status: 'completed', reason: 'ended in the console' },
      });
    } catch (failure) {
      notice(this.#trouble, failure.message);
    }
  }

  /**
   * The scroll position that shows the end of the conversation. On a narrow screen more stands
   * below it.
   */
  get #bottom() {
    const { clientHeight, scrollHeight } = document.documentElement;
    return Math.max(
      0,
      Math.min(
        window.scrollY + this.#said.getBoundingClientRect().bottom + nearPX / 2 - clientHeight,
        scrollHeight - clientHeight,
      ),
    );
  }

  /** Stops following the end when the user scrolls away from it. New messages move only the end. */
  #scrolled() {
    const top = window.scrollY,
      up = top < this.#top;
    this.#top = top;
    if (!this.element.isConnected) return;
    const past = top - this.#bottom;
    this.#follow = Math.abs(past) <= nearPX || (this.#follow && !up && past < 0);
  }

  /** Scrolls to the end, unless the user has scrolled away from it. */
  #scroll() {
    if (this.#follow && this.element.isConnected) window.scrollTo({ top: this.#bottom });
  }
}
