import { type DragEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { counted, exact, percent } from "./amounts.ts";
import type { Receipt } from "./api.ts";
import type { Ask, Told } from "./clamp-worker.ts";
import { STRATEGIES } from "./compare-panel.tsx";
import { Minimap } from "./minimap.tsx";
import { headingOf } from "./output-page.tsx";
import { Bytes, Copy, Count, Figures, Reading } from "./parts.tsx";
import { hrefTo } from "./route.ts";
import { firstFailure, stretchAt, stretchesOf } from "./stretches.ts";
import { PlainText, type ReadLines, type Seen, TextView, type TextViewHandle } from "./text-view.tsx";

const LIMITS = { maxLines: 200, maxChars: 20_000, maxTokens: 0 };
type LimitName = keyof typeof LIMITS;
const WORDS: Record<LimitName, [label: string, most: number]> = {
  maxLines: ["Lines at most", 2000],
  maxChars: ["Characters at most", 200_000],
  maxTokens: ["Tokens at most (0 for none)", 50_000],
};
/** What is longer is not put into the field. */
const MOST_TYPED = 10_000;
/** What still fits into a link that one can send around. */
const MOST_LINKED = 100_000;

/** A run of tests, of which one fails. */
const SAMPLE = Array.from({ length: 2400 }, (_none, at) =>
  at === 1500
    ? [
        `not ok ${at + 1} - keeps the order of equal keys`,
        "  Error: expected [ 'a', 'b' ] to equal [ 'b', 'a' ]",
        "      at Object.<anonymous> (test/sort.test.ts:41:18)",
        "      at run (node:internal/test_runner:812:9)",
      ].join("\n")
    : `ok ${at + 1} - sorts sample ${(at * 7919) % 10_007} in ${(at * 31) % 90} ms`,
)
  .concat("# tests 2400", "# pass 2399", "# fail 1")
  .join("\n");

interface Result {
  text: string;
  receipt: Receipt;
  ms: number;
}

/** What would it do to my log? Everything happens in the browser, with the real stages. */
export function PlaygroundPage({ params }: { params: URLSearchParams }): ReactNode {
  const work = useWorker();
  const [given, setGiven] = useState<{ name: string; lineCount: number; bytes: number; text: string | null } | null>(
    null,
  );
  const [limits, setLimits] = useState(() => fromParams(params));
  const [strategy, setStrategy] = useState(params.get("strategy") ?? "auto");
  const [result, setResult] = useState<Result | null>(null);
  const [fault, setFault] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [link, setLink] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);

  const load = useCallback(
    async (source: string | File) => {
      setFault("");
      setLink("");
      setResult(null);
      if (typeof source !== "string" && field.current !== null) field.current.value = "";
      setBusy(true);
      const told = await work({ load: source });
      setBusy(false);
      if ("fault" in told) setFault(told.fault);
      else if ("lineCount" in told) {
        const name = typeof source === "string" ? "pasted text" : source.name;
        setGiven({
          name,
          lineCount: told.lineCount,
          bytes: told.bytes,
          text: typeof source === "string" ? source : null,
        });
      }
    },
    [work],
  );
  useEffect(() => {
    const packed = params.get("z");
    if (packed !== null) unpack(packed).then(load, () => setFault("The link is damaged: its text cannot be read."));
    // Only what the page was opened with.
  }, []);
  useEffect(() => {
    if (given === null || given.lineCount === 0) return;
    let isOld = false;
    setBusy(true);
    // Who moves a slider means its last place.
    const timer = setTimeout(async () => {
      const wanted = Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit > 0));
      const told = await work({ clamp: { limits: wanted, strategy, tool: "run_command" } });
      if (isOld) return;
      setBusy(false);
      if ("fault" in told) setFault(told.fault);
      else if ("receipt" in told) {
        setFault("");
        setResult(told);
      }
    }, 60);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [given, limits, strategy, work]);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file !== undefined) void load(file);
  };
  const trySample = () => {
    if (field.current !== null) field.current.value = `${SAMPLE.slice(0, 200)} …`;
    void load(SAMPLE);
  };
  const share = async () => {
    const settings = { strategy, ...limits };
    const isFitting = given?.text !== null && given !== null && given.bytes <= MOST_LINKED;
    const z = isFitting ? await pack(given.text ?? "") : undefined;
    setLink(`${location.origin}/${hrefTo("playground", "", { ...settings, z })}`);
  };
  return (
    <div onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <h1>Playground</h1>
      <p className="lead">
        Paste an output or drop a file. Nothing is sent anywhere: the same code that cuts for a model runs in this page.
      </p>
      <div className="fields">
        <label className="paste">
          Output
          <textarea
            ref={field}
            rows={given === null ? 8 : 2}
            placeholder="Paste here, or drop a file anywhere on this page"
            onChange={(event) => void load(event.target.value)}
            onPaste={(event) => {
              // A field takes seconds for thousands of lines, and nobody reads them there.
              const text = event.clipboardData.getData("text/plain");
              if (text.length < MOST_TYPED) return;
              event.preventDefault();
              event.currentTarget.value = `${text.slice(0, 200)} …`;
              void load(text);
            }}
          />
        </label>
        <button type="button" onClick={trySample}>
          Try a sample
        </button>
        <label>
          File
          <input type="file" onChange={(event) => event.target.files?.[0] && void load(event.target.files[0])} />
        </label>
      </div>
      <div className="fields">
        <label>
          Strategy
          <select value={strategy} onChange={(event) => setStrategy(event.target.value)}>
            {STRATEGIES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {(Object.keys(WORDS) as LimitName[]).map((name) => (
          <label key={name}>
            {WORDS[name][0]}: {exact(limits[name])}
            <input
              type="range"
              min={name === "maxTokens" ? 0 : 5}
              max={WORDS[name][1]}
              step={name === "maxLines" ? 5 : 500}
              value={limits[name]}
              onChange={(event) => setLimits({ ...limits, [name]: Number(event.target.value) })}
            />
          </label>
        ))}
        <button type="button" disabled={given === null} onClick={() => void share()}>
          Make a link
        </button>
      </div>
      {link !== "" && (
        <>
          <Copy text={link} />
          {!link.includes("z=") && <p className="quiet">The text is too long for a link: it has the settings only.</p>}
        </>
      )}
      {fault !== "" && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
      {isBusy && <Reading what="Cutting" />}
      {given !== null && result !== null && <Both given={given} result={result} work={work} />}
    </div>
  );
}

function fromParams(params: URLSearchParams): Record<LimitName, number> {
  const read = (name: LimitName) => {
    const value = Number(params.get(name) ?? Number.NaN);
    return Number.isInteger(value) && value >= 0 ? value : LIMITS[name];
  };
  return { maxLines: read("maxLines"), maxChars: read("maxChars"), maxTokens: read("maxTokens") };
}

function Both({
  given,
  result,
  work,
}: {
  given: { name: string; lineCount: number; bytes: number };
  result: Result;
  work: Work;
}): ReactNode {
  const { receipt, text, ms } = result;
  const [selected, select] = useState<number | null>(null);
  const handle = useRef<TextViewHandle>(null);
  const read = useCallback<ReadLines>(
    async (from, to) => {
      const told = await work({ lines: [from, to] });
      return "lines" in told ? told.lines : [];
    },
    // A new text has a new count or a new name.
    [work, given],
  );
  const stretches = useMemo(() => stretchesOf(receipt, given.lineCount, null, receipt), [receipt, given]);
  const headings = useMemo(() => stretches.flatMap(headingOf), [stretches]);
  const [fault, setFault] = useState<string>();
  const [seen, setSeen] = useState<Seen>({ from: 1, to: 1 });
  useEffect(() => {
    const failure = firstFailure(stretches);
    if (failure === null) return;
    handle.current?.goTo(failure);
    void read(failure, failure, new AbortController().signal).then(([line]) => setFault(line?.text));
    // Only as the text comes in: who moves a slider looks at one place.
  }, []);
  return (
    <>
      <Figures
        figures={[
          { name: "It has", value: <Bytes of={given.bytes} />, note: <Count of={given.lineCount} unit="lines" /> },
          {
            name: "The model would read",
            value: <Count of={receipt.shown.tokens} unit="tokens" />,
            note: <Count of={receipt.shown.lines} unit="lines" />,
          },
          {
            name: "Of the source kept",
            value: percent(receipt.kept.bytes / Math.max(1, receipt.total.bytes)),
            note: receipt.cutBy === null ? "nothing is cut" : `cut by ${receipt.cutBy}`,
          },
          {
            name: "Strategy",
            isWord: true,
            value: receipt.strategy,
            note: `${receipt.kind === undefined ? "" : `a ${receipt.kind}; `}took ${exact(Math.round(ms))} ms`,
          },
        ]}
      />
      <div className="both">
        <section>
          <h2>Original</h2>
          <div className="reader unknown">
            <TextView
              name={`The original, ${counted(given.lineCount, "line")}`}
              lines={given.lineCount}
              read={read}
              headings={headings}
              classOf={(line) => (stretchAt(stretches, line)?.isShown === false ? "cut" : "lit")}
              selected={selected}
              select={select}
              seen={setSeen}
              handle={handle}
            />
            <Minimap
              lines={given.lineCount}
              stretches={stretches}
              hits={NO_HITS}
              seen={seen}
              goTo={(line) => handle.current?.goTo(line)}
            />
          </div>
        </section>
        <section>
          <h2>What the model would read</h2>
          <PlainText name="What the model would read" text={text} {...(fault !== undefined && { startAt: fault })} />
        </section>
      </div>
    </>
  );
}

const NO_HITS: readonly number[] = [];

type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;
type Work = (asked: WithoutId<Ask>) => Promise<Told>;

/** A worker of this page's own. */
function useWorker(): Work {
  const waiting = useRef(new Map<number, (told: Told) => void>());
  const worker = useRef<Worker | null>(null);
  useEffect(
    () => () => {
      worker.current?.terminate();
      worker.current = null;
    },
    [],
  );
  return useCallback((asked) => {
    if (worker.current === null) {
      worker.current = new Worker(new URL("./clamp-worker.ts", import.meta.url), { type: "module" });
      worker.current.addEventListener("message", ({ data }: MessageEvent<Told>) => {
        waiting.current.get(data.id)?.(data);
        waiting.current.delete(data.id);
      });
    }
    const id = nextId++;
    worker.current.postMessage({ ...asked, id }, []);
    return new Promise((resolve) => waiting.current.set(id, resolve));
  }, []);
}

let nextId = 1;

/** A text as part of an address. */
async function pack(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

async function unpack(packed: string): Promise<string> {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}
