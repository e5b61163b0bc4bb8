import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { Button } from '../../ui/Button';
import { useConfirm } from '../../ui/Dialog';
import { tell, tellFailure } from '../../ui/toast';
import { visible } from './Diff';
import { useEditor } from './editor';
import { Review } from './Review';

/** Whether the edits are saved, what they change, and publishing them. */
export function DraftBar() {
  const { draft, status, store, published, mayEdit } = useEditor();
  const [isReviewing, setReviewing] = useState(false);
  const confirm = useConfirm();
  const discard = async () => {
    const isSure = await confirm({
      title: 'Discard the draft?',
      text: `Everything that was changed since version ${published.version} was published will be gone.`,
      action: 'Discard',
    });
    if (!isSure) return;
    await store.discard().then(() => tell('The draft is gone.'), tellFailure);
  };
  const hasEdits = draft !== undefined || status !== 'clean';
  return (
    <div className="draft-bar">
      <State />
      {mayEdit && hasEdits && (
        <div className="row">
          <Button onPress={() => void discard()}>Discard</Button>
          <Button
            kind="primary"
            isDisabled={status === 'conflict' || status === 'failed'}
            onPress={() => setReviewing(true)}
          >
            Review and publish
          </Button>
        </div>
      )}
      {isReviewing && <Review onClose={() => setReviewing(false)} />}
    </div>
  );
}

/** What differs between the draft and the published version. */
export function useChanges() {
  const { workspaceId, agentId, draft, published } = useEditor();
  return useQuery({
    queryKey: ['agent-draft-changes', agentId, draft?.revision, published.version],
    enabled: draft !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => (await api.agents.compareAgentDraft({ workspaceId, agentId }, { signal })).changes,
  });
}

function State() {
  const { draft, status, error, store, published, isRestored } = useEditor();
  const changes = useChanges();
  if (status === 'conflict') return <Conflict />;
  if (status === 'failed') {
    const { message, reason } = failureOf(error);
    return (
      <div className="state bad" role="alert">
        <span>
          <b>Not saved.</b> {message}{' '}
          {reason === '' && 'Your edits are kept in this tab, and saved when it answers again.'}
        </span>
        <Button onPress={() => void store.flush()}>Try again</Button>
      </div>
    );
  }
  const number = draft && changes.data ? visible(changes.data).length : undefined;
  return (
    <div className="state" role="status">
      {status !== 'clean' ? 'Saving…' : draft ? 'Draft saved' : `Version ${published.version} is published`}
      {draft && number !== undefined && (
        <span className="dim">
          {' '}
          · {number === 0 ? 'no difference to' : number === 1 ? '1 change from' : `${number} changes from`} version{' '}
          {published.version}
        </span>
      )}
      {draft?.stale && <span className="warn-text"> · the agent was changed since the draft was begun</span>}
      {isRestored && <span className="dim"> · edits that were not saved yet were brought back</span>}
    </div>
  );
}

function Conflict() {
  const { store } = useEditor();
  const [isBusy, setBusy] = useState(false);
  const run = (step: () => Promise<void>) => {
    setBusy(true);
    void step()
      .catch(tellFailure)
      .finally(() => setBusy(false));
  };
  return (
    <div className="state bad" role="alert">
      <span>
        <b>The draft was changed elsewhere</b>, by somebody else or in another tab. What you see here is not saved.
      </span>
      <span className="row">
        <Button isDisabled={isBusy} onPress={() => run(() => store.takeTheirs())}>
          Take theirs
        </Button>
        <Button isDisabled={isBusy} onPress={() => run(() => store.keepMine())}>
          Keep mine
        </Button>
      </span>
    </div>
  );
}
