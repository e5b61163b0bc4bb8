// A tool while it is edited, and the requests that make or change it.

import type { MessageInitShape } from '@bufbuild/protobuf';

import type { CreateToolRequestSchema, Tool, UpdateToolRequestSchema } from '#gen/tools_pb';

import { forget, keep, kept } from '../../api/kept';
import { schemaFromText, type Schema } from './schema';

export interface Pair {
  name: string;
  value: string;
}

export interface ToolDraft {
  kind: 'http' | 'mcp';
  slug: string;
  description: string;
  schema: Schema;
  url: string;
  method: string;
  queryParams: string[];
  headers: Pair[];
  fixedQuery: Pair[];
  /** JSON text of an object; empty: none. */
  fixedBody: string;
  mcpServerUrl: string;
  mcpToolName: string;
  allowedTools: string[];
  approval: string;
  approvalTools: string[];
  /** undefined: as it is stored; empty: none. */
  authHeader?: string;
  /** undefined: as they are stored. */
  secretHeaders?: Pair[];
  allowDynamicVars: boolean;
  requiresUserIntent: boolean;
  /** NaN: the default. */
  timeoutSeconds: number;
  responseMaxBytes: number;
  maxAttempts: number;
  retryStatuses: string;
  breaker: 'default' | 'own' | 'off';
  failureRatio: number;
  minCalls: number;
  windowSeconds: number;
  pauseSeconds: number;
  /** Pairs of a variable and the path of its value. */
  assignments: Pair[];
}

/** The names of the {name} placeholders of a URL; {{variables}} are none. */
export const placeholdersOf = (url: string) => [
  ...new Set([...url.matchAll(/(?<!\{)\{([^{}]+)\}(?!\})/g)].map(([, name = '']) => name)),
];

export const hasBody = (method: string) => !['GET', 'DELETE'].includes(method);

/** A tool that is not made yet. */
export const newDraft = (kind: 'http' | 'mcp'): ToolDraft => ({
  kind,
  slug: '',
  description: '',
  schema: schemaFromText('{\n  "type": "object",\n  "properties": {}\n}'),
  url: '',
  method: 'GET',
  queryParams: [],
  headers: [],
  fixedQuery: [],
  fixedBody: '',
  mcpServerUrl: '',
  mcpToolName: '',
  allowedTools: [],
  approval: kind === 'mcp' ? 'never' : '',
  approvalTools: [],
  authHeader: '',
  secretHeaders: [],
  allowDynamicVars: false,
  requiresUserIntent: false,
  timeoutSeconds: NaN,
  responseMaxBytes: NaN,
  maxAttempts: NaN,
  retryStatuses: '',
  breaker: 'default',
  failureRatio: NaN,
  minCalls: NaN,
  windowSeconds: NaN,
  pauseSeconds: NaN,
  assignments: [],
});

const keptName = (kind: 'http' | 'mcp') => `tool.${kind}`;

/** Keeps in the tab what was typed of a new tool, but no secrets. */
export const keepDraft = (draft: ToolDraft) =>
  keep(keptName(draft.kind), { ...draft, authHeader: '', secretHeaders: [] });

/** What was typed before of a new tool. */
export function keptDraft(kind: 'http' | 'mcp'): ToolDraft | undefined {
  const found = kept<ToolDraft>(keptName(kind));
  if (!found) return undefined;
  // JSON has no NaN.
  const numbers = Object.entries(newDraft(kind)).filter(([, value]) => typeof value === 'number');
  const values = numbers.map(([name]) => [name, (found[name as keyof ToolDraft] as number | null) ?? NaN]);
  return { ...newDraft(kind), ...found, ...(Object.fromEntries(values) as Partial<ToolDraft>) };
}

export const forgetDraft = (kind: 'http' | 'mcp') => forget(keptName(kind));

const pairs = (map: { [name: string]: string }) => Object.entries(map).map(([name, value]) => ({ name, value }));
const mapOf = (list: Pair[]) =>
  Object.fromEntries(list.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]));
const orNaN = (n: number | undefined) => (n ? n : NaN);
const orZero = (n: number) => (Number.isNaN(n) ? 0 : n);

/** An existing tool as it is edited. */
export function draftOf(tool: Tool): ToolDraft {
  const { retry, breaker } = tool;
  return {
    kind: tool.kind === 'mcp' ? 'mcp' : 'http',
    slug: tool.slug,
    description: tool.description,
    schema: schemaFromText(prettyJson(tool.inputSchemaJson || '{"type":"object"}')),
    url: tool.webhookUrl,
    method: tool.method || 'POST',
    queryParams: tool.queryParams,
    headers: pairs(tool.headers),
    fixedQuery: pairs(tool.hardcodedQueryParams),
    fixedBody: prettyJson(tool.hardcodedBodyParamsJson),
    mcpServerUrl: tool.mcpServerUrl,
    mcpToolName: tool.mcpToolName,
    allowedTools: tool.allowedTools,
    approval: tool.approval,
    approvalTools: tool.approvalTools,
    allowDynamicVars: tool.allowDynamicVars,
    requiresUserIntent: tool.requiresUserIntent,
    timeoutSeconds: orNaN(tool.timeoutSeconds),
    responseMaxBytes: orNaN(tool.responseMaxBytes),
    maxAttempts: orNaN(retry?.maxAttempts),
    retryStatuses: retry?.statuses.join(', ') ?? '',
    breaker: !breaker ? 'default' : breaker.disabled ? 'off' : 'own',
    failureRatio: orNaN(breaker?.failureRatio),
    minCalls: orNaN(breaker?.minCalls),
    windowSeconds: orNaN(breaker?.windowSeconds),
    pauseSeconds: orNaN(breaker?.pauseSeconds),
    assignments: tool.assignments.map(({ dynamicVariable, valuePath }) => ({
      name: dynamicVariable,
      value: valuePath,
    })),
  };
}

