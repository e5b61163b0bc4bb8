import { Label } from 'react-aria-components/Label';
import { Meter as AriaMeter } from 'react-aria-components/Meter';

const warnAt = 80;

/** How much of a limit is used, in percent. */
export function Meter({ label, percent, text }: { label: string; percent: number; text: string }) {
  const tone = percent >= 100 ? 'bad' : percent >= warnAt ? 'warn' : 'accent';
  return (
    <AriaMeter className="progress" value={Math.min(100, percent)} valueLabel={text}>
      <div className="row between small">
        <Label>{label}</Label>
        <span className="dim">{text}</span>
      </div>
      <div className="bar">
        <div className="fill" style={{ width: `${Math.min(100, percent)}%`, background: `var(--${tone})` }} />
      </div>
    </AriaMeter>
  );
}
