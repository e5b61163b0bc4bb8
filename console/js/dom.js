// Elements of the page. No code of the console makes HTML from a string.

const svgNames = new Set(['svg', 'g', 'rect', 'line', 'text', 'title']);

/**
 * Makes an element: h('p', { class: 'note', onclick: f }, 'text', child, …). Children that are
 * null, undefined or false are left out. Properties that are functions become listeners, `value`,
 * `checked`, `open`, `disabled`, `hidden` and `selected` are set as properties, the rest as
 * attributes.
 */
export function h(name, properties, ...children) {
  const element = svgNames.has(name)
    ? document.createElementNS('http://www.w3.org/2000/svg', name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || (value === false && !/^aria-/.test(key))) continue;
    if (typeof value === 'function') element.addEventListener(key.replace(/^on/, ''), value);
    else if (['value', 'checked', 'open', 'disabled', 'hidden', 'selected'].includes(key)) element[key] = value;
    else element.setAttribute(key, String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replaces the content of an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** Has screen readers read a text. */
export function announce(text) {
  document.getElementById('status').textContent = text;
}

let labels = 0;

/** A control with a label, and a help text if there is one. */
export function field(label, control, help) {
  control.id ||= `field-${++labels}`;
  if (help) control.setAttribute('aria-describedby', `${control.id}-help`);
  return h(
    'div',
    { class: 'field' },
    h('label', { for: control.id }, label),
    control,
    help && h('p', { class: 'help', id: `${control.id}-help` }, help),
  );
}

/** Shows an error or a hint; an empty text removes it. */
export function notice(element, text, kind = 'error') {
  fill(element, text ? h('p', { class: `notice ${kind}`, role: kind === 'error' ? 'alert' : 'status' }, text) : null);
}

/** A definition list of [name, value] pairs; those without a value are left out. */
export function facts(pairs) {
  return h(
    'dl',
    { class: 'facts' },
    pairs
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
}

/** A value as indented JSON. A string is shown as it is, unless it holds JSON. */
export function json(value) {
  let shown = value;
  if (typeof value === 'string') {
    try {
      shown = JSON.parse(value);
    } catch {
      return h('pre', {}, value);
    }
  }
  return h('pre', {}, JSON.stringify(shown, null, 2));
}

/** Copies a text. Pages without TLS have no clipboard API, and copy a selection instead. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h('textarea', { class: 'sr', value: text });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  announce('Copied.');
}

/** A button that copies the result of text(). */
export function copyButton(label, text) {
  return h('button', { type: 'button', class: 'quiet', onclick: () => copy(text()) }, label);
}

/** A time of the API in the format of the user's locale. */
export function time(text) {
  if (!text) return '';
  const at = new Date(text);
  return h(
    'time',
    { datetime: text, title: text },
    at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' }),
  );
}

/** A duration in readable units. */
export function duration(ms) {
  if (ms === undefined || ms === null) return '';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 3600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

/** A number with its noun: count(2, 'passage') is "2 passages". */
export const count = (n, noun) => `${n} ${noun}${n === 1 ? '' : 's'}`;
