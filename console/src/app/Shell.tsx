import { Suspense, useEffect, useLayoutEffect, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';

import { showCallsOf } from '../api/calls';
import { signOut } from '../api/credentials';
import { isAnythingKept, saveAll } from '../api/kept';
import { Button, ButtonLink } from '../ui/Button';
import { Dialog, useConfirm } from '../ui/Dialog';
import { Menu } from '../ui/Menu';
import { Empty, Loading, Page } from '../ui/Page';
import { Select } from '../ui/Select';
import { tellFailure } from '../ui/toast';
import { ApiPanel } from './ApiPanel';
import { useHere } from './caller';
import { Boundary } from './Boundary';
import { SignedIn } from './SignInAgain';
import { isOffered, pageKey, pages, refusalOf } from './pages';
import { toggleTheme } from './theme';

/** The frame around every page. */
export function Shell({ onSignedOut }: { onSignedOut(): void }) {
  const [path, go] = useLocation();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { caller, workspaces, workspaceId, choose } = useHere();
  const page = pageKey(path);
  useLayoutEffect(() => showCallsOf(page), [page]); // before the page's own calls
  useEffect(() => {
    setMenuOpen(false);
    scrollTo(0, 0);
  }, [page]);
  const allowed = pages.map((def) => ({ at: def.path, component: def.component, refusal: refusalOf(def, caller) }));
  const confirm = useConfirm();
  const out = caller.kind === 'person' ? 'Sign out' : 'Forget the key';
  const leave = async () => {
    await saveAll();
    const isSure =
      !isAnythingKept() ||
      (await confirm({
        title: `${out}?`,
        text: 'Something that you typed is not saved or not sent yet. It will be gone.',
        action: out,
      }));
    if (!isSure) return;
    try {
      await signOut();
      onSignedOut();
    } catch (error) {
      tellFailure(error);
    }
  };
  return (
    <div className="shell">
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        Skip to the page
      </a>
      <aside className="sidebar">
        <Brand />
        <Navigation path={path} />
      </aside>
      {isMenuOpen && (
        <Dialog title="Parlance" shape="side" onClose={() => setMenuOpen(false)}>
          <Navigation path={path} />
        </Dialog>
      )}
      <div className="main">
        <header className="topbar">
          <Button className="menu-button" aria-label="Menu" icon onPress={() => setMenuOpen(true)}>
            ☰
          </Button>
          {workspaces.length > 1 ? (
            <div className="workspace">
              <Select
                label="Workspace"
                hideLabel
                value={workspaceId}
                choices={workspaces.map(({ id, name }) => ({ id, text: name }))}
                onChange={(id) => {
                  choose(id);
                  go('/');
                }}
              />
            </div>
          ) : (
            <strong>{caller.tenantName}</strong>
          )}
          <span className="grow" />
          <ApiPanel />
          <Menu
            label={`Signed in as ${caller.name}`}
            actions={[
              { id: 'theme', text: 'Light or dark', run: toggleTheme },
              { id: 'out', text: out, run: () => void leave() },
            ]}
          >
            {caller.name.charAt(0).toUpperCase() || '?'}
          </Menu>
        </header>
        <main id="main" tabIndex={-1} style={{ outline: 'none' }}>
          <Boundary key={page}>
            <Suspense
              fallback={
                <div className="page">
                  <Loading />
                </div>
              }
            >
              <Switch>
                {allowed.map(({ at, refusal, component: Component }) => (
                  <Route key={at} path={at}>
                    {(params) =>
                      refusal ? (
                        <Refused why={refusal} onLeave={() => void leave()} />
                      ) : (
                        <Component params={params as never} />
                      )
                    }
                  </Route>
                ))}
                <Route path="/sign-in">
                  <Redirect to={returnTo()} replace />
                </Route>
                <Route path="/signed-in">
                  <SignedIn />
                </Route>
                <Route>
                  <NoPage />
                </Route>
              </Switch>
            </Suspense>
          </Boundary>
        </main>
      </div>
    </div>
  );
}

/** Where one goes on who is signed in already: the page that the address names, or the overview. */
function returnTo(): string {
  const asked = new URLSearchParams(location.hash.split('?')[1]).get('return_to') ?? '';
  return asked.split('#')[1] ?? '/'; // only a page of the console
}

const Brand = () => (
  <Link href="/" className="brand">
    <img src="./icon.svg" alt="" />
    Parlance
  </Link>
);

function NoPage() {
  return (
    <Page title="There is no such page">
      <Empty title="Nothing is here" action={<ButtonLink href="#/">Go to the overview</ButtonLink>}>
        The address may be of an older version.
      </Empty>
    </Page>
  );
}

/** In place of a page that the caller may not see: one that they may, and the way to be somebody else. */
function Refused({ why, onLeave }: { why: string; onLeave(): void }) {
  const { caller } = useHere();
  const other = pages.find((page) => isOffered(page, caller));
  return (
    <Page title="Not for you">
      <Empty
        title="You may not see this page"
        action={
          <div className="row">
            {other && <ButtonLink href={`#${other.path}`}>Go to {other.title}</ButtonLink>}
            <Button onPress={onLeave}>
              {caller.kind === 'person' ? 'Sign in as somebody else' : 'Sign in with another key'}
            </Button>
          </div>
        }
      >
        {why}
      </Empty>
    </Page>
  );
}

function Navigation({ path }: { path: string }) {
  const { caller } = useHere();
  const seen = pages.filter((page) => isOffered(page, caller));
  const isHere = (at: string) => (at === '/' ? path === '/' : path === at || path.startsWith(`${at}/`));
  return (
    <nav className="nav" aria-label="Pages">
      {[undefined, 'Build', 'Watch', 'Run'].map((group) => {
        const of = seen.filter((page) => page.group === group);
        return (
          of.length > 0 && (
            <div key={group ?? ''}>
              {group && <h2>{group}</h2>}
              {of.map(({ path: at, title }) => (
                <Link key={at} href={at} aria-current={isHere(at) ? 'page' : undefined}>
                  {title}
                </Link>
              ))}
            </div>
          )
        );
      })}
    </nav>
  );
}
