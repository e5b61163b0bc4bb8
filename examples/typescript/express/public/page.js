import { connect } from '/sdk/session/index.js';

const form = document.querySelector('form');
const messages = document.querySelector('#messages');
const state = document.querySelector('#state');

/** Adds a message to the page. */
function add(text) {
  const item = document.createElement('li');
  item.textContent = text;
  messages.append(item);
  return item;
}

async function fetchSession() {
  const response = await fetch('/api/session', { method: 'POST' });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
}

const session = connect({ fetchSession });
const answers = new Map();
session.on('state', () => (state.textContent = session.state.text));
session.on('answer.delta', ({ messageId, delta }) => {
  if (!answers.has(messageId)) answers.set(messageId, add(''));
  answers.get(messageId).textContent += delta;
});
session.on('error', ({ message }) => (state.textContent = message));

form.addEventListener('submit', (event) => {
  event.preventDefault();
  add(form.text.value);
  session.send(form.text.value);
  form.reset();
});
document.querySelector('#end').addEventListener('click', () => session.hangUp());