/** JSON with layout; what is no JSON, or would lose digits, is left as it is. */
export function prettyJson(text: string): string {
  if (/\d{16}/.test(text)) return text;
  try {
    return text === '' ? '' : JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The fields that both requests have. */
function fieldsOf(draft: ToolDraft) {
  const common = {
    description: draft.description,
    allowDynamicVars: draft.allowDynamicVars,
    requiresUserIntent: draft.requiresUserIntent,
    headers: mapOf(draft.headers),
    assignments: draft.assignments
      .filter(({ name }) => name !== '')
      .map(({ name, value }) => ({ dynamicVariable: name, valuePath: value })),
    retry: retryOf(draft),
    breaker: breakerOf(draft),
  };
  if (draft.kind === 'mcp') {
    const { mcpServerUrl, mcpToolName, allowedTools, approval, approvalTools } = draft;
    const { retry: _, ...rest } = common;
    return {
      ...rest,
      mcpServerUrl: mcpServerUrl.trim(),
      mcpToolName,
      allowedTools,
      approval,
      approvalTools: approval === 'listed' ? approvalTools : [],
    };
  }
  const known = (draft.schema.rows ?? []).map(({ name }) => name);
  return {
    ...common,
    inputSchemaJson: draft.schema.text,
    webhookUrl: draft.url.trim(),
    method: draft.method,
    pathParams: placeholdersOf(draft.url),
    queryParams: hasBody(draft.method) ? draft.queryParams.filter((name) => known.includes(name)) : [],
    hardcodedQueryParams: mapOf(draft.fixedQuery),
    hardcodedBodyParamsJson: hasBody(draft.method) ? draft.fixedBody.trim() : '',
  };
}

function retryOf({ maxAttempts, retryStatuses }: ToolDraft) {
  const statuses = retryStatuses
    .split(/[,\s]+/)
    .filter(Boolean)
    .map(Number);
  return Number.isNaN(maxAttempts) && statuses.length === 0
    ? undefined
    : { maxAttempts: orZero(maxAttempts), statuses };
}

function breakerOf({ breaker, failureRatio, minCalls, windowSeconds, pauseSeconds }: ToolDraft) {
  if (breaker === 'default') return undefined;
  if (breaker === 'off') return { disabled: true };
  return {
    failureRatio: orZero(failureRatio),
    minCalls: orZero(minCalls),
    windowSeconds: orZero(windowSeconds),
    pauseSeconds: orZero(pauseSeconds),
  };
}

/** The request that makes the tool. */
export function createRequest(workspaceId: string, draft: ToolDraft): MessageInitShape<typeof CreateToolRequestSchema> {
  return {
    ...fieldsOf(draft),
    workspaceId,
    kind: draft.kind,
    slug: draft.slug.trim(),
    authHeader: draft.authHeader ?? '',
    secretHeaders: mapOf(draft.secretHeaders ?? []),
    timeoutSeconds: orZero(draft.timeoutSeconds),
    responseMaxBytes: orZero(draft.responseMaxBytes),
  };
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The request that changes the tool; a secret that was not touched is left out. */
export function updateRequest(
  workspaceId: string,
  toolId: string,
  draft: ToolDraft,
): MessageInitShape<typeof UpdateToolRequestSchema> {
  const fields = {
    ...fieldsOf(draft),
    timeoutSeconds: Number.isNaN(draft.timeoutSeconds) ? undefined : draft.timeoutSeconds,
    responseMaxBytes: Number.isNaN(draft.responseMaxBytes) ? undefined : draft.responseMaxBytes,
    ...(draft.authHeader === undefined ? {} : { authHeader: draft.authHeader || undefined }),
    ...(draft.secretHeaders === undefined ? {} : { secretHeaders: mapOf(draft.secretHeaders) }),
  };
  const paths = Object.keys(fields).map(snake);
  return { ...fields, workspaceId, toolId, updateMask: { paths } };
}

/** What keeps a draft from being saved, in words; empty: nothing. */
export function problemOf(draft: ToolDraft): string {
  if (draft.kind === 'mcp') return draft.mcpServerUrl.trim() === '' ? 'Give the address of the server.' : '';
  if (draft.url.trim() === '') return 'Give the address that is called.';
  if (draft.schema.wrong) return draft.schema.wrong;
  const known = (draft.schema.rows ?? []).map(({ name }) => name);
  const missing = placeholdersOf(draft.url).filter((name) => !known.includes(name));
  if (missing.length > 0) return `The address has {${missing.join('}, {')}}, but there is no such argument.`;
  try {
    const body: unknown = JSON.parse(draft.fixedBody.trim() || '{}');
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      return 'The fixed body must be a JSON object.';
  } catch {
    return 'The fixed body is not valid JSON.';
  }
  return '';
}
