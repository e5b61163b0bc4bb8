import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';

import * as api from '../../api/clients';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { useConfirm } from '../../ui/Dialog';
import { Menu } from '../../ui/Menu';
import { Card, Loading, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Select } from '../../ui/Select';
import { tell, tellFailure } from '../../ui/toast';
import { Calls } from './Calls';
import { Analysis, Memory, Privacy } from './Data';
import { loadDraft } from './draft';
import { DraftBar } from './DraftBar';
import { EditorProvider, useEditor } from './editor';
import { Guards } from './Guards';
import { Instructions } from './Instructions';
import { JsonPart, type TypedJson } from './JsonPart';
import { Knowledge } from './Knowledge';
import { Latency } from './Latency';
import { Limits } from './Limits';
import { Tools } from './Tools';
import { Versions } from './Versions';
import { Voice } from './Voice';
import { WebPage } from './WebPage';
import './agents.css';

const Conversation = lazy(async () => ({ default: (await import('../../conversation/Conversation')).Conversation }));

/** An agent: its settings as a draft, its versions, and a conversation to test it. */
export default function Agent({
  params: { agentId = '', tab = 'instructions', item },
}: {
  params: { agentId?: string; tab?: string; item?: string };
}) {
  const { workspaceId } = useHere();
  const query = useQuery({
    queryKey: ['agent-draft', workspaceId, agentId],
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: ({ signal }) => loadDraft(workspaceId, agentId, signal),
  });
  if (!query.data)
    return (
      <Page title="Agent">
        <Query query={query}>{() => null}</Query>
      </Page>
    );
  return (
    <EditorProvider workspaceId={workspaceId} agentId={agentId} loaded={query.data}>
      <Editor tab={tab} item={item} />
    </EditorProvider>
  );
}

const parts: { id: string; title: string; content?: ReactNode }[] = [
  { id: 'instructions', title: 'Instructions', content: <Instructions /> },
  { id: 'knowledge', title: 'Knowledge', content: <Knowledge /> },
  { id: 'tools', title: 'Tools', content: <Tools /> },
  { id: 'guards', title: 'Guards', content: <Guards /> },
  { id: 'voice', title: 'Voice', content: <Voice /> },
  { id: 'limits', title: 'Limits', content: <Limits /> },
  { id: 'memory', title: 'Memory', content: <Memory /> },
  { id: 'privacy', title: 'Privacy', content: <Privacy /> },
  { id: 'analysis', title: 'Analysis', content: <Analysis /> },
  { id: 'calls', title: 'Calls', content: <Calls /> },
  { id: 'web', title: 'Web page', content: <WebPage /> },
  { id: 'json', title: 'JSON' },
  { id: 'versions', title: 'Versions' },
  { id: 'try', title: 'Try it' },
];

/** Parts that need the room beside them. */
const alone = ['json', 'versions'];

function Editor({ tab, item }: { tab: string; item: string | undefined }) {
  const { agentId, settings, mayEdit } = useEditor();
  const [, go] = useLocation();
  const [typed, setTyped] = useState<TypedJson & { of?: string }>();
  const part = parts.find(({ id }) => id === tab) ?? parts[0];
  const content =
    tab === 'json' ? (
      <JsonPart typed={typed} onType={setTyped} />
    ) : tab === 'versions' ? (
      <Versions chosen={item} />
    ) : (
      part?.content
    );
  return (
    <Page title={settings.name || 'No name'} lead={<code>{agentId}</code>} actions={mayEdit && <More />}>
      <Latency />
      <DraftBar />
      <div className={`editor ${tab === 'try' ? 'trying' : ''} ${alone.includes(tab) ? 'alone' : ''}`}>
        <nav className="setting-links" aria-label="Settings">
          {parts.map(({ id, title }) => (
            <Link
              key={id}
              href={`/agents/${agentId}/${id}`}
              replace
              aria-current={id === part?.id ? 'page' : undefined}
              className={id === 'try' ? 'only-narrow' : ''}
            >
              {title}
            </Link>
          ))}
        </nav>
        <div className="setting-select">
          <Select
            label="Settings"
            hideLabel
            value={part?.id ?? ''}
            onChange={(id) => go(`/agents/${agentId}/${id}`, { replace: true })}
            choices={parts.map(({ id, title }) => ({ id, text: title }))}
          />
        </div>
        <div className="setting stack loose">
          {tab !== 'try' && <h2 className="part-title">{part?.title}</h2>}
          {!mayEdit && <p className="note">You may look at these settings, but not change them.</p>}
          {tab === 'versions' ? (
            content
          ) : (
            <fieldset disabled={!mayEdit} className="plain stack loose">
              {content}
            </fieldset>
          )}
        </div>
        <Try />
      </div>
    </Page>
  );
}

function Try() {
  const { agentId, draft, status, store } = useEditor();
  const isDraft = draft !== undefined || status !== 'clean'; // from the first edit: it is saved before a conversation begins
  return (
    <aside className="try" aria-label="Test conversation">
      <Card title={isDraft ? 'Try the draft' : 'Try it'}>
        {isDraft && (
          <p className="dim small">
            A conversation keeps the draft that it began with. Start again to try what you changed since.
          </p>
        )}
        <Suspense fallback={<Loading />}>
          <Conversation key={`${agentId} ${isDraft}`} agentId={agentId} draft={isDraft} onStart={() => store.flush()} />
        </Suspense>
      </Card>
    </aside>
  );
}

function More() {
  const { workspaceId, agentId, settings } = useEditor();
  const [, go] = useLocation();
  const confirm = useConfirm();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.agents.deleteAgent({ workspaceId, agentId }),
    onError: tellFailure,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['agents'] });
      tell(`${settings.name} was deleted.`);
      go('/agents');
    },
  });
  const ask = async () => {
    const isSure = await confirm({
      title: `Delete ${settings.name}?`,
      text: 'The agent, its draft and all its versions will be gone. Its conversations stay readable.',
      action: 'Delete',
    });
    if (isSure) remove.mutate();
  };
  return (
    <Menu
      label="More for this agent"
      actions={[{ id: 'delete', text: 'Delete the agent', danger: true, run: () => void ask() }]}
    />
  );
}
