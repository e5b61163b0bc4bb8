import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';

import type { Tenant, Workspace } from '#gen/workspaces_pb';

import * as api from '../../api/clients';
import { failureOf } from '../../api/failure';
import { useMutation } from '../../api/useMutation';
import { useHere } from '../../app/caller';
import { Button } from '../../ui/Button';
import { DataTable, type Column } from '../../ui/DataTable';
import { TextField } from '../../ui/Field';
import { bytes } from '../../ui/format';
import { Menu } from '../../ui/Menu';
import { Badge, Card, FailureNote, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Time } from '../../ui/Time';
import { tell } from '../../ui/toast';
import { DeleteWorkspace } from './DeleteWorkspace';
import { WorkspaceDialog } from './WorkspaceDialog';

type Open = { what: 'edit' | 'delete'; workspace: Workspace | undefined };

export default function Workspaces() {
  const { workspaces } = useHere();
  const [open, setOpen] = useState<Open>();
  const tenant = useQuery({ queryKey: ['tenant'], queryFn: ({ signal }) => api.workspaces.getTenant({}, { signal }) });
  const close = () => setOpen(undefined);
  return (
    <Page
      title="Workspaces"
      lead="A workspace has its own agents, knowledge, tools and webhooks: one for each product, or for staging and production."
      actions={
        <Button kind="primary" onPress={() => setOpen({ what: 'edit', workspace: undefined })}>
          New workspace
        </Button>
      }
    >
      <DataTable label="Workspaces" rows={workspaces} rowKey={({ id }) => id} columns={useColumns(setOpen)} />
      <Query query={tenant}>{(data) => <TenantCard tenant={data} />}</Query>
      {open?.what === 'edit' && <WorkspaceDialog workspace={open.workspace} onClose={close} />}
      {open?.what === 'delete' && open.workspace && <DeleteWorkspace workspace={open.workspace} onClose={close} />}
    </Page>
  );
}

function useColumns(onOpen: (open: Open) => void): Column<Workspace>[] {
  const { workspaceId, workspaces } = useHere();
  const days = (n: number | undefined) => (n ? `${n} days` : 'for ever');
  return [
    {
      id: 'name',
      title: 'Name',
      cell: ({ id, name }) => (
        <>
          {name} {id === workspaceId && <Badge tone="accent">shown</Badge>}
        </>
      ),
    },
    { id: 'id', title: 'Id', cell: ({ id }) => <code>{id}</code> },
    { id: 'used', title: 'Knowledge', number: true, cell: ({ kbUsedBytes }) => bytes(kbUsedBytes) },
    { id: 'kept', title: 'Transcripts are kept', cell: ({ retention }) => days(retention?.transcriptDays) },
    { id: 'audio', title: 'Recordings are kept', cell: ({ retention }) => days(retention?.audioDays) },
    { id: 'created', title: 'Made', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: 'more',
      title: '',
      cell: (workspace) => (
        <Menu
          label={`More for ${workspace.name}`}
          actions={[
            { id: 'edit', text: 'Edit', run: () => onOpen({ what: 'edit', workspace }) },
            {
              id: 'delete',
              text: 'Delete',
              danger: true,
              isDisabled: workspaces.length === 1,
              run: () => onOpen({ what: 'delete', workspace }),
            },
          ]}
        />
      ),
    },
  ];
}

/** The name and the time zone of the whole tenant. */
function TenantCard({ tenant }: { tenant: Tenant }) {
  const client = useQueryClient();
  const [name, setName] = useState(tenant.name);
  const [timezone, setTimezone] = useState(tenant.timezone);
  const save = useMutation({
    mutationFn: () => api.workspaces.updateTenant({ name, timezone }),
    onSuccess: () => {
      tell('Saved.');
      void client.invalidateQueries({ queryKey: ['tenant'] });
      void client.invalidateQueries({ queryKey: ['caller'] });
    },
  });
  const wrong = save.error ? failureOf(save.error).fields : {};
  return (
    <Card title="Tenant">
      <Form
        className="grid-2"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <TextField label="Name" value={name} onChange={setName} wrong={wrong['name']} isRequired />
        <TextField
          label="Time zone"
          value={timezone}
          onChange={setTimezone}
          wrong={wrong['timezone']}
          hint="Months of usage begin in it: Europe/Berlin."
          isRequired
        />
        {save.error && <FailureNote error={save.error} />}
        <div className="row">
          <Button type="submit" isDisabled={save.isPending}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  );
}
