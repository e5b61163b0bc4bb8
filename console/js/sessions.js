// Past and current sessions: a list with filters, and the page of one session with its transcript.
import { all, call, path } from './api.js';
import { copyButton, count, duration, facts, field, fill, h, json, notice, time } from './dom.js';
import { Transcript } from './transcript.js';

/** The list of sessions. */
export function sessionList() {
  const trouble = h('div');
  const rows = h('tbody');
  const more = h('button', { type: 'button', class: 'quiet', hidden: true, onclick: () => load(next) }, 'More');
  const note = h('p', { class: 'help', role: 'status' });
  const option = (value, label) => h('option', { value }, label);
  const status = h(
    'select',
    {},
    option('', 'any'),
    ['pending', 'in_progress', 'completed', 'failed'].map((s) => option(s, s.replace('_', ' '))),
  );
  const agent = h('select', {}, option('', 'any'));
  const user = h('input', { placeholder: 'any', maxlength: 256 });
  const names = new Map();
  let next = '',
    asked = 0;

  async function load(token = '') {
    const mine = ++asked;
    notice(trouble, '');
    try {
      const page = await call('GET', 'sessions', {
        query: {
          page_size: 50,
          page_token: token,
          status: status.value,
          agent_id: agent.value,
          user_id: user.value.trim(),
        },
      });
      if (mine !== asked) return; // the filters have changed since
      if (!token) fill(rows);
      for (const s of page.sessions ?? []) rows.append(row(s));
      next = page.next_page_token ?? '';
      more.hidden = !next;
      note.textContent = rows.children.length
        ? `${count(rows.children.length, 'session')}${next ? ', and there are more' : ''}.`
        : status.value || agent.value || user.value
          ? 'No session fits. Try fewer filters.'
          : 'There are no sessions yet. Start one under Talk.';
    } catch (failure) {
      notice(trouble, failure.message);
    }
  }

  const row = (s) =>
    h(
      'tr',
      {},
      h('td', {}, h('a', { href: `#session/${encodeURIComponent(s.id)}` }, s.id)),
      h(
        'td',
        {},
        h('span', { class: `tag ${s.status}` }, s.status.replace('_', ' ')),
        s.end_reason ? ` ${s.end_reason}` : '',
      ),
      h('td', {}, names.get(s.agent_id) ?? s.agent_id, ` v${s.agent_version}`),
      h('td', {}, s.user_id),
      h('td', {}, time(s.created_at)),
      h('td', {}, s.turn_count),
      h('td', {}, s.started_at ? duration(s.duration_ms) : ''),
    );

  async function nameAgents() {
    try {
      for (const w of await all('workspaces', 'workspaces')) {
        for (const a of await all(`workspaces/${path(w.id)}/agents`, 'agents')) {
          names.set(a.id, a.name);
          agent.append(option(a.id, a.name));
        }
      }
    } catch {
      // The list shows their ids.
    }
  }

  nameAgents().then(() => load());
  return h(
    'section',
    { 'class': 'panel wide', 'aria-label': 'Sessions' },
    h('h2', {}, 'Sessions'),
    h(
      'form',
      {
        class: 'filters',
        onsubmit: (event) => {
          event.preventDefault();
          load();
        },
        onchange: () => load(),
      },
      field('Status', status),
      field('Agent', agent),
      field('User id', user),
      h('button', { type: 'submit' }, 'Show'),
    ),
    trouble,
    h(
      'div',
      { 'class': 'scroll', 'tabindex': '0', 'role': 'region', 'aria-label': 'Sessions found' },
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            ['Session', 'Status', 'Agent', 'User', 'Created', 'Turns', 'Duration'].map((name) =>
              h('th', { scope: 'col' }, name),
            ),
          ),
        ),
        rows,
      ),
    ),
    note,
    more,
  );
}

/** One session with its transcript. */
export function sessionPage(id) {
  const trouble = h('div'),
    about = h('div'),
    turns = h('div', { class: 'turns' });
  const transcript = new Transcript(id, turns);
  const end = h('button', { type: 'button', hidden: true, onclick: finish }, 'End the session');

  async function show() {
    notice(trouble, '');
    try {
      const s = await call('GET', `sessions/${path(id)}`);
      end.hidden = s.status === 'completed' || s.status === 'failed';
      fill(
        about,
        facts([
          ['Status', [s.status, s.end_reason].filter(Boolean).join(': ')],
          ['Agent', `${s.agent_id}, version ${s.agent_version}`],
          ['User', s.user_id],
          ['Modality', s.modality],
          ['Language', s.language],
          ['Created', time(s.created_at)],
          ['Started', time(s.started_at)],
          ['Ended', time(s.ended_at)],
          ['Duration', s.started_at && duration(s.duration_ms)],
          ['Turns', s.turn_count],
        ]),
        s.analysis ? h('details', { open: true }, h('summary', {}, 'Analysis'), json(s.analysis)) : null,
        h('details', {}, h('summary', {}, 'As JSON'), json(s)),
      );
      await transcript.refresh();
      if (transcript.turns.length === 0) fill(turns, h('p', { class: 'help' }, 'Nothing was said in this session.'));
    } catch (failure) {
      notice(trouble, failure.message);
    }
  }

  async function finish() {
    try {
      await call('POST', `sessions/${path(id)}/end`, { body: { status: 'completed', reason: 'ended in the console' } });
      await show();
    } catch (failure) {
      notice(trouble, failure.message);
    }
  }

  show();
  return h(
    'section',
    { 'class': 'panel wide', 'aria-label': 'Session' },
    h('p', {}, h('a', { href: '#sessions' }, '← All sessions')),
    h('h2', {}, h('code', {}, id)),
    trouble,
    about,
    h(
      'div',
      { class: 'row' },
      end,
      h('button', { type: 'button', class: 'quiet', onclick: show }, 'Refresh'),
      copyButton('Copy the transcript', () => JSON.stringify(transcript.turns, null, 2)),
    ),
    turns,
  );
}
