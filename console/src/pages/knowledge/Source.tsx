import type { Source as SourceMessage } from '#gen/knowledge_pb';

import { useMay } from '../../app/caller';
import { useFilters } from '../../app/location';
import { ButtonLink } from '../../ui/Button';
import { bytes, count } from '../../ui/format';
import { Card, Facts, Page } from '../../ui/Page';
import { Query } from '../../ui/Query';
import { Tabs } from '../../ui/Tabs';
import { Time } from '../../ui/Time';
import { Chunks } from './Chunks';
import './knowledge.css';
import { SourceActions } from './SourceActions';
import { SourceAgents } from './SourceAgents';
import { SourceSettings } from './SourceSettings';
import { SourceFailure, SourceProgress, StateBadge } from './SourceState';
import { TagList } from './TagList';
import { kindName } from './types';
import { isBusy, useSource } from './useSource';

export default function Source({ params }: { params: { sourceId: string } }) {
  const query = useSource(params.sourceId, { stream: true });
  const [filters, change] = useFilters(['tab']);
  const mayChange = useMay('operator');
  const mayAsk = useMay('runtime');
  if (!query.data)
    return (
      <Page title="Source">
        <Query query={query}>{() => null}</Query>
      </Page>
    );
  const source = query.data;
  const tabs = [
    { id: 'passages', title: 'Passages', content: <Chunks source={source} /> },
    { id: 'agents', title: 'Agents', content: <SourceAgents source={source} /> },
    ...(mayChange
      ? [{ id: 'settings', title: 'Settings', content: <SourceSettings key={source.id} source={source} /> }]
      : []),
  ];
  return (
    <Page
      title={source.name}
      lead={<a href="#/knowledge">All sources</a>}
      actions={
        <>
          {mayAsk && <ButtonLink href={`#/knowledge/test?explain=${source.id}`}>Ask a question</ButtonLink>}
          <SourceActions source={source} />
        </>
      }
    >
      <Overview source={source} />
      <Tabs
        label="Parts of the source"
        tabs={tabs}
        selected={filters.tab || 'passages'}
        onSelect={(tab) => change({ tab })}
      />
    </Page>
  );
}

function Overview({ source }: { source: SourceMessage }) {
  const { warnings, url, previous, pageCount, ocrPageCount, nextFetchAt, fetchedAt } = source;
  return (
    <Card>
      <SourceFailure source={source} />
      {isBusy(source) && <SourceProgress source={source} />}
      {source.replacing && (
        <p className="small dim">Until the new content is ready, the passages of the old one answer.</p>
      )}
      {source.reprocessQueued && <p className="small dim">It is processed once more when this run has ended.</p>}
      <Facts
        facts={[
          ['State', <StateBadge source={source} />],
          ['Type', kindName(source)],
          ['Address', url && <SafeLink url={url} />],
          [
            'Fetched',
            url && (
              <>
                <Time at={fetchedAt} />
                {nextFetchAt && (
                  <>
                    , next <Time at={nextFetchAt} />
                  </>
                )}
              </>
            ),
          ],
          ['Size', bytes(source.sizeBytes)],
          ['Passages', count(source.chunkCount)],
          ['Pages', pageCount > 0 && `${count(pageCount)}${ocrPageCount > 0 ? `, ${ocrPageCount} read by OCR` : ''}`],
          ['Language', source.language],
          ['Tags', source.tags.length > 0 && <TagList tags={source.tags} />],
          ['Made', <Time at={source.createdAt} />],
          ['Ready since', source.readyAt && <Time at={source.readyAt} />],
          ['Content before', previous && `${bytes(previous.sizeBytes)}, can be restored`],
          ['Id', <code>{source.id}</code>],
        ]}
      />
      {warnings.length > 0 && (
        <details className="note warn" open={warnings.length < 4}>
          <summary>{warnings.length === 1 ? 'A warning' : `${warnings.length} warnings`}</summary>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </details>
      )}
    </Card>
  );
}

const SafeLink = ({ url }: { url: string }) =>
  /^https?:\/\//i.test(url) ? (
    <a href={url} target="_blank" rel="noreferrer">
      {url}
    </a>
  ) : (
    <>{url}</>
  );
