import * as api from '../../../api/clients';
import { useList } from '../../../api/useList';
import { callOfTrace, ToolCalls as Calls } from '../../../conversation/turn/ToolCalls';
import { Button } from '../../../ui/Button';
import { Card, Empty, FailureNote, Loading } from '../../../ui/Page';

/** The calls of tools of a session. */
export function ToolCalls({ sessionId }: { sessionId: string }) {
  const list = useList(['session', sessionId, 'tool-calls'], async (pageToken, signal) => {
    const { toolCalls, nextPageToken } = await api.sessions.listSessionToolCalls(
      { sessionId, pageSize: 100, pageToken },
      { signal },
    );
    return { rows: toolCalls, nextPageToken };
  });
  if (list.error)
    return <FailureNote error={list.error} retry={<Button onPress={() => void list.refetch()}>Try again</Button>} />;
  if (!list.rows) return <Loading />;
  if (list.rows.length === 0)
    return <Empty title="No tool was called">Calls of tools are here with what went in and what came out.</Empty>;
  return (
    <Card>
      <Calls calls={list.rows.map(callOfTrace)} />
      {list.more.has && (
        <div>
          <Button isDisabled={list.more.isLoading} onPress={list.more.load}>
            {list.more.isLoading ? 'Loading…' : 'Show more'}
          </Button>
        </div>
      )}
    </Card>
  );
}
