import { useQuery } from '@tanstack/react-query';

import * as api from '../../api/clients';
import { duration } from '../../ui/format';
import { useEditor } from './editor';

const shown: Record<string, string> = {
  total: 'Whole answer',
  model_first_token: 'First word',
  first_audio: 'First sound',
  tools: 'Tools',
};

/** How long the agent's answers took in the last seven days; nothing when there were none. */
export function Latency() {
  const { workspaceId, agentId } = useEditor();
  const { data } = useQuery({
    queryKey: ['agent-latency', agentId],
    staleTime: 60_000,
    queryFn: ({ signal }) => api.agents.getAgentLatency({ workspaceId, agentId }, { signal }),
  });
  if (!data || data.answers === 0) return null;
  const stages = Object.entries(shown).flatMap(([stage, title]) =>
    data.stages.filter((other) => other.stage === stage).map((of) => ({ title, ...of })),
  );
  return (
    <dl className="answer-times" aria-label="Time of answers in the last seven days">
      {stages.map(({ stage, title, p50Ms, p95Ms }) => (
        <div
          key={stage}
          title={`Half of the answers took at most ${duration(p50Ms)}, 95 of 100 at most ${duration(p95Ms)}`}
        >
          <dt>{title}</dt>
          <dd>
            <b>{duration(p50Ms)}</b> <span className="dim">95 %: {duration(p95Ms)}</span>
          </dd>
        </div>
      ))}
      <div>
        <dt>Answers</dt>
        <dd>
          <b>{data.answers.toLocaleString('en')}</b> <span className="dim">in 7 days</span>
        </dd>
      </div>
    </dl>
  );
}
