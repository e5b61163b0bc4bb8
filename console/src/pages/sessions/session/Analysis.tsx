import type { SessionAnalysis } from '#gen/sessions_pb';

import { Badge, Card, Loading } from '../../../ui/Page';

const tones = { success: 'good', failure: 'bad', unknown: undefined } as const;
const words: Record<string, string> = { success: 'met', failure: 'not met', unknown: 'not known' };

const Result = ({ result }: { result: string }) => (
  <Badge tone={tones[result as keyof typeof tones]}>{words[result] ?? result}</Badge>
);

/** What a model found out about the conversation. */
export function Analysis({ analysis }: { analysis: SessionAnalysis }) {
  const { status, summary, success, criteria, data, error } = analysis;
  if (status === 'pending') return <Loading what="A model reads the conversation…" />;
  if (status === 'failed') return <p className="note bad">The analysis failed: {error}</p>;
  return (
    <div className="stack">
      <Card title="Summary" actions={success && <Badge tone={tones[success as keyof typeof tones]}>{success}</Badge>}>
        <p dir="auto">{summary || 'There is none.'}</p>
      </Card>
      {criteria.length > 0 && (
        <Card title="Criteria">
          <ul className="findings">
            {criteria.map(({ id, name, result, rationale }) => (
              <li key={id}>
                <div className="row">
                  <strong>{name || id}</strong>
                  <Result result={result} />
                </div>
                <p className="dim" dir="auto">
                  {rationale}
                </p>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {data.length > 0 && (
        <Card title="Data">
          <ul className="findings">
            {data.map(({ id, valueJson, rationale }) => (
              <li key={id}>
                <div className="row">
                  <strong>{id}</strong>
                  <code>{valueJson === '' || valueJson === 'null' ? 'not said' : valueJson}</code>
                </div>
                <p className="dim" dir="auto">
                  {rationale}
                </p>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}
