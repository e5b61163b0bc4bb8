// What a test conversation is begun with. It is kept in the tab, without secret variables.

import type { Tool } from '#sdk/session/index';

import type { JsonObject } from '@bufbuild/protobuf';

const storageKey = 'parlance.talk.settings';

export interface Variable {
  name: string;
  value: string;
}

/** The settings as they are typed. */
export interface Settings {
  userId: string;
  /** '' is: text when the conversation begins in writing, voice+text when it begins aloud. */
  modality: '' | 'text' | 'voice+text';
  variables: Variable[];
  /** JSON, or empty. */
  overrides: string;
  /** JSON, or empty. */
  clientTools: string;
}

const defaults: Settings = { userId: 'console', modality: '', variables: [], overrides: '', clientTools: '' };

export const exampleTools: Tool[] = [
  {
    name: 'show_map',
    description: 'Shows the user a map of a place.',
    parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
];

export function storedSettings(): Settings {
  try {
    return { ...defaults, ...(JSON.parse(sessionStorage.getItem(storageKey) ?? '{}') as Partial<Settings>) };
  } catch {
    return defaults;
  }
}

export function storeSettings(settings: Settings): void {
  const variables = settings.variables.filter(({ name }) => !name.startsWith('secret__'));
  sessionStorage.setItem(storageKey, JSON.stringify({ ...settings, variables }));
}

/** What is wrong with the settings, by field. */
export type Wrong = Partial<Record<'userId' | 'overrides' | 'clientTools', string>>;

/** The settings as the API takes them. */
export interface Parsed {
  userId: string;
  variables: Record<string, string>;
  overrides: JsonObject | undefined;
  clientTools: Tool[];
}

function parse<T>(text: string, kind: string, fits: (value: unknown) => value is T): { value?: T; wrong?: string } {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return fits(value) ? { value } : { wrong: `This must be ${kind}.` };
  } catch (error) {
    return { wrong: `This is no JSON: ${(error as Error).message}.` };
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isToolList = (value: unknown): value is Tool[] =>
  Array.isArray(value) && value.every((one) => isObject(one) && typeof one['name'] === 'string');

/** Reads the settings, or says what is wrong with them. */
export function parseSettings(settings: Settings): { parsed?: Parsed; wrong: Wrong } {
  const overrides = parse(settings.overrides, 'an object', isObject);
  const tools = parse(settings.clientTools, 'a list of tools, each with a name', isToolList);
  const userId = settings.userId.trim();
  const wrong: Wrong = {
    ...(userId === '' && { userId: 'Somebody must talk: any name will do.' }),
    ...(overrides.wrong && { overrides: overrides.wrong }),
    ...(tools.wrong && { clientTools: tools.wrong }),
  };
  if (Object.keys(wrong).length > 0) return { wrong };
  const variables = Object.fromEntries(
    settings.variables.filter(({ name }) => name.trim()).map(({ name, value }) => [name.trim(), value]),
  );
  const clientTools = (tools.value ?? []).map(({ name, description = '', parameters }) => ({
    name,
    description,
    parameters,
  }));
  return { parsed: { userId, variables, overrides: overrides.value, clientTools }, wrong };
}
