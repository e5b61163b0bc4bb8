import { toJson } from '@bufbuild/protobuf';

import { TurnSchema, type Turn, type TurnRetrieval } from '#gen/sessions_pb';

import { useMay } from '../../app/caller';
import { Copy } from '../../ui/Code';
import { Badge, Facts } from '../../ui/Page';
import { Json, Part, SmallTable } from './Part';
import { Receipt } from './Receipt';
import { stagesOf } from './stages';
import { useReceipt } from './receipts';
import { Waterfall } from './Waterfall';

/** What a turn was made of, in parts that can be opened. */
export function TurnDetails({ turn }: { turn: Turn }) {
  const { retrieval } = turn;
  if (turn.status === 'in_progress') return null; // nothing is known of it before it has ended
  return (
    <div className="parts">
      {retrieval && (
        <Part kind="search" summary={`Search · ${retrieval.chunks.length} chunks`}>
          {() => <Search retrieval={retrieval} />}
        </Part>
      )}
      {turn.items.length > 0 && (
        <Part kind="items" summary={`Items · ${turn.items.length}`}>
          {() => <Items turn={turn} />}
        </Part>
      )}
      <Part kind="timing" summary="Timing">
        {() => <Timing turn={turn} />}
      </Part>
      <Part kind="receipt" summary="Receipt">
        {() => <Receipt turn={turn} />}
      </Part>
      <Part kind="raw" summary="As JSON">
        {() => <Raw turn={turn} />}
      </Part>
    </div>
  );
}

function Timing({ turn }: { turn: Turn }) {
  const { data: receipt } = useReceipt(turn);
  const { toolRounds = 0, toolRoundsExhausted, speech } = turn.metrics ?? {};
  return (
    <>
      <Waterfall stages={stagesOf(turn, receipt)} label={`Where the time of turn ${turn.index} went`} />
      {speech && (
        <Facts
          facts={[
            [
              'First sound',
              `${speech.firstAudioMs} ms after the end of the speech: ${speech.endpointingMs} ms to believe that ` +
                `it was over, words known at ${speech.transcriptMs} ms, first token at ${speech.firstTokenMs} ms`,
            ],
          ]}
        />
      )}
      {toolRounds > 0 && (
        <p className="small dim">
          Rounds of tool calls: {toolRounds}
          {toolRoundsExhausted ? ', as many as there may be' : ''}.
        </p>
      )}
    </>
  );
}

const uses: Record<string, string> = {
  passage: 'given to the model',
  merged: 'part of its neighbour',
  duplicate: 'a better one says the same',
  over_budget: 'the prompt was full',
  crowded_out: 'others rank higher',
  below_floor: 'too unlike the question',
};

const score = (value: number | undefined, digits: number) => (value ? value.toFixed(digits) : '–');

function Search({ retrieval }: { retrieval: TurnRetrieval }) {
  const mayAsk = useMay('runtime');
  return (
    <>
      <Facts
        facts={[
          ['Ranking', retrieval.ranking],
          ['Embedding model', retrieval.embeddingModel],
          ['Least similarity', retrieval.minSimilarity.toFixed(2)],
          ['Reranked', retrieval.rerank],
        ]}
      />
      {retrieval.chunks.length === 0 ? (
        <p className="dim">
          Nothing was found. Are sources attached to the agent, and ready?{' '}
          {mayAsk && <a href="#/knowledge/test">Try questions</a>}
        </p>
      ) : (
        <SmallTable
          label="Chunks considered"
          head={['Chunk', 'Use', 'Similarity', 'Words', 'Fused', 'Rerank']}
          rows={retrieval.chunks.map((chunk) => [
            <a key="chunk" href={`#/knowledge/${chunk.sourceId}`}>
              <code>{chunk.chunkId}</code>
            </a>,
            uses[chunk.use] ?? chunk.use,
            score(chunk.similarity, 3),
            score(chunk.wordScore, 2),
            score(chunk.fusedScore, 3),
            score(chunk.rerankScore, 3),
          ])}
        />
      )}
    </>
  );
}

const kinds: Record<string, string> = {
  user: 'User',
  assistant: 'Agent',
  system: 'Note of the application',
  function_call: 'Call',
  function_call_output: 'Result',
  operator: 'Person',
  operator_note: 'Note of the person for the model',
};

function Items({ turn }: { turn: Turn }) {
  return (
    <ul className="stack">
      {turn.items.map((item) => (
        <li key={item.id}>
          <div className="row">
            <strong>{kinds[item.kind] ?? item.kind}</strong> {item.name}
            {item.putIn && <Badge>inserted</Badge>}
            {item.removed && <Badge tone="warn">removed</Badge>}
            {item.spoken && <Badge>spoken</Badge>}
            {item.heard && <Badge tone="warn">cut off</Badge>}
            <code className="dim">{item.id}</code>
          </div>
          {item.text && <blockquote dir="auto">{item.text}</blockquote>}
        </li>
      ))}
    </ul>
  );
}

function Raw({ turn }: { turn: Turn }) {
  const text = JSON.stringify(toJson(TurnSchema, turn, { useProtoFieldName: true }), null, 2);
  return (
    <>
      <div className="row between">
        <code>{turn.id}</code>
        <Copy text={text} />
      </div>
      <Json label={`Turn ${turn.index}`} text={text} />
    </>
  );
}
