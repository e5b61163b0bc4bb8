import { CodeBlock } from '../../ui/Code';
import { Tabs } from '../../ui/Tabs';
import { verifiers } from './verifiers';

/** How a program checks that a request comes from here, in four languages. */
export function Verify() {
  return (
    <div className="stack loose">
      <ol>
        <li>Check the signature over the body as it came, before anything is parsed.</li>
        <li>Refuse a time that is more than five minutes from yours: it may be an old request sent again.</li>
        <li>Ignore an event whose id you have: an event can come twice.</li>
        <li>Answer 2xx within 15 seconds when it is stored, and do the work afterwards.</li>
      </ol>
      <Tabs
        label="Language"
        tabs={verifiers.map(({ language, note, code }) => ({
          id: language,
          title: language,
          content: (
            <div className="stack">
              <p className="dim small">{note}</p>
              <CodeBlock code={code} label={`How to verify in ${language}`} />
            </div>
          ),
        }))}
      />
      <p className="dim small">
        The headers webhook-id, webhook-timestamp and webhook-signature are those of Standard Webhooks: its libraries,
        and Svix's, verify them too. While a secret is changed, webhook-signature has several signatures with spaces
        between; one that matches is enough.
      </p>
    </div>
  );
}
