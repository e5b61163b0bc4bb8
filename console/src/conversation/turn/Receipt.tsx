import { useQuery } from '@tanstack/react-query';

import type { Turn, TurnReceipt } from '#gen/sessions_pb';

import { Button } from '../../ui/Button';
import { Copy } from '../../ui/Code';
import { Facts, FailureNote } from '../../ui/Page';
import { reasonName } from '../../pages/tools/reasons';
import { Query } from '../../ui/Query';
import { count, duration } from '../../ui/format';
import { Json, Part, SmallTable } from './Part';
import { checkReceipt, receiptJson, useReceipt } from './receipts';

/** What a turn was made of: calls of models, passages, calls of tools, guards, and the hash over it. */
export function Receipt({ turn }: { turn: Turn }) {
  return <Query query={useReceipt(turn)}>{(receipt) => <Content turn={turn} receipt={receipt} />}</Query>;
}

function Content({ turn, receipt }: { turn: Turn; receipt: TurnReceipt }) {
  const { usage, cost, history } = receipt;
  return (
    <>
      <Facts
        facts={[
          ['Status', [receipt.status, receipt.errorCode].filter(Boolean).join(': ')],
          ['Tokens', usage && `${count(usage.inputTokens)} read, ${count(usage.outputTokens)} written`],
          ['Cost', cost ? `${cost.amount} ${cost.currency}` : 'not known: the model has no price here'],
          [
            'History',
            history &&
              `${history.turns} earlier ${history.turns === 1 ? 'turn' : 'turns'}, about ${count(history.tokens)} ` +
                `tokens${history.summarizedTurns ? `; ${history.summarizedTurns} more in a summary` : ''}`,
          ],
          ['Memory', `${receipt.memoryRead.length} read, ${receipt.memoryWritten.length} written`],
          ['Hash', <code key="hash">{receipt.hash}</code>],
        ]}
      />
      <Checked turn={turn} />
      <Tables receipt={receipt} />
      <div className="row">
        <Copy label="Copy the receipt" text={receiptJson(receipt)} />
      </div>
      <Part kind="receipt-json" summary="The receipt as JSON">
        {() => <Json label="The receipt" text={receiptJson(receipt)} />}
      </Part>
    </>
  );
}

function Checked({ turn }: { turn: Turn }) {
  const check = useQuery({
    queryKey: ['receipt', turn.id, 'check'],
    staleTime: Infinity,
    queryFn: ({ signal }) => checkReceipt(turn, signal),
  });
  if (check.error)
    return <FailureNote error={check.error} retry={<Button onPress={() => void check.refetch()}>Try again</Button>} />;
  if (!check.data) return null;
  return <p className={check.data.tone === 'dim' ? 'dim' : `note ${check.data.tone}`}>{check.data.text}</p>;
}

const short = (hash: string) => (hash ? <code title={hash}>{hash.slice(0, 10)}…</code> : '–');

function Tables({ receipt }: { receipt: TurnReceipt }) {
  const { modelCalls, passages, toolCalls, toolsLeftOut, guardVerdicts } = receipt;
  return (
    <>
      {modelCalls.length > 0 && (
        <SmallTable
          label="Calls of the model"
          head={['Model', 'Prompt', 'Messages', 'Tools', 'First token', 'Whole', 'Tokens', 'Ended by', 'Tried before']}
          rows={modelCalls.map((call) => [
            [call.provider, call.model === call.provider ? '' : call.model, call.purpose].filter(Boolean).join(' '),
            short(call.promptHash),
            call.messages,
            call.tools,
            duration(call.firstTokenMs),
            duration(call.durationMs),
            `${count(call.inputTokens)} + ${count(call.outputTokens)}${call.estimated ? ' (estimated)' : ''}`,
            call.errorCode || call.finishReason || '–',
            call.attempts
              .filter(({ errorCode }) => errorCode)
              .map(({ provider, errorCode }) => `${provider}: ${errorCode}`)
              .join(', ') || '–',
          ])}
        />
      )}
      {passages.length > 0 && (
        <SmallTable
          label="Passages"
          head={['Source', 'Similarity', 'Characters', 'Pages', 'Text', '']}
          rows={passages.map((passage) => [
            passage.sourceName,
            passage.similarity.toFixed(3),
            `${passage.charStart}–${passage.charEnd}`,
            passage.pageStart ? `${passage.pageStart}–${passage.pageEnd}` : '–',
            short(passage.textHash),
            passage.quoted ? 'quoted' : '',
          ])}
        />
      )}
      {toolCalls.length > 0 && (
        <SmallTable
          label="Calls of tools"
          head={['Tool', 'Status', 'Input', 'Output', 'From', 'Took', 'Approval']}
          rows={toolCalls.map((call) => [
            call.slug,
            [call.status, call.errorCode].filter(Boolean).join(': '),
            short(call.argumentsHash),
            short(call.outputHash),
            duration(call.startMs),
            duration(call.latencyMs),
            call.approval?.status ?? '–',
          ])}
        />
      )}
      {toolsLeftOut && (
        <SmallTable
          label="Tools that the model was not offered"
          head={['Tool', 'Why']}
          rows={toolsLeftOut.tools.map(({ slug, reason }) => [slug, reasonName(reason)])}
        />
      )}
      {guardVerdicts.length > 0 && (
        <SmallTable
          label="Guards"
          head={['Guard', 'Verdict', 'About', 'Rule']}
          rows={guardVerdicts.map(({ guard, verdict, subject, rule }) => [guard, verdict, subject, rule])}
        />
      )}
    </>
  );
}
