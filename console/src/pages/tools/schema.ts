// The schema of a tool's arguments as rows that can be edited, and as JSON. What rows do not show
// (patterns, limits, …) is kept as it is.

export interface Property {
  name: string;
  /** string, number, integer, boolean, object, array, or empty: any value. */
  type: string;
  description: string;
  isRequired: boolean;
  /** The only values that are allowed; none: all. */
  choices: string[];
  /** The members of an object. */
  properties: Property[];
  /** What the elements of an array are. */
  items?: Property;
  /** The keywords that rows do not show. */
  rest: Record<string, unknown>;
}

/** A schema in both forms. */
export interface Schema {
  text: string;
  /** Missing when the schema cannot be shown as rows. */
  rows?: Property[];
  /** What is wrong with what was typed last; empty: nothing. */
  wrong: string;
  /** The root's keywords that rows do not show. */
  rest: Record<string, unknown>;
}

const simpleTypes = ['string', 'number', 'integer', 'boolean', 'object', 'array'];
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumeric = (type: string) => type === 'number' || type === 'integer';

/** A row without anything in it. */
export const newProperty = (): Property => ({
  name: '',
  type: 'string',
  description: '',
  isRequired: false,
  choices: [],
  properties: [],
  rest: {},
});

function membersOf(schema: Record<string, unknown>): Property[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).map(([name, inner]) => propertyOf(name, inner, required.includes(name)));
}

function propertyOf(name: string, schema: unknown, isRequired: boolean): Property {
  const property = { ...newProperty(), name, isRequired, type: '' };
  if (!isObject(schema)) return property;
  const { type, description, enum: choices, properties: _, required: __, items, ...rest } = schema;
  property.rest = rest;
  if (typeof type === 'string' && simpleTypes.includes(type)) property.type = type;
  else if (type !== undefined) property.rest = { ...property.rest, type };
  if (typeof description === 'string') property.description = description;
  if (Array.isArray(choices) && choices.every((one) => typeof one === (isNumeric(property.type) ? 'number' : 'string')))
    property.choices = choices.map(String);
  else if (choices !== undefined) property.rest = { ...property.rest, enum: choices };
  property.properties = membersOf(schema);
  if (items !== undefined) property.items = propertyOf('', items, false);
  return property;
}

function schemaOfMembers(members: Property[]): Record<string, unknown> {
  const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    properties: Object.fromEntries(members.map((member) => [member.name, schemaOf(member)])),
    ...(required.length > 0 ? { required } : {}),
  };
}

function schemaOf({ type, description, choices, properties, items, rest }: Property): Record<string, unknown> {
  return {
    ...(type ? { type } : {}),
    ...(description ? { description } : {}),
    ...(choices.length > 0 ? { enum: isNumeric(type) ? choices.map(Number) : choices } : {}),
    ...(type === 'object' ? schemaOfMembers(properties) : {}),
    ...(type === 'array' ? { items: items ? schemaOf(items) : {} } : {}),
    ...rest,
  };
}

/** The schema of a text; when it is not valid JSON, the rows of before are kept. */
export function schemaFromText(text: string, before?: Schema): Schema {
  const failed = (wrong: string): Schema => ({ text, rows: before?.rows, rest: before?.rest ?? {}, wrong });
  try {
    const schema: unknown = JSON.parse(text.trim() === '' ? '{"type": "object"}' : text);
    if (!isObject(schema)) return failed('It must be a JSON object.');
    if (schema['type'] !== 'object') return failed('Its type must be "object": the arguments are members of it.');
    const { type: _, properties: __, required: ___, ...rest } = schema;
    return { text, rows: membersOf(schema), rest, wrong: '' };
  } catch (error) {
    return failed(`Not valid JSON: ${(error as Error).message}`);
  }
}

function nameProblem(rows: Property[]): string {
  const names = rows.map(({ name }) => name);
  if (names.some((name) => name.trim() === '')) return 'Each argument needs a name.';
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return `There are two arguments with the name ${twice}.`;
  for (const { properties, items } of rows) {
    const problem = nameProblem(properties) || (items ? nameProblem(items.properties) : '');
    if (problem) return problem;
  }
  return '';
}

/** The schema of rows; while they are not complete, the text of before is kept. */
export function schemaFromRows(rows: Property[], before: Schema): Schema {
  const wrong = nameProblem(rows);
  if (wrong) return { ...before, rows, wrong };
  return {
    text: JSON.stringify({ type: 'object', ...schemaOfMembers(rows), ...before.rest }, null, 2),
    rows,
    rest: before.rest,
    wrong: '',
  };
}
