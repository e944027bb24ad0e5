import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { exact } from "./amounts.ts";
import { ApiFault, type Limits, post, type Receipt, type Trial } from "./api.ts";
import { Count, Fault } from "./parts.tsx";
import { PlainText } from "./text-view.tsx";

/** The strategies that an output may be tried with. */
const NAMES = "auto signal head-tail head tail json table diff listing matches sections outline";
export const STRATEGIES: readonly string[] = NAMES.split(" ");

interface CompareProps {
  /** Of the output. */
  id: string;
  shown: Receipt | null;
  /** What the model read; null while that is not known. */
  before: string | null;
}

/** The same output under other limits or another strategy. Nothing of it is kept. */
export function ComparePanel({ id, shown, before }: CompareProps): ReactNode {
  const [state, setState] = useState<{ trial: Trial | null; fault: ApiFault | null; isBusy: boolean }>(IDLE);
  const panel = useRef<HTMLElement>(null);
  // It stands below the text, where nobody would see that it is there.
  useEffect(() => {
    panel.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    void panel.current?.scrollIntoView({ block: "start" });
  }, [state.trial]);
  const run = async (form: FormData) => {
    const limits: Limits = {};
    for (const name of LIMITS) {
      const value = Number(form.get(name));
      if (value > 0) limits[name] = value;
    }
    const body = { artifact: id, limits, strategy: form.get("strategy") };
    setState((before) => ({ ...before, isBusy: true }));
    try {
      setState({ trial: await post<Trial>("/api/policy/try", body), fault: null, isBusy: false });
    } catch (error) {
      const fault = error instanceof ApiFault ? error : new ApiFault(0, "fault", String(error));
      setState({ trial: null, fault, isBusy: false });
    }
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void run(new FormData(event.currentTarget));
  };
  const { trial, fault, isBusy } = state;
  return (
    <section ref={panel} tabIndex={-1} className="compare" aria-label="The same output under another policy">
      <h2>The same output under another policy</h2>
      <form className="fields" onSubmit={submit}>
        <label>
          Strategy
          <select name="strategy" defaultValue={STRATEGIES.includes(shown?.strategy ?? "") ? shown?.strategy : "auto"}>
            {STRATEGIES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {LIMITS.map((name) => (
          <label key={name}>
            {WORDS[name]}
            <input
              name={name}
              type="number"
              min={1}
              defaultValue={shown?.limits[name] === undefined ? "" : (shown.limits[name] ?? 0) * 2}
              placeholder="none"
            />
          </label>
        ))}
        <button type="submit" disabled={isBusy}>
          {isBusy ? "Trying…" : "Try it"}
        </button>
      </form>
      {fault !== null && <Fault fault={fault} again={() => setState(IDLE)} />}
      {trial !== null && (
        <>
          <p className="note" role="status">
            The model would read <Count of={trial.receipt.shown.tokens} unit="tokens" /> in{" "}
            {exact(trial.receipt.shown.lines)} lines
            {shown !== null && (
              <>
                ; it read <Count of={shown.shown.tokens} unit="tokens" /> in {exact(shown.shown.lines)} lines (
                {difference(trial.receipt.shown.tokens, shown.shown.tokens)})
              </>
            )}
            .
          </p>
          <div className={before === null ? "" : "both"}>
            {before !== null && (
              <section>
                <h3>What the model read</h3>
                <PlainText name="What the model read" text={before} />
              </section>
            )}
            <section>
              <h3>What it would read</h3>
              <PlainText name="What the model would read" text={trial.text} />
            </section>
          </div>
        </>
      )}
    </section>
  );
}

const IDLE = { trial: null, fault: null, isBusy: false };
const LIMITS = ["maxLines", "maxChars", "maxTokens"] as const;
const WORDS = { maxLines: "Lines at most", maxChars: "Characters at most", maxTokens: "Tokens at most" };

function difference(now: number, before: number): string {
  const by = now - before;
  return by === 0 ? "the same" : `${exact(Math.abs(by))} ${by > 0 ? "more" : "fewer"}`;
}
