import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { keepToken, onUnauthorized } from "./api.ts";
import { activeKeys, useKeys } from "./keys.ts";
import { OutputPage } from "./output-page.tsx";
import { OutputsPage } from "./outputs-page.tsx";
import { OverflowsPage } from "./overflows-page.tsx";
import { OverviewPage } from "./overview-page.tsx";
import { Dialog } from "./parts.tsx";
import { PlaygroundPage } from "./playground-page.tsx";
import { go, hrefTo, type Place, usePlace } from "./route.ts";
import { SessionPage, SessionsPage } from "./sessions-page.tsx";
import { ToolPage, ToolsPage } from "./tools-page.tsx";

interface PageEntry {
  page: string;
  title: string;
  /** A shape for the narrow bar; the title stands beside it. */
  sign: string;
  show(place: Place): ReactNode;
}

const PAGES: readonly PageEntry[] = [
  { page: "overview", title: "Overview", sign: "◔", show: ({ params }) => <OverviewPage params={params} /> },
  {
    page: "sessions",
    title: "Sessions",
    sign: "▤",
    show: ({ id, params }) => (id === "" ? <SessionsPage /> : <SessionPage key={id} session={id} params={params} />),
  },
  {
    page: "outputs",
    title: "Outputs",
    sign: "≡",
    show: ({ id, params }) =>
      id === "" ? <OutputsPage params={params} /> : <OutputPage key={id} id={id} params={params} />,
  },
  {
    page: "tools",
    title: "Tools",
    sign: "⚙",
    show: ({ id }) => (id === "" ? <ToolsPage /> : <ToolPage key={id} tool={id} />),
  },
  { page: "overflows", title: "Overflows", sign: "⟲", show: ({ params }) => <OverflowsPage params={params} /> },
  { page: "playground", title: "Playground", sign: "▷", show: ({ params }) => <PlaygroundPage params={params} /> },
];

/** The whole page: the way to each part, and the part that is shown. */
export function App(): ReactNode {
  const place = usePlace();
  const [isHelp, setHelp] = useState(false);
  const [needsToken, setNeedsToken] = useState(false);
  const [round, setRound] = useState(0);
  const [theme, setTheme] = useState(() => localStorage.getItem("spillway-theme") ?? "system");
  const current = place.page === "" ? PAGES[0] : PAGES.find(({ page }) => page === place.page);

  useEffect(() => onUnauthorized(() => setNeedsToken(true)), []);
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
    localStorage.setItem("spillway-theme", theme);
  }, [theme]);
  useEffect(() => {
    document.title = [place.id, current?.title, "Spillway"].filter(Boolean).join(" · ");
  }, [place.id, current]);
  const nextTheme = () => setTheme((now) => THEMES[(THEMES.indexOf(now) + 1) % THEMES.length] ?? "system");
  useKeys([
    { key: "?", does: "list the keys", run: () => setHelp(true) },
    { key: "t", does: "change between the system's, the light and the dark theme", run: nextTheme },
    ...PAGES.map(({ page, title }, at) => ({
      key: String(at + 1),
      does: `go to ${title}`,
      run: () => go(hrefTo(page)),
    })),
  ]);

  return (
    <>
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to the content
      </a>
      <nav aria-label="Pages">
        <a className="brand" href="#/">
          Spillway
        </a>
        <ul>
          {PAGES.map(({ page, title, sign }) => (
            <li key={page}>
              <a href={hrefTo(page)} aria-current={current?.page === page ? "page" : undefined}>
                <span className="sign" aria-hidden="true">
                  {sign}
                </span>
                {title}
              </a>
            </li>
          ))}
        </ul>
        <div className="nav-foot">
          <button type="button" onClick={nextTheme} aria-label={`Theme: ${theme}. Change it`} title="Theme (t)">
            ◐ <span>{theme}</span>
          </button>
          <button type="button" onClick={() => setHelp(true)} aria-label="List the keys" title="Keys (?)">
            ? <span>keys</span>
          </button>
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        {needsToken && (
          <TokenForm
            give={(token) => {
              keepToken(token);
              setNeedsToken(false);
              setRound(round + 1);
            }}
          />
        )}
        <div key={round} className="page">
          {current === undefined ? <Unknown /> : current.show(place)}
        </div>
      </main>
      {isHelp && <Help close={() => setHelp(false)} />}
    </>
  );
}

const THEMES = ["system", "light", "dark"];

function Unknown(): ReactNode {
  return (
    <div className="empty">
      <h1>There is no such page</h1>
      <p>
        The address may be of another version. <a href="#/">Go to the start</a>.
      </p>
    </div>
  );
}

function Help({ close }: { close: () => void }): ReactNode {
  return (
    <Dialog title="Keys" close={close}>
      <dl className="keys">
        {activeKeys().map(({ key, does }) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function TokenForm({ give }: { give: (token: string) => void }): ReactNode {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    give(String(new FormData(event.currentTarget).get("token") ?? "").trim());
  };
  return (
    <form className="fault" onSubmit={submit}>
      <p>
        <strong>This server asks for a token.</strong> Whoever runs the server has it: it is the server's variable
        SPILLWAY_TOKEN, or the second word of a line in the file that <code>spillway serve --tokens FILE</code> reads.
        Any role will do. It is kept in this tab only.
      </p>
      <label>
        Token <input name="token" type="password" autoComplete="off" required />
      </label>
      <button type="submit">Use it</button>
    </form>
  );
}
