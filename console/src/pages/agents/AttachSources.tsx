import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useMutation } from '../../api/useMutation';
import { Dialog } from '../../ui/Dialog';
import { Checkbox, SearchField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Empty } from '../../ui/Page';
import { List } from '../../ui/List';
import { tell } from '../../ui/toast';
import { useEditor } from './editor';

const most = 100; // of one call

/** Asks which sources the agent gets, and attaches them. */
export function AttachSources({ attached, onClose }: { attached: ReadonlySet<string>; onClose(): void }) {
  const { workspaceId, agentId } = useEditor();
  const client = useQueryClient();
  const [q, setQ] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const list = useList(['sources-to-attach', workspaceId, q], async (pageToken, signal) => {
    const { sources, nextPageToken } = await api.knowledge.listSources(
      { workspaceId, q, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: sources, nextPageToken };
  });
  const attach = useMutation({
    mutationFn: () => api.knowledge.attachSources({ workspaceId, agentId, sourceIds: [...chosen] }),
    onSuccess: ({ attachments }) => {
      void client.invalidateQueries({ queryKey: ['attachments', agentId] });
      tell(
        attachments.length === 1
          ? `${attachments[0]?.sourceName} is attached.`
          : `${chosen.size} sources are attached.`,
      );
      onClose();
    },
  });
  const toggle = (id: string, is: boolean) =>
    setChosen(new Set(is ? [...chosen, id] : [...chosen].filter((other) => other !== id)));
  return (
    <Dialog title="Attach sources" shape="wide" onClose={onClose}>
      <SearchField label="Search by name" value={q} onChange={setQ} autoFocus />
      <List
        label="Sources"
        list={list}
        rowKey={({ id }) => id}
        columns={[
          {
            id: 'name',
            title: 'Source',
            cell: ({ id, name }) => (
              <Checkbox
                isSelected={attached.has(id) || chosen.has(id)}
                isDisabled={attached.has(id) || (chosen.size >= most && !chosen.has(id))}
                onChange={(is) => toggle(id, is)}
              >
                {name}
              </Checkbox>
            ),
          },
          { id: 'status', title: 'Status', cell: ({ id, status }) => (attached.has(id) ? 'attached' : status) },
          { id: 'tags', title: 'Tags', cell: ({ tags }) => tags.join(', ') || '–' },
        ]}
        empty={
          <Empty title={q ? 'No source is called so' : 'There are no sources yet'}>
            Sources are added in <a href="#/knowledge">Knowledge</a>.
          </Empty>
        }
      />
      <FormFoot of={attach} onClose={onClose} isDisabled={chosen.size === 0} onPress={() => attach.mutate()}>
        {chosen.size > 1 ? `Attach ${chosen.size} sources` : 'Attach'}
      </FormFoot>
    </Dialog>
  );
}
