import { type ReactNode, useState } from "react";
import { type Artifact, ask, type Page, useAsked } from "./api.ts";
import { Answer, Bytes, Count, NothingYet, Raw, Time } from "./parts.tsx";
import { hrefTo } from "./route.ts";

/** Saved outputs, the newest first. */
export function OutputsPage({ params }: { params: URLSearchParams }): ReactNode {
  const session = params.get("session");
  const path = `/api/artifacts?max=100${session === null ? "" : `&session=${encodeURIComponent(session)}`}`;
  const asked = useAsked<Page<Artifact>>(path);
  return (
    <>
      <h1>Outputs</h1>
      <p className="lead">
        Every output that was cut as it came in, or made shorter or cleared later to make room, saved whole. Open one to
        see what the model saw of it.
      </p>
      <Answer asked={asked}>
        {(page) => (page.items.length === 0 ? <NothingYet /> : <Table key={path} path={path} first={page} />)}
      </Answer>
    </>
  );
}

function Table({ path, first }: { path: string; first: Page<Artifact> }): ReactNode {
  const [more, setMore] = useState<Page<Artifact>>({ items: [], next: first.next });
  const { next } = more;
  const readMore = async () => {
    const page = await ask<Page<Artifact>>(`${path}&cursor=${next}`).catch(() => null);
    if (page !== null) setMore({ items: [...more.items, ...page.items], next: page.next });
  };
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Saved outputs">
      <table>
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">What made it</th>
            <th scope="col" className="right">
              Size
            </th>
            <th scope="col" className="right">
              Lines
            </th>
            <th scope="col">Session</th>
            <th scope="col">Saved</th>
          </tr>
        </thead>
        <tbody>
          {[...first.items, ...more.items].map((artifact) => (
            <tr key={`${artifact.id} ${artifact.session} ${artifact.createdAtMs}`}>
              <td>
                <a href={hrefTo("outputs", artifact.id)}>
                  <bdi>
                    <Raw text={artifact.tool} />
                  </bdi>
                </a>
              </td>
              <td className="long">
                <bdi>
                  <Raw text={artifact.command ?? "—"} />
                </bdi>
              </td>
              <td className="right">
                <Bytes of={artifact.bytes} />
              </td>
              <td className="right">
                <Count of={artifact.lines} />
              </td>
              <td className="long">
                {artifact.session === null ? (
                  "—"
                ) : (
                  <bdi>
                    <Raw text={artifact.session} />
                  </bdi>
                )}
              </td>
              <td>
                <Time atMs={artifact.createdAtMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {next !== null && (
        <button type="button" onClick={() => void readMore()}>
          Show more
        </button>
      )}
    </div>
  );
}
