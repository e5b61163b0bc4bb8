import { create } from '@bufbuild/protobuf';

import { AgentWidgetSchema } from '#gen/agents_pb';

import { serviceURL } from '../../api/base';
import { CodeBlock } from '../../ui/Code';
import { Card } from '../../ui/Page';
import { useEditor } from './editor';
import { Lines } from './fields';

/** The agent on a web page. */
export function WebPage() {
  const {
    settings: { widget },
    edit,
    wrong,
    agentId,
  } = useEditor();
  const origins = widget?.allowedOrigins ?? [];
  const snippet = `<script src="${serviceURL('widget/widget.js')}" data-session="/your-endpoint" async></script>`;
  const wrongLine = origins.map((_, index) => wrong(`widget.allowed_origins[${index}]`)).find(Boolean);
  return (
    <>
      <Card title="Where browsers may talk with it">
        <Lines
          label="Allowed pages"
          value={origins}
          onChange={(allowedOrigins) => edit({ widget: { ...(widget ?? create(AgentWidgetSchema)), allowedOrigins } })}
          wrong={wrong('widget.allowed_origins') ?? wrongLine}
          placeholder="https://www.example.org"
          hint={<>One a line, such as https://www.example.org or https://*.example.org. Empty: all pages.</>}
        />
      </Card>
      <Card title="Put it on a page">
        <ol className="steps">
          <li>
            Give your server an endpoint that creates a session of this agent (<code>{agentId}</code>) with an API key,
            and answers with it. The key stays on your server.
          </li>
          <li>Put this line on the page, with the address of your endpoint:</li>
        </ol>
        <CodeBlock label="The line for the page" code={snippet} />
        <p className="small">
          The settings of the widget, and an example of the endpoint, are in <code>docs/widget.md</code>.
        </p>
      </Card>
    </>
  );
}
