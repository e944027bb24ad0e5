import type { ReactNode } from "react";
import { counted } from "./amounts.ts";
import { type Artifact, type Page, useAsked, useLive } from "./api.ts";
import { Answer, Bytes, type Column, Count, List, Made, Name, NothingHere, SessionLink, Time } from "./parts.tsx";
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
        {(page) =>
          page.items.length === 0 ? (
            <NothingHere title="No output is saved here">
              {({ calls }) => `${counted(calls, "output")} came in. What a model sees whole is not saved.`}
            </NothingHere>
          ) : (
            <List key={path} label="Saved outputs" columns={COLUMNS} path={path} first={page} keyOf={keyOf} />
          )
        }
      </Answer>
    </>
  );
}

const COLUMNS: Column<Artifact>[] = [
  {
    head: "Tool",
    cell: ({ id, session, tool }) => (
      <a href={hrefTo("outputs", id, { session: session ?? undefined })}>
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
