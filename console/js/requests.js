// What the agent waits for: results of tools that this page runs in a client's place, and approvals.
import { announce, h, json } from './dom.js';

/** The requests that are open, and the forms that answer them. */
export class Requests {
  #open = new Map();
  #send;

  /** send(event) sends to the socket and says whether it could. */
  constructor(send) {
    this.#send = send;
    this.element = h('section', { class: 'requests', 'aria-label': 'What the agent waits for', hidden: true });
  }

  /** Takes a server event. */
  take(event) {
    const item = event.item ?? {};
    if (event.type === 'response.output_item.done' && item.type === 'function_call') this.#ask(item.call_id, this.#toolForm(item), `The agent calls your tool ${item.name}.`);
    if (event.type === 'response.output_item.done' && item.type === 'mcp_approval_request') this.#ask(item.id, this.#approvalForm(item), `The agent asks whether it may call ${item.name}.`);
    if (event.type === 'conversation.item.added' && item.type === 'function_call_output') this.#close(item.call_id);
    if (event.type === 'response.output_item.done' && item.type === 'mcp_call') this.#closeApprovals(item);
  }

  clear() {
    for (const id of [...this.#open.keys()]) this.#close(id);
  }

  #ask(id, form, words) {
    this.#close(id);
    this.#open.set(id, form);
    this.element.hidden = false;
    this.element.append(form);
    announce(words);
  }

  #close(id) {
    this.#open.get(id)?.remove();
    this.#open.delete(id);
    this.element.hidden = this.#open.size === 0;
  }

  /** A call that was made, or refused, is not waited for any more. */
  #closeApprovals({ name }) {
    for (const [id, form] of this.#open) if (form.dataset.approves === name) this.#close(id);
  }

  #toolForm(item) {
    const output = h('textarea', { rows: 3, value: '{"ok": true}', 'aria-label': `Result of ${item.name}` });
    const submit = (event) => {
      event.preventDefault();
      const sent = this.#send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id: item.call_id, output: output.value } }) &&
        this.#send({ type: 'response.create' });
      if (sent) this.#close(item.call_id);
    };
    return h('form', { class: 'request', onsubmit: submit, 'data-call': item.call_id },
      h('h3', {}, 'Your tool is called: ', h('code', {}, item.name)), h('h4', {}, 'Arguments'), json(item.arguments ?? ''),
      h('h4', {}, 'Result, as your client would give it'), output, h('button', { type: 'submit' }, 'Send the result'));
  }

  #approvalForm(item) {
    const reason = h('input', { 'aria-label': 'Reason', placeholder: 'Reason (optional)', maxlength: 500 });
    const answer = (approve) => {
      const response = { type: 'mcp_approval_response', approval_request_id: item.id, approve };
      if (reason.value) response.reason = reason.value;
      if (this.#send({ type: 'conversation.item.create', item: response })) this.#close(item.id);
    };
    return h('form', { class: 'request', onsubmit: (event) => event.preventDefault(), 'data-approves': item.name },
      h('h3', {}, 'May the agent call ', h('code', {}, item.name), '?'), h('h4', {}, 'Arguments'), json(item.arguments ?? ''), reason,
      h('div', { class: 'row' }, h('button', { type: 'button', onclick: () => answer(true) }, 'Approve'), h('button', { type: 'button', class: 'quiet', onclick: () => answer(false) }, 'Refuse')));
  }
}
