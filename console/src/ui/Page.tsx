import { useEffect, type ReactNode } from 'react';

import { failureOf } from '../api/failure';

/** A page: its title, a sentence of what it is for, what can be done, and the rest. */
export function Page({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Parlance`;
  }, [title]);
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{title}</h1>
          {lead && <p className="lead">{lead}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** A part of a page with a frame. */
export function Card({ title, actions, children }: { title?: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="card">
      {(title || actions) && (
        <div className="row between">
          {title && <h2>{title}</h2>}
          {actions && <div className="row">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

/** What is shown in place of an empty list: what goes here, and the next step. */
export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

export const Loading = ({ what = 'Loading…' }: { what?: string }) => (
  <p className="loading" role="status">
    {what}
  </p>
);

/** What went wrong, with a way to try again. */
export function FailureNote({ error, retry }: { error: unknown; retry?: ReactNode }) {
  const { message, reason } = failureOf(error);
  return (
    <div className="note bad row between" role="alert">
      <span>
        {message}{' '}
        {reason && (
          <a href={`../errors/${reason}`} target="_blank" rel="noreferrer" className="small">
            {reason}
          </a>
        )}
      </span>
      {retry}
    </div>
  );
}

export function Badge({ tone, children }: { tone?: 'good' | 'warn' | 'bad' | 'accent'; children: ReactNode }) {
  return <span className={`badge ${tone ?? ''}`}>{children}</span>;
}

/** Names and values. Empty values are left out. */
export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== '' && value !== undefined && value !== null && value !== false)
        .map(([name, value]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
