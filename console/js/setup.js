// The settings of a new session: workspace, agent, user, variables, overrides, client tools.
import { all, base, call, path } from './api.js';
import { facts, field, fill, h, notice } from './dom.js';

const storageKey = 'parlance.setup';

const exampleTools = [
  {
    type: 'function',
    name: 'show_map',
    description: 'Shows the user a map of a place.',
    parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
];

/**
 * The form that starts a session, and then calls started({ session, agent, clientTools, body, talks }).
 * body is what the session was created with; talks says that it begins with the microphone.
 */
export function setup(started) {
  const kept = storedSetup();
  const trouble = h('div');
  const workspace = h('select', { required: true, onchange: () => showAgents() });
  const agent = h('select', { required: true, onchange: () => showAgent() });
  const about = h('div');
  const user = h('input', { value: kept.user ?? 'console', maxlength: 256, required: true });
  const modality = h(
    'select',
    {},
    ['text', 'voice+text'].map((value) => h('option', { value }, value)),
  );
  const variables = h('div', { class: 'pairs' });
  const overrides = h('textarea', {
    rows: 3,
    spellcheck: 'false',
    value: kept.overrides ?? '',
    placeholder: '{"instructions": "Answer in rhymes.", "temperature": 0.2}',
  });
  const tools = h('textarea', {
    rows: 4,
    spellcheck: 'false',
    value: kept.tools ?? '',
    placeholder: JSON.stringify(exampleTools),
  });
  const start = h('button', { type: 'submit', disabled: true }, 'Start a session');
  const talk = h('button', { type: 'submit', class: 'quiet', disabled: true, value: 'talk' }, 'Start and talk');
  const enable = (on) => {
    start.disabled = talk.disabled = !on;
  };
  let agents = [];

  const addVariable = (name = '', value = '') => {
    const row = h(
      'div',
      { class: 'row' },
      h('input', { 'value': name, 'placeholder': 'name', 'aria-label': 'Name of the variable' }),
      h('input', { value, 'placeholder': 'value', 'aria-label': 'Value of the variable' }),
      h(
        'button',
        { 'type': 'button', 'class': 'quiet', 'aria-label': 'Remove this variable', 'onclick': () => row.remove() },
        '×',
      ),
    );
    variables.append(row);
    return row;
  };
  for (const [name, value] of Object.entries(kept.variables ?? {})) addVariable(name, value);

  async function showWorkspaces() {
    try {
      const found = await all('workspaces', 'workspaces');
      fill(
        workspace,
        found.map((w) => h('option', { value: w.id, selected: w.id === kept.workspace }, `${w.name} (${w.id})`)),
      );
      if (found.length === 0)
        return notice(
          trouble,
          'This key reaches no workspace. Make one: parlance tenants create, or POST /v1/workspaces with an admin key.',
          'hint',
        );
      await showAgents();
    } catch (failure) {
      notice(trouble, failure.message);
    }
  }

  /** Counts the choices: an answer to an earlier one is ignored. */
  let chosen = 0;

  async function showAgents() {
    const mine = ++chosen,
      where = `workspaces/${path(workspace.value)}/agents`,
      whose = workspace.value;
    enable(false);
    fill(about);
    let found;
    try {
      found = await all(where, 'agents');
    } catch (failure) {
      if (mine === chosen) notice(trouble, failure.message);
      return;
    }
    if (mine !== chosen) return;
    agents = found;
    fill(
      agent,
      agents.map((a) =>
        h('option', { value: a.id, selected: a.id === kept.agent }, `${a.name} (version ${a.version})`),
      ),
    );
    notice(trouble, '');
    if (agents.length === 0) return fill(trouble, noAgents(whose, showAgents));
    await showAgent();
  }

  async function showAgent() {
    const mine = ++chosen,
      shown = agents.find((a) => a.id === agent.value);
    enable(shown);
    if (!shown) return;
    fill(about, agentFacts(shown));
    const where = `workspaces/${path(workspace.value)}/agents/${path(shown.id)}`;
    try {
      const found = await Promise.all([all(`${where}/tools`, 'tools'), all(`${where}/knowledge-base`, 'attachments')]);
      if (mine === chosen) fill(about, agentFacts(shown, ...found));
    } catch {
      // The agent's tools and sources are only shown; a session can be started without them.
    }
  }

  async function submit(event) {
    event.preventDefault();
    notice(trouble, '');
    const talks = event.submitter === talk;
    let body, clientTools;
    try {
      body = { agent_id: agent.value, user_id: user.value, modality: talks ? 'voice+text' : modality.value };
      const pairs = Object.fromEntries(
        [...variables.children]
          .map((row) => [row.children[0].value.trim(), row.children[1].value])
          .filter(([name]) => name),
      );
      if (Object.keys(pairs).length) body.dynamic_variables = pairs;
      const changed = parse(
        overrides.value,
        'Overrides',
        'an object',
        (v) => v && typeof v === 'object' && !Array.isArray(v),
      );
      if (changed) body.overrides = changed;
      clientTools = parse(tools.value, 'Client tools', 'a list of function tools', Array.isArray) ?? [];
      const shown = Object.fromEntries(Object.entries(pairs).filter(([name]) => !name.startsWith('secret__')));
      sessionStorage.setItem(
        storageKey,
        JSON.stringify({
          workspace: workspace.value,
          agent: agent.value,
          user: user.value,
          variables: shown,
          overrides: overrides.value,
          tools: tools.value,
        }),
      );
    } catch (failure) {
      return notice(trouble, failure.message);
    }
    enable(false);
    try {
      const session = await call('POST', 'sessions', { body });
      await started({ session, agent: agents.find((a) => a.id === agent.value), clientTools, body, talks });
    } catch (failure) {
      notice(trouble, failure.message);
    } finally {
      enable(true);
    }
  }

  showWorkspaces();
  return h(
    'form',
    { 'class': 'panel setup', 'onsubmit': submit, 'aria-label': 'Start a session' },
    h('h2', {}, 'Start a session'),
    trouble,
    field('Workspace', workspace),
    field('Agent', agent),
    about,
    field('User id', user, 'Whom the session is for, as your application names them.'),
    h(
      'details',
      { open: Boolean(kept.overrides || kept.tools || variables.children.length) },
      h('summary', {}, 'Variables, overrides, client tools'),
      field(
        'Modality',
        modality,
        'A session of the modality text cannot be talked with. The others end sooner when nobody says anything.',
      ),
      h(
        'fieldset',
        {},
        h('legend', {}, 'Dynamic variables'),
        variables,
        h(
          'button',
          { type: 'button', class: 'quiet', onclick: () => addVariable().firstChild.focus() },
          'Add a variable',
        ),
        h(
          'p',
          { class: 'help' },
          'They fill {{name}} in instructions, first message and tools. Names that begin with secret__ reach tools only.',
        ),
      ),
      field(
        'Overrides',
        overrides,
        'JSON: instructions, first_message, language, model, temperature, voice, retrieval.',
      ),
      field(
        'Client tools',
        tools,
        'JSON: tools that this page answers by hand. The extractive responder calls one when you say /tool show_map {"place": "Bern"}.',
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          onclick: () => {
            tools.value = JSON.stringify(exampleTools, null, 2);
          },
        },
        'Fill in an example',
      ),
    ),
    h('div', { class: 'row' }, start, talk),
  );
}

