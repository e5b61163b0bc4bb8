import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, type ReactNode } from 'react';
import { Link } from 'wouter';

import { navigate } from '../app/location';
import { Button } from './Button';

export interface Column<Row> {
  id: string;
  /** The heading; on a telephone it stands before the value. Empty for a column of buttons. */
  title: string;
  cell(row: Row): ReactNode;
  /** Whether it is a number: aligned at its end. */
  number?: boolean;
}

interface Props<Row> {
  /** What the rows are, for screen readers. */
  label: string;
  rows: readonly Row[];
  rowKey(row: Row): string;
  columns: Column<Row>[];
  /** Where a row leads: its first column is a link, and a click anywhere in the row follows it. */
  href?(row: Row): string;
  /** Whether the service has more rows, and how they are fetched: when the end comes into view. */
  more?: { has: boolean; isLoading: boolean; load(): void };
}

const features = tableFeatures({});
const rowHeight = 42; // a guess; rows are measured when they are shown

/** A table, of which only the rows in view are in the document. On a telephone each row is a card. */
export function DataTable<Row extends object>({ label, rows, rowKey, columns, href, more }: Props<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const helper = useMemo(() => createColumnHelper<typeof features, Row>(), []);
  const definitions = columns.map(({ id, title }) => helper.display({ id, header: title }));
  const table = useTable({ features, columns: definitions, data: rows, getRowId: rowKey });
  const all = table.getRowModel().rows;
  const virtual = useWindowVirtualizer({
    count: all.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: body.current?.offsetTop ?? 0,
    getItemKey: (index) => all[index]?.id ?? index,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? -1;
  const wantsMore = more?.has && !more.isLoading && last >= all.length - 1;
  useEffect(() => {
    if (wantsMore) more?.load();
  }, [wantsMore]); // eslint-disable-line react-hooks/exhaustive-deps
  const above = (shown[0]?.start ?? 0) - virtual.options.scrollMargin;
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0) + virtual.options.scrollMargin;
  const byId = new Map(columns.map((column) => [column.id, column]));
  return (
    <div className="table-wrap">
      <table className="table" aria-label={label} aria-rowcount={more?.has ? -1 : all.length + 1}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => {
                const { title = '', number } = byId.get(header.id) ?? {};
                return (
                  <th key={header.id} scope="col" className={number ? 'number' : undefined}>
                    {title || <span className="visually-hidden">Actions</span>}
                  </th>
                );
              })}
            </tr>
          ))}
        </thead>
        <tbody ref={body}>
          <Spacer height={above} columns={columns.length} />
          {shown.map(({ index }) => {
            const row = all[index];
            if (!row) return null;
            const to = href?.(row.original);
            return (
              <tr
                key={row.id}
                data-index={index}
                aria-rowindex={index + 2}
                ref={virtual.measureElement}
                className={to ? 'opens' : undefined}
                onClick={(event) => to && !(event.target as Element).closest('a, button, input, label') && navigate(to)}
              >
                {row.getAllCells().map((cell, at) => {
                  const { title = '', number, cell: show } = byId.get(cell.column.id) ?? {};
                  const content = show?.(row.original); // not a component of its own, which would be another one at each render
                  return (
                    <td key={cell.id} data-label={title} className={number ? 'number' : undefined}>
                      {at === 0 && to ? <Link href={to}>{content}</Link> : text(content)}
                    </td>
                  );
                })}
              </tr>
            );
          })}
          <Spacer height={below} columns={columns.length} />
        </tbody>
      </table>
      {more?.has && (
        <div className="row" style={{ padding: 8, justifyContent: 'center' }}>
          <Button kind="quiet" isDisabled={more.isLoading} onPress={more.load}>
            {more.isLoading ? 'Loading…' : 'Show more'}
          </Button>
        </div>
      )}
    </div>
  );
}

/** A text by itself: characters in it that turn text around do not turn what stands beside it. */
const text = (content: ReactNode) => (typeof content === 'string' ? <bdi>{content}</bdi> : content);

/** The room of the rows that are not in the document. */
function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height < 1) return null;
  return (
    <tr className="spacer" aria-hidden="true">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}
