import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { Button } from './Button';

export interface Series {
  name: string;
  values: number[];
  tone: 'accent' | 'good' | 'warn' | 'bad' | 'dim';
}

interface Props {
  title: string;
  /** When each step begins. */
  times: Date[];
  series: Series[];
  /** What a value is called: 1.5 MB. */
  format(value: number): string;
}

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const height = 170;
const daySeconds = 86_400;

/** 1, 2, 5, 10, 20 … */
const wholeSteps = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** A time of the axis: the day, or the time of day where the times are closer, but for midnight. */
function timeOf(seconds: number, step: number): string {
  const at = new Date(seconds * 1000);
  return step >= daySeconds || at.getHours() + at.getMinutes() === 0 ? date.format(at) : clock.format(at);
}

/** Values over time, as a plot and, on demand, as a table. */
export function TimeChart({ title, times, series, format }: Props) {
  const [isTable, setTable] = useState(false);
  return (
    <section className="card" aria-label={title}>
      <div className="row between">
        <h2>{title}</h2>
        <Button kind="quiet" onPress={() => setTable(!isTable)}>
          {isTable ? 'Plot' : 'Table'}
        </Button>
      </div>
      <ul className="row small" style={{ listStyle: 'none', margin: 0, padding: 0 }}>
        {series.map(({ name, values, tone }) => (
          <li key={name} className="row" style={{ gap: 6 }}>
            <span aria-hidden="true" style={{ width: 10, height: 10, borderRadius: 3, background: `var(--${tone})` }} />
            {name}: <strong>{format(values.reduce((sum, value) => sum + value, 0))}</strong>
          </li>
        ))}
      </ul>
      {isTable ? <Values {...{ title, times, series, format }} /> : <Plot {...{ title, times, series, format }} />}
    </section>
  );
}

function Values({ title, times, series, format }: Props) {
  return (
    <div className="table-wrap" style={{ maxHeight: 320 }}>
      <table className="table" aria-label={title}>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, at) => (
            <tr key={time.getTime()}>
              <td data-label="Time">{day.format(time)}</td>
              {series.map(({ name, values }) => (
                <td key={name} data-label={name} className="number">
                  {format(values[at] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Plot({ title, times, series, format }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const theme = useColorScheme();
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const colour = (name: string) => resolved(element, `var(--${name})`);
    const axis = {
      stroke: colour('dim'),
      grid: { stroke: colour('line'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui',
    };
    const isWhole = series.every(({ values }) => values.every(Number.isInteger));
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { points: { size: 7 } },
        padding: [8, 28, 0, 0], // half of the last time
        scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
        axes: [
          { ...axis, values: (_, ticks, __, ___, step) => ticks.map((tick) => timeOf(tick, step)) },
          { ...axis, size: 56, values: (_, ticks) => ticks.map(format), ...(isWhole && { incrs: wholeSteps }) },
        ],
        series: [
          {},
          ...series.map(({ name, tone }) => ({
            label: name,
            stroke: colour(tone),
            fill: `color-mix(in srgb, ${colour(tone)} 12%, transparent)`,
            width: 2,
            points: { show: times.length < 40 },
          })),
        ],
      },
      [times.map((time) => time.getTime() / 1000), ...series.map(({ values }) => values)],
      element,
    );
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  }, [times, series, format, theme]);
  return (
    <div
      ref={box}
      className="chart"
      role="img"
      aria-label={`${title}, as a plot. The button Table shows the numbers.`}
    />
  );
}

/** A colour of the theme as the browser computes it: a canvas knows no custom properties. */
function resolved(element: Element, value: string): string {
  const probe = document.createElement('span');
  probe.style.color = value;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Changes when the colours do. */
function useColorScheme(): string {
  const [scheme, setScheme] = useState('');
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const change = () => setScheme(`${dark.matches} ${document.documentElement.dataset['theme'] ?? ''}`);
    change();
    dark.addEventListener('change', change);
    const watched = new MutationObserver(change);
    watched.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      dark.removeEventListener('change', change);
      watched.disconnect();
    };
  }, []);
  return scheme;
}
