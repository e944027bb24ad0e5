import { type ReactNode, useState } from "react";
import { type Artifact, ask, type Page, useAsked, useLive } from "./api.ts";
import { Answer, Bytes, type Column, Count, Made, Name, NothingYet, SessionLink, Table, Time } from "./parts.tsx";
import { hrefTo } from "./route.ts";

/** Saved outputs, the newest first. */
export function OutputsPage({ params }: { params: URLSearchParams }): ReactNode {
  const session = params.get("session");
  const path = `/api/artifacts?max=100${session === null ? "" : `&session=${encodeURIComponent(session)}`}`;
  const asked = useAsked<Page<Artifact>>(path);
  useLive(asked.again, session ?? undefined);
  return (
    <>
      <h1>Outputs</h1>
      <p className="lead">
        Every output that was cut as it came in, or made shorter or cleared later to make room, saved whole. Open one to
        see what the model saw of it.
      </p>
      <Answer asked={asked}>
        {(page) => (page.items.length === 0 ? <NothingYet /> : <Outputs key={path} path={path} first={page} />)}
      </Answer>
    </>
  );
}

const COLUMNS: Column<Artifact>[] = [
  {
    head: "Tool",
    cell: ({ id, tool }) => (
      <a href={hrefTo("outputs", id)}>
        <Name text={tool} />
      </a>
    ),
  },
  { head: "What made it", kind: "long", cell: ({ command }) => <Made by={command} /> },
  { head: "Size", kind: "right", cell: ({ bytes }) => <Bytes of={bytes} /> },
  { head: "Lines", kind: "right", cell: ({ lines }) => <Count of={lines} /> },
  { head: "Session", kind: "long", cell: ({ session }) => <SessionLink session={session} /> },
  { head: "Saved", cell: ({ createdAtMs }) => <Time atMs={createdAtMs} /> },
];
const keyOf = ({ id, session, createdAtMs }: Artifact) => `${id} ${session} ${createdAtMs}`;

function Outputs({ path, first }: { path: string; first: Page<Artifact> }): ReactNode {
  const [more, setMore] = useState<Page<Artifact>>({ items: [], next: first.next });
  const { next } = more;
  const readMore = async () => {
    const page = await ask<Page<Artifact>>(`${path}&cursor=${next}`).catch(() => null);
    if (page !== null) setMore({ items: [...more.items, ...page.items], next: page.next });
  };
  return (
    <Table label="Saved outputs" columns={COLUMNS} rows={[...first.items, ...more.items]} keyOf={keyOf}>
      {next !== null && (
        <button type="button" onClick={() => void readMore()}>
          Show more
        </button>
      )}
    </Table>
  );
}
