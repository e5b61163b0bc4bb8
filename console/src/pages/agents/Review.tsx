import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { useMutation } from '../../api/useMutation';
import { failureOf } from '../../api/failure';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Checkbox } from '../../ui/Field';
import { FailureNote, Loading } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { tell } from '../../ui/toast';
import { Diff } from './Diff';
import { useChanges } from './DraftBar';
import { useEditor } from './editor';

/** Shows what publishing changes, and publishes. */
export function Review({ onClose }: { onClose(): void }) {
  const { store, draft, status, published, agentId } = useEditor();
  const changes = useChanges();
  const client = useQueryClient();
  const [overwrite, setOverwrite] = useState(false);
  const publish = useMutation({
    mutationFn: () => store.publish(overwrite),
    onSuccess: ({ version }) => {
      void client.invalidateQueries({ queryKey: ['agent-versions', agentId] });
      void client.invalidateQueries({ queryKey: ['agents'] });
      tell(`Version ${version} is published.`);
      onClose();
    },
  });
  useEffect(() => void store.flush(), [store]); // what was typed a moment ago
  useEffect(() => {
    if (status === 'failed' || status === 'conflict') onClose(); // the bar says why
  }, [status]);
  const isStale = draft?.stale || (publish.error && failureOf(publish.error).reason === 'agent-draft-stale');
  const isReady = draft && status === 'clean';
  return (
    <Dialog title="Publish the draft" shape="wide" onClose={onClose}>
      {!isReady ? (
        <Loading what="Saving…" />
      ) : (
        <>
          <p>
            New conversations use it at once, as version {published.version + 1}. Those that go on keep the version they
            began with.
          </p>
          <Query query={changes}>{(all) => <Diff changes={all} />}</Query>
          {isStale && (
            <div className="note warn stack">
              <p>
                The agent was changed since this draft was begun: the comparison above is with what is published now.
                Publishing puts the draft in its place, and those changes are gone.
              </p>
              <Checkbox isSelected={overwrite} onChange={setOverwrite}>
                Give up those changes
              </Checkbox>
            </div>
          )}
          {publish.error && !isStale && <FailureNote error={publish.error} />}
        </>
      )}
      <div className="row end">
        <Button onPress={onClose}>Go on editing</Button>
        <Button
          kind="primary"
          isDisabled={!isReady || publish.isPending || changes.isFetching || (!!isStale && !overwrite)}
          onPress={() => publish.mutate()}
        >
          {isStale ? 'Publish over it' : 'Publish'}
        </Button>
      </div>
    </Dialog>
  );
}
