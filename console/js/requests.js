// What the agent waits for: results of client tools, which the user of this page types, and
// approvals.
import { announce, fill, h, json } from './dom.js';

const exampleResult = '{"ok": true}';

/** The open requests and their forms. */
export class Requests {
  #open = new Map();
  #asked = [];
  #send;
  #toolSeconds;
  #left;

  /**
   * send(event) sends an event and says whether it could. toolSeconds is how long the agent waits
   * for a result. `left` gets the focus when the last form is closed.
   */
  constructor(send, { toolSeconds, left } = {}) {
    this.#send = send;
    this.#toolSeconds = toolSeconds;
    this.#left = left;
    this.element = h('section', { 'class': 'requests', 'aria-label': 'What the agent waits for', 'hidden': true });
  }

  /** Takes a server event. */
  take(event) {
    const item = event.item ?? {};
    if (event.type === 'response.output_item.done' && item.type === 'function_call')
      this.#ask(item.call_id, this.#toolForm(item), `The agent calls your tool ${item.name}.`);
    if (event.type === 'response.output_item.done' && item.type === 'mcp_approval_request') {
      this.#asked.push({ id: item.id, name: item.name, arguments: item.arguments, response: event.response_id });
      this.#ask(item.id, this.#approvalForm(item), `The agent asks whether it may call ${item.name}.`);
    }
    if (event.type === 'response.output_item.done' && item.type === 'mcp_call') this.#decided(item);
    if (event.type === 'conversation.item.added' && item.type === 'function_call_output') {
      this.#expire(item.call_id, 'The agent waits for it no longer.', ' It was told:', json(item.output ?? ''));
    }
    if (event.type === 'response.done') this.#answered(event.response?.id);
  }

  /** Ends all requests: the session has ended. */
  clear() {
    this.#asked = [];
    for (const id of [...this.#open.keys()]) this.#expire(id, 'The session is over.');
  }

  #ask(id, form, words) {
    this.#close(id);
    this.#open.set(id, form);
    this.element.hidden = false;
    this.element.append(form);
    announce(words);
  }

  #close(id) {
    const form = this.#open.get(id);
    const focused = form?.contains(document.activeElement);
    form?.remove();
    this.#open.delete(id);
    this.element.hidden = this.#open.size === 0;
    if (focused) (this.element.querySelector('textarea, input, button') ?? this.#left)?.focus();
  }

  /**
   * Ends a request that was not answered here. A result that the user has begun to type can still
   * be copied.
   */
  #expire(id, ...words) {
    const form = this.#open.get(id);
    if (!form || form.dataset.expired) return;
    announce(`Too late for ${form.dataset.name}. ${words[0]}`);
    const area = form.querySelector('textarea');
    if (!area || area.value === exampleResult) return this.#close(id);
    form.dataset.expired = 'yes';
    area.readOnly = true;
    fill(form.querySelector('.limit'), ...words);
    form
      .querySelector('button')
      .replaceWith(h('button', { type: 'button', class: 'quiet', onclick: () => this.#close(id) }, 'Put it away'));
  }

  /**
   * Closes the request of a call that was made or refused. The call does not name its request.
   * Calls are reported in the order of their requests, so of several equal requests it is the
   * first.
   */
  #decided({ name, arguments: given }) {
    const at = this.#asked.findIndex((a) => a.name === name && a.arguments === given);
    if (at >= 0) this.#close(this.#asked.splice(at, 1)[0].id);
  }

  /** Closes the approvals of a response that has ended. */
  #answered(response) {
    for (const { id } of this.#asked.filter((a) => a.response === response)) this.#close(id);
    this.#asked = this.#asked.filter((a) => a.response !== response);
  }

  #toolForm(item) {
    const output = h('textarea', {
      'rows': 3,
      'dir': 'auto',
      'value': exampleResult,
      'aria-label': `Result of ${item.name}`,
    });
    const submit = (event) => {
      event.preventDefault();
      const sent =
        this.#send({
          type: 'conversation.item.create',
          item: { type: 'function_call_output', call_id: item.call_id, output: output.value },
        }) && this.#send({ type: 'response.create' });
      if (sent) this.#close(item.call_id);
    };
    return h(
      'form',
      { 'class': 'request', 'onsubmit': submit, 'data-call': item.call_id, 'data-name': item.name },
      h('h3', {}, 'Your tool is called: ', h('code', {}, item.name)),
      h('h4', {}, 'Arguments'),
      json(item.arguments ?? ''),
      h('h4', {}, 'Result, as your client would give it'),
      output,
      h('div', { class: 'help limit' }, `The agent waits ${this.#toolSeconds} s for it.`),
      h('button', { type: 'submit' }, 'Send the result'),
    );
  }

  #approvalForm(item) {
    const reason = h('input', {
      'dir': 'auto',
      'aria-label': 'Reason',
      'placeholder': 'Reason (optional)',
      'maxlength': 500,
    });
    const answer = (approve) => {
      const response = { type: 'mcp_approval_response', approval_request_id: item.id, approve };
      if (reason.value) response.reason = reason.value;
      if (this.#send({ type: 'conversation.item.create', item: response })) this.#close(item.id);
    };
    return h(
      'form',
      { 'class': 'request', 'onsubmit': (event) => event.preventDefault(), 'data-name': item.name },
      h('h3', {}, 'May the agent call ', h('code', {}, item.name), '?'),
      h('h4', {}, 'Arguments'),
      json(item.arguments ?? ''),
      reason,
      h(
        'div',
        { class: 'row' },
        h('button', { type: 'button', onclick: () => answer(true) }, 'Approve'),
        h('button', { type: 'button', class: 'quiet', onclick: () => answer(false) }, 'Refuse'),
      ),
    );
  }
}
