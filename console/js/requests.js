// What the agent waits for: results of tools that this page runs in a client's place, and approvals.
import { announce, fill, h, json } from './dom.js';

const exampleResult = '{"ok": true}';

/** The requests that are open, and the forms that answer them. */
export class Requests {
  #open = new Map(); #asked = []; #send; #toolSeconds; #left;

  /**
   * send(event) sends to the socket and says whether it could. toolSeconds is how long the agent waits for a result; left
   * gets the focus of the last form.
   */
  constructor(send, { toolSeconds, left } = {}) {
    this.#send = send;
    this.#toolSeconds = toolSeconds;
    this.#left = left;
    this.element = h('section', { class: 'requests', 'aria-label': 'What the agent waits for', hidden: true });
  }

  /** Takes a server event. */
  take(event) {
    const item = event.item ?? {};
    if (event.type === 'response.output_item.done' && item.type === 'function_call') this.#ask(item.call_id, this.#toolForm(item), `The agent calls your tool ${item.name}.`);
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

  /** The session is over. */
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

  /** Ends a request that was not answered here; a result that somebody is writing stays to be read and copied. */
  #expire(id, ...words) {
    const form = this.#open.get(id);
    if (!form || form.dataset.expired) return;
    announce(`Too late for ${form.dataset.name}. ${words[0]}`);
    const area = form.querySelector('textarea');
    if (!area || area.value === exampleResult) return this.#close(id);
    form.dataset.expired = 'yes';
    area.readOnly = true;
    fill(form.querySelector('.limit'), ...words);
    form.querySelector('button').replaceWith(h('button', { type: 'button', class: 'quiet', onclick: () => this.#close(id) }, 'Put it away'));
  }

  /**
   * A call that was made, or refused, is not waited for any more. It does not say which request was its own; but calls
   * are told of in the order in which they were asked about, so of those that are alike it is the first.
   */
  #decided({ name, arguments: given }) {
    const at = this.#asked.findIndex((a) => a.name === name && a.arguments === given);
    if (at >= 0) this.#close(this.#asked.splice(at, 1)[0].id);
  }

  /** Nobody waits for an approval when its answer is over, as when it was stopped. */
  #answered(response) {
    for (const { id } of this.#asked.filter((a) => a.response === response)) this.#close(id);
    this.#asked = this.#asked.filter((a) => a.response !== response);
  }

  #toolForm(item) {
    const output = h('textarea', { rows: 3, dir: 'auto', value: exampleResult, 'aria-label': `Result of ${item.name}` });
    const submit = (event) => {
      event.preventDefault();
      const sent = this.#send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id: item.call_id, output: output.value } }) &&
        this.#send({ type: 'response.create' });
      if (sent) this.#close(item.call_id);
    };
    return h('form', { class: 'request', onsubmit: submit, 'data-call': item.call_id, 'data-name': item.name },
      h('h3', {}, 'Your tool is called: ', h('code', {}, item.name)), h('h4', {}, 'Arguments'), json(item.arguments ?? ''),
      h('h4', {}, 'Result, as your client would give it'), output, h('div', { class: 'help limit' }, `The agent waits ${this.#toolSeconds} s for it.`),
      h('button', { type: 'submit' }, 'Send the result'));
  }

  #approvalForm(item) {
    const reason = h('input', { dir: 'auto', 'aria-label': 'Reason', placeholder: 'Reason (optional)', maxlength: 500 });
    const answer = (approve) => {
      const response = { type: 'mcp_approval_response', approval_request_id: item.id, approve };
      if (reason.value) response.reason = reason.value;
      if (this.#send({ type: 'conversation.item.create', item: response })) this.#close(item.id);
    };
    return h('form', { class: 'request', onsubmit: (event) => event.preventDefault(), 'data-name': item.name },
      h('h3', {}, 'May the agent call ', h('code', {}, item.name), '?'), h('h4', {}, 'Arguments'), json(item.arguments ?? ''), reason,
      h('div', { class: 'row' }, h('button', { type: 'button', onclick: () => answer(true) }, 'Approve'), h('button', { type: 'button', class: 'quiet', onclick: () => answer(false) }, 'Refuse')));
  }
}
