import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';

import type { AgentVersion } from '#gen/agents_pb';

import * as api from '../../api/clients';
import { useList } from '../../api/useList';
import { useMutation } from '../../api/useMutation';
import { Button } from '../../ui/Button';
import type { Column } from '../../ui/DataTable';
import { useConfirm } from '../../ui/Dialog';
import { List } from '../../ui/List';
import { Badge, Card, Empty } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Select } from '../../ui/Select';
import { Time } from '../../ui/Time';
import { tell, tellFailure } from '../../ui/toast';
import { Diff } from './Diff';
import { useEditor } from './editor';

/** What was published before: compared, and taken back. `chosen` is of the address: "3-1". */
export function Versions({ chosen }: { chosen: string | undefined }) {
  const { workspaceId, agentId, published } = useEditor();
  const [, go] = useLocation();
  const list = useList(['agent-versions', agentId], async (pageToken, signal) => {
    const { versions, nextPageToken } = await api.agents.listAgentVersions(
      { workspaceId, agentId, pageSize: 200, pageToken },
      { signal },
    );
    return { rows: versions, nextPageToken };
  });
  const [to = published.version, from = to - 1] = (chosen ?? '')
    .split('-')
    .map(Number)
    .filter((n) => n > 0);
  const compare = (newer: number, older: number) =>
    go(`/agents/${agentId}/versions/${newer}-${older}`, { replace: true });
  return (
    <>
      <Card>
        <p className="dim small">
          Each time that a draft is published there is one more. Conversations that go on keep theirs.
        </p>
        <List
          label="Versions"
          list={list}
          rowKey={({ version }) => String(version)}
          columns={useColumns(compare)}
          empty={<Empty title="No versions" />}
        />
      </Card>
      {published.version > 1 && list.rows && (
        <Card title="Compare two versions">
          <div className="grid-2">
            <Choice label="Before" versions={list.rows} value={from} onChange={(version) => compare(to, version)} />
            <Choice label="After" versions={list.rows} value={to} onChange={(version) => compare(version, from)} />
          </div>
          <Comparison to={to} from={from} />
        </Card>
      )}
    </>
  );
}

const Choice = ({
  label,
  versions,
  value,
  onChange,
}: {
  label: string;
  versions: AgentVersion[];
  value: number;
  onChange(version: number): void;
}) => (
  <Select
    label={label}
    value={String(value)}
    onChange={(id) => onChange(Number(id))}
    choices={versions.map(({ version }) => ({ id: String(version), text: `Version ${version}` }))}
  />
);

function Comparison({ to, from }: { to: number; from: number }) {
  const { workspaceId, agentId } = useEditor();
  const query = useQuery({
    queryKey: ['agent-compare', agentId, to, from],
    staleTime: Infinity,
    enabled: to !== from,
    queryFn: ({ signal }) =>
      api.agents.compareAgentVersions({ workspaceId, agentId, version: to, against: from }, { signal }),
  });
  if (to === from) return <p className="dim">Choose two different versions.</p>;
  return <Query query={query}>{({ changes }) => <Diff changes={changes} />}</Query>;
}

function useColumns(compare: (newer: number, older: number) => void): Column<AgentVersion>[] {
  const { workspaceId, agentId, published, draft, store, mayEdit } = useEditor();
  const confirm = useConfirm();
  const client = useQueryClient();
  const rollBack = useMutation({
    mutationFn: (version: number) => api.agents.rollbackAgent({ workspaceId, agentId, version }),
    onSuccess: (agent, version) => {
      store.rebase(agent);
      void client.invalidateQueries({ queryKey: ['agent-versions', agentId] });
      tell(`Version ${version} is in use again, as version ${agent.version}.`);
    },
    onError: tellFailure,
  });
  const ask = async (version: number) => {
    const isSure = await confirm({
      title: `Go back to version ${version}?`,
      action: `Use version ${version}`,
      text: (
        <>
          Its settings are published at once, as version {published.version + 1}. Version {published.version} stays in
          this list.{draft && ' Your draft stays as it is.'}
        </>
      ),
    });
    if (isSure) rollBack.mutate(version);
  };
  return [
    {
      id: 'version',
      title: 'Version',
      cell: ({ version }) => (
        <>
          Version {version} {version === published.version && <Badge tone="good">in use</Badge>}
        </>
      ),
    },
    { id: 'at', title: 'Published', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: 'do',
      title: '',
      cell: ({ version }) => (
        <div className="row">
          {version > 1 && (
            <Button
              kind="quiet"
              aria-label={`What changed in version ${version}`}
              onPress={() => compare(version, version - 1)}
            >
              What changed
            </Button>
          )}
          {mayEdit && version !== published.version && (
            <Button kind="quiet" aria-label={`Roll back to version ${version}`} onPress={() => void ask(version)}>
              Roll back
            </Button>
          )}
        </div>
      ),
    },
  ];
}
