import { TextArea } from '../../ui/Field';
import { Card } from '../../ui/Page';
import { useEditor } from './editor';
import { fromText, toText } from './settings';

/** What was typed and is not valid yet, and why. */
export interface TypedJson {
  text: string;
  wrong: string;
}

/** All settings as JSON. What is valid goes into the draft at once; what is not is kept while the page is open. */
export function JsonPart({
  typed,
  onType,
}: {
  typed: (TypedJson & { of?: string }) | undefined;
  onType(typed: (TypedJson & { of?: string }) | undefined): void;
}) {
  const { settings, edit, allWrong } = useEditor();
  const current = toText(settings);
  const isMine = typed !== undefined && (typed.wrong !== '' || typed.of === current);
  const change = (text: string) => {
    try {
      const next = fromText(text);
      onType({ text, wrong: '', of: toText(next) });
      edit(next);
    } catch (error) {
      onType({
        text,
        wrong: (error as Error).message.replace('cannot decode message parlance.v1.CreateAgentRequest from JSON: ', ''),
      });
    }
  };
  const said = Object.entries(allWrong)
    .map(([path, text]) => `${path}: ${text}`)
    .join(' ');
  return (
    <Card>
      <TextArea
        code
        label="All settings"
        rows={28}
        value={isMine ? typed.text : current}
        onChange={change}
        wrong={isMine && typed.wrong ? typed.wrong : said}
        hint="As the REST API has them. What you leave out has its default. The service checks it when it is saved."
      />
    </Card>
  );
}