function storedSetup() {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? '{}');
  } catch {
    return {};
  }
}

function parse(text, name, kind, fits) {
  if (!text.trim()) return undefined;
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${name}: this is no JSON (${error.message}).`);
  }
  if (!fits(value)) throw new Error(`${name}: this must be ${kind}.`);
  return value;
}

function agentFacts(agent, tools, sources) {
  const on = (tools ?? []).filter((t) => t.enabled).map((t) => t.name || t.tool?.slug);
  return h(
    'details',
    { class: 'about' },
    h(
      'summary',
      {},
      `${agent.name}: version ${agent.version}`,
      sources && `, ${sources.length} source${sources.length === 1 ? '' : 's'}`,
      tools && `, ${on.length} tool${on.length === 1 ? '' : 's'}`,
    ),
    facts([
      ['Id', h('code', {}, agent.id)],
      ['Instructions', agent.instructions],
      ['First message', agent.first_message],
      ['Language', agent.language],
      ['Model', [agent.model?.provider, agent.model?.name].filter(Boolean).join(' ') || 'the installation’s'],
      ['Tools', on.join(', ')],
      ['Sources', sources?.map((s) => s.source_name ?? s.name ?? s.source_id).join(', ')],
      ['Client may override', agent.client_overrides?.join(', ')],
    ]),
  );
}

/** How to make an agent in a workspace without any: here, or with the API. */
function noAgents(workspaceID, made) {
  const name = h('input', { value: 'Ada', required: true, maxlength: 200 });
  const instructions = h('textarea', {
    rows: 2,
    value: 'You are a helpful assistant. Answer from the passages you are given.',
  });
  const trouble = h('div');
  const submit = async () => {
    try {
      await call('POST', `workspaces/${path(workspaceID)}/agents`, {
        body: { name: name.value, instructions: instructions.value },
      });
      await made();
    } catch (failure) {
      notice(trouble, failure.message);
    }
  };
  return h(
    'div',
    { class: 'notice hint' },
    h('p', {}, 'This workspace has no agents yet. Make one here, or with the API:'),
    h(
      'pre',
      {},
      `curl ${base}v1/workspaces/${workspaceID}/agents -H "Authorization: Bearer $PARLANCE_API_KEY" \\\n` +
        `  -H 'Content-Type: application/json' -d '{"name": "Ada"}'`,
    ),
    field('Name', name),
    field('Instructions', instructions),
    trouble,
    h('button', { type: 'button', onclick: submit }, 'Make the agent'),
  );
}
