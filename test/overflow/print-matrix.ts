import type { Verdict, VerdictContext } from "../../src/contract/verdict.ts";
import { bare, guards, last, litellm, pages, providers } from "../../src/stages/recover/signatures.ts";

/** One real refusal, or an answer that only looks like one, and the verdict it must get. */
export interface OverflowFixture {
  name: string;
  /** Where the body is from: a public thread, or the project's notes. Ids of people and requests are replaced. */
  source: string;
  /** What the source shows, where that is less than a whole refusal. */
  known?: string;
  /** An HTTP refusal. */
  status?: number;
  body?: unknown;
  /** What an SDK throws. */
  thrown?: Record<string, unknown>;
  /** A stream's event, or an answer. */
  event?: unknown;
  context?: VerdictContext;
  expect: Omit<Verdict, "evidence">;
}

/** The rules as the reference page shows them. */
export function printRules(): string {
  const rows = [...providers, pages, guards, litellm, last, bare].flatMap(({ provider, signatures }) =>
    signatures.map(({ rule, kind, status = [], code = [], stop = [], text = [] }) => {
      const tells = [
        ...status.map((one) => `HTTP ${one}`),
        ...[...code, ...stop].map((word) => `\`${word}\``),
        ...text.slice(0, 3).map((words) => `"${words}"`),
        ...(text.length > 3 ? [`${text.length - 3} more`] : []),
      ];
      return [provider ?? "anybody", rule, kind, tells.join("; ")];
    }),
  );
  return table(["provider", "rule", "kind", "known by"], rows);
}

/** The fixtures as the reference page shows them. */
export function printMatrix(fixtures: Record<string, OverflowFixture[]>): string {
  const rows = Object.entries(fixtures).flatMap(([file, all]) =>
    all.map(({ name, source, expect }) => [
      file,
      name,
      expect.kind,
      expect.rule ?? "",
      expect.observedTokens ?? "",
      expect.limitTokens ?? "",
      source.startsWith("https://") ? `[thread](${source})` : source,
    ]),
  );
  return table(["from", "what", "kind", "rule", "observed", "limit", "source"], rows);
}

function table(head: string[], rows: (string | number)[][]): string {
  const cells = [
    head,
    head.map(() => "---"),
    ...rows.map((row) => row.map((cell) => String(cell).replaceAll("|", "\\|"))),
  ];
  return cells.map((row) => `| ${row.join(" | ")} |`).join("\n");
}
