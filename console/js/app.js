// The frame of the page: the key, the views, the theme.
import { all, call, key } from './api.js';
import { field, fill, h, notice } from './dom.js';
import { sessionList, sessionPage } from './sessions.js';
import { Talk } from './talk.js';

const main = document.getElementById('main');
const nav = document.getElementById('nav');
const forget = document.getElementById('forget');
const who = document.getElementById('who');
let talk;

function route() {
  const [view, id] = location.hash.slice(1).split('/');
  const known = Boolean(key.get());
  nav.hidden = forget.hidden = !known;
  if (!known) {
    who.textContent = '';
    return fill(main, askKey());
  }
  for (const link of nav.children) {
    if (link.hash === `#${view === 'session' ? 'sessions' : view || 'talk'}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (view === 'session' && id) return fill(main, sessionPage(decoded(id)));
  if (view === 'sessions') return fill(main, sessionList());
  talk ??= new Talk();
  fill(main, talk.element);
}

/** A decoded part of the address, or the part itself when it cannot be decoded. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The form for the key. A key is tried before it is kept. */
function askKey() {
  const trouble = h('div');
  const input = h('input', {
    type: 'password',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'prl_…',
  });
  const submit = async (event) => {
    event.preventDefault();
    const typed = input.value.trim();
    if (!/^[!-~]+$/.test(typed)) {
      // no header can hold such a key
      notice(
        trouble,
        'This is no API key: it has spaces, or letters that no key has. Check that all of it was copied, and nothing else.',
      );
      return input.select();
    }
    key.set(typed);
    try {
      await enter();
      route();
      main.focus(); // the form, which had the focus, is gone
    } catch (failure) {
      key.forget();
      notice(
        trouble,
        failure.status === 401
          ? 'This key is not known here, or is not valid any more. Check that all of it was copied.'
          : failure.message,
      );
      input.select();
    }
  };
  return h(
    'form',
    { class: 'panel key', onsubmit: submit },
    h('h2', {}, 'Your API key'),
    h(
      'p',
      {},
      'parlance dev prints one when it starts (API key). Elsewhere: parlance keys create, or whoever runs your installation.',
    ),
    trouble,
    field(
      'API key',
      input,
      'It is kept in this tab only, until the tab is closed. Scope: read shows past sessions, runtime talks.',
    ),
    h('button', { type: 'submit' }, 'Enter'),
  );
}

/** Tries the key, and shows whose it is. */
async function enter() {
  const workspaces = await all('workspaces', 'workspaces', {}, 1);
  try {
    who.textContent = (await call('GET', 'tenant')).name;
  } catch {
    who.textContent = workspaces[0]?.name ?? ''; // a key of one workspace may not read the tenant
  }
}

forget.addEventListener('click', () => {
  talk?.close();
  talk = undefined;
  key.forget();
  location.hash = '';
  route();
  main.querySelector('input').focus();
});

// The theme is kept in the browser, whatever the key.
const themes = ['system', 'light', 'dark'];
const themeButton = document.getElementById('theme');
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  themeButton.textContent = `Theme: ${name}`;
  try {
    localStorage.setItem('parlance.theme', name);
  } catch {
    // A browser without storage shows the system's theme each time.
  }
}
themeButton.addEventListener('click', () =>
  setTheme(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length]),
);
let theme = 'system';
try {
  theme = localStorage.getItem('parlance.theme') ?? theme;
} catch {
  // No storage, as above.
}
setTheme(themes.includes(theme) ? theme : 'system');

window.addEventListener('hashchange', () => {
  if (location.hash === '#main') return; // "Skip to the content" is no view
  route();
  main.focus();
});
if (key.get()) enter().catch(() => {}); // the view shows the error of an invalid key
route();
