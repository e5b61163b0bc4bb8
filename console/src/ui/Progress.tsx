import { Label } from 'react-aria-components/Label';
import { ProgressBar } from 'react-aria-components/ProgressBar';

/** How far something is; without a value, that it goes on. */
export function Progress({ label, value, text }: { label: string; value?: number; text?: string }) {
  return (
    <ProgressBar className="progress" value={value} isIndeterminate={value === undefined} valueLabel={text}>
      {({ percentage, valueText }) => (
        <>
          <div className="row between small">
            <Label>{label}</Label>
            <span className="dim">{text ?? valueText}</span>
          </div>
          <div className="bar">
            <div
              className={`fill ${percentage === undefined ? 'unknown' : ''}`}
              style={percentage === undefined ? undefined : { width: `${percentage}%` }}
            />
          </div>
        </>
      )}
    </ProgressBar>
  );
}
