import { useState } from 'react';

import type { AgentTool } from '#gen/tools_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { SearchField } from '../../ui/Field';
import { FormFoot } from '../../ui/FormFoot';
import { Empty } from '../../ui/Page';
import { List } from '../../ui/List';
import { tell } from '../../ui/toast';
import { useEditor } from './editor';
import { Amount } from './fields';
import { useAttachment } from './Tools';

/** Asks which tool the agent gets, and attaches it. */
export function AttachTool({ attached, onClose }: { attached: ReadonlySet<string>; onClose(): void }) {
  const { workspaceId } = useEditor();
  const { attach } = useAttachment();
  const [q, setQ] = useState('');
  const list = useList(['tools-to-attach', workspaceId, q], async (pageToken, signal) => {
    const { tools, nextPageToken } = await api.tools.listTools(
      { workspaceId, q, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: tools.filter(({ bucket }) => bucket === 'custom' || bucket === 'opt_in'), nextPageToken };
  });
  return (
    <Dialog title="Attach a tool" shape="wide" onClose={onClose}>
      <SearchField label="Search by name or description" value={q} onChange={setQ} autoFocus />
      <List
        label="Tools"
        list={list}
        rowKey={({ id }) => id}
        columns={[
          {
            id: 'name',
            title: 'Tool',
            cell: ({ slug, description }) => (
              <>
                <b>{slug}</b>
                <br />
                <span className="dim small clamp">{description}</span>
              </>
            ),
          },
          { id: 'kind', title: 'Kind', cell: ({ kind }) => kind || 'built in' },
          {
            id: 'attach',
            title: '',
            cell: ({ id, slug, bucket }) => (
              <Button
                isDisabled={bucket === 'custom' && attached.has(id)}
                aria-label={`Attach ${slug}`}
                onPress={() =>
                  attach.mutate(
                    { toolId: id, enabled: true },
                    {
                      onSuccess: () => {
                        tell(`${slug} is attached.`);
                        onClose();
                      },
                    },
                  )
                }
              >
                Attach
              </Button>
            ),
          },
        ]}
        empty={
          <Empty title={q ? 'No tool fits' : 'There are no tools yet'}>
            Tools are made in <a href="#/tools">Tools</a>.
          </Empty>
        }
      />
    </Dialog>
  );
}

/** Asks how often a tool may be called in one conversation. */
export function MostCalls({ of, onClose }: { of: AgentTool; onClose(): void }) {
  const { attach } = useAttachment();
  const [most, setMost] = useState(of.maxCallsPerSession);
  const isOn = !['attachment_disabled', 'not_enabled'].includes(of.disabledReason);
  const save = () =>
    attach.mutate({ toolId: of.tool?.id ?? '', enabled: isOn, maxCallsPerSession: most }, { onSuccess: onClose });
  return (
    <Dialog title={`Calls of ${of.tool?.slug}`} onClose={onClose}>
      <Amount
        label="Most calls in one conversation"
        maxValue={10_000}
        value={most}
        onChange={setMost}
        placeholder="no limit"
      />
      <FormFoot of={attach} onClose={onClose} onPress={save}>
        Save
      </FormFoot>
    </Dialog>
  );
}
