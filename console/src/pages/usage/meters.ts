import { bytes, count } from '../../ui/format';

interface MeterName {
  title: string;
  format(quantity: number): string;
}

const decimal = (quantity: number) =>
  Number.isInteger(quantity) || quantity >= 100 ? count(quantity) : quantity.toFixed(1);

const names: Record<string, MeterName> = {
  sessions: { title: 'Sessions', format: count },
  turns: { title: 'Answers', format: count },
  tokens: { title: 'Tokens', format: count },
  input_tokens: { title: 'Tokens read', format: count },
  output_tokens: { title: 'Tokens written', format: count },
  tool_calls: { title: 'Calls of tools', format: count },
  deliveries: { title: 'Webhook deliveries', format: count },
  kb_bytes: { title: 'Knowledge stored', format: bytes },
  voice_minutes: { title: 'Minutes of voice', format: decimal },
  pstn_minutes: { title: 'Telephone minutes', format: decimal },
  speech_seconds: { title: 'Seconds of speech recognised', format: decimal },
  speech_characters: { title: 'Characters spoken', format: count },
};

/** api_keys → Api keys */
const titleOf = (meter: string) => (meter.charAt(0).toUpperCase() + meter.slice(1)).replaceAll('_', ' ');

/** What a meter is called and how its quantities are written. */
export const meterName = (meter: string): MeterName => names[meter] ?? { title: titleOf(meter), format: decimal };

/** The meters that an alert can be set for. */
export const alertMeters = Object.keys(names).filter((name) => name !== 'input_tokens' && name !== 'output_tokens');
