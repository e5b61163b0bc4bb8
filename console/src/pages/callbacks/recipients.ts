import type { MessageInitShape } from '@bufbuild/protobuf';

import type { CallbackRecipientSchema } from '#gen/callbacks_pb';

export type Recipient = MessageInitShape<typeof CallbackRecipientSchema>;

/** The rows of CSV text: fields in quotes may have commas, line breaks and doubled quotes. */
export function rowsOf(text: string, separator: string): string[][] {
  const rows: string[][] = [[]];
  const field = new RegExp(
    `("(?:[^"]|"")*"|[^"${separator}\\r\\n][^${separator}\\r\\n]*|)(${separator === '\t' ? '\\t' : separator}|\\r\\n|\\n|\\r|$)`,
    'gy',
  );
  for (let match = field.exec(text); match; match = field.exec(text)) {
    const [whole, value = '', end = ''] = match;
    rows.at(-1)?.push((value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value).trim());
    if (end !== separator && end !== '') rows.push([]);
    if (whole === '' || field.lastIndex >= text.length) break;
  }
  return rows.filter((row) => row.some(Boolean));
}

/**
 * Who is called, of lines of numbers or of CSV whose first line names the columns, as `parlance
 * batches create` takes it.
 */
export function recipientsOf(text: string): { recipients: Recipient[]; variables: string[]; wrong?: string } {
  const clean = text.replace(/^\uFEFF/, '');
  const [firstLine = ''] = clean.trimStart().split(/\r?\n/, 1);
  const separator = [',', ';', '\t'].find((one) => firstLine.includes(one)) ?? ',';
  const rows = rowsOf(clean, separator);
  const head = rows[0]?.map((name) => name.toLowerCase()) ?? [];
  if (!/[a-z]/.test(firstLine.toLowerCase()))
    return {
      recipients: rows
        .flat()
        .filter(Boolean)
        .map((phoneNumber) => ({ phoneNumber })),
      variables: [],
    };
  const at = (name: string) => head.indexOf(name);
  if (at('phone_number') < 0)
    return {
      recipients: [],
      variables: [],
      wrong: 'The first line names the columns, and one of them is phone_number.',
    };
  const known = ['phone_number', 'user_id', 'timezone'];
  const variables = (rows[0] ?? []).filter((name) => name && !known.includes(name.toLowerCase()));
  const recipients = rows.slice(1).map((row) => ({
    phoneNumber: row[at('phone_number')] ?? '',
    userId: row[at('user_id')] ?? '',
    timezone: row[at('timezone')] ?? '',
    dynamicVariables: Object.fromEntries(variables.map((name) => [name, row[rows[0]?.indexOf(name) ?? -1] ?? ''])),
  }));
  return { recipients, variables };
}
