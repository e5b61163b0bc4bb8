import type { ReactNode } from 'react';

import { Button } from './Button';
import { DataTable, type Column } from './DataTable';
import { FailureNote, Loading } from './Page';

interface Props<Row> {
  label: string;
  /** What useList returned. */
  list: {
    rows: Row[] | undefined;
    more: { has: boolean; isLoading: boolean; load(): void };
    error: unknown;
    refetch(): unknown;
  };
  columns: Column<Row>[];
  rowKey(row: Row): string;
  href?(row: Row): string;
  /** What is shown when there is nothing. */
  empty: ReactNode;
}

/** A list of the API as a table: on its way, empty, failed, or there. */
export function List<Row extends object>({ label, list, columns, rowKey, href, empty }: Props<Row>) {
  if (!list.rows) {
    if (list.error)
      return <FailureNote error={list.error} retry={<Button onPress={() => void list.refetch()}>Try again</Button>} />;
    return <Loading />;
  }
  return (
    <>
      {list.error !== null && <FailureNote error={list.error} />}
      {list.rows.length === 0 ? (
        empty
      ) : (
        <DataTable label={label} rows={list.rows} columns={columns} rowKey={rowKey} href={href} more={list.more} />
      )}
    </>
  );
}
