import { z } from "zod";
import type { RecordedEvent } from "../../contract/event.ts";
import type { PolicyInput } from "../../contract/policy.ts";
import type { Receipt } from "../../contract/receipt.ts";
import type { Artifact, Store } from "../../contract/store.ts";
import { openSpillway } from "../../open-spillway.ts";
import { savedMade, type WholeArtifact } from "../../recall/open-artifact.ts";
import { READ_BACK_TOOLS } from "../../recall/read-back-tools.ts";
import type { Spillway } from "../../spillway.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { SERVE_NUMBERS } from "../../stages/policy/serve-numbers.ts";
import { isRecord, setNewest } from "../../values.ts";
import { Refusal } from "./answer.ts";
import type { OpenRead } from "./artifact-routes.ts";
import { type Route, route } from "./route.ts";
import { limitsShape, receiptShape } from "./shapes.ts";

const policyShape = z.looseObject({ profile: z.string() });

/** Reads the policy, and tries another one. `inForce` is what the policy was made of. */
export function policyRoutes(
  spillway: Pick<Spillway, "policy" | "resolve" | "ledger"> & { openRead: OpenRead },
  inForce: PolicyInput | undefined,
): Route[] {
  const views = new Map<string, ReturnType<typeof makeAgain>>();

  /** The last event with a receipt of an output, or the one that is asked for. */
  async function recordedAs(id: string, asked?: number): Promise<Came | null> {
    const found = await spillway.ledger?.events({
      artifact: id,
      kinds: ["output-clamped", "output-passed"],
      order: "newest",
      max: 1,
      ...(asked !== undefined && { beforeId: asked + 1 }),
    });
    const event = found?.[0];
    return event?.receipt ? { ...event, receipt: event.receipt } : null;
  }

  /** Making one again reads the whole output, and readers come back to the same few. */
  async function viewOf(saved: WholeArtifact, { id, receipt }: Came): ReturnType<typeof makeAgain> {
    const key = `${saved.id} ${id}`;
    const making = views.get(key) ?? makeAgain(saved, receipt, inForce ?? {});
    setNewest(views, key, making, SERVE_NUMBERS.apiViews.default);
    return making.catch((error: unknown) => {
      views.delete(key);
      throw error;
    });
  }

  /** What a saved output came with. Its marker told somebody how to read on, and tells it to the same reader again. */
  async function asItCame(saved: WholeArtifact) {
    const event = await recordedAs(saved.id);
    const reader = event === null ? undefined : (await viewOf(saved, event)).reader;
    const { tool, command, exitCode } = saved;
    return { tool, ...savedMade(command), ...(exitCode !== null && { exitCode }), reader };
  }

  return [
    route({
      method: "GET",
      path: "/api/policy",
      role: "read",
      summary: "The policy that is in force here.",
      answers: policyShape,
      answer: async () => spillway.policy,
    }),
    route({
      method: "GET",
      path: "/api/policy/{tool}",
      role: "read",
      summary: "What applies to one tool: its limits, its strategy, whether its output is folded.",
      answers: z.looseObject({ strategy: z.string() }),
      answer: async ({ named }) => spillway.resolve(named.tool ?? ""),
    }),
    route({
      method: "POST",
      path: "/api/policy/try",
      role: "read",
      summary: "What an output would become under a policy. Nothing is saved or recorded.",
      body: z.strictObject({
        tool: z.string().optional().describe("run_command where it is left out"),
        output: z.string().optional().describe("the output"),
        artifact: z
          .string()
          .optional()
          .describe("or the id of a saved one, whose tool, command and exit code hold where they are left out"),
        command: z.string().optional(),
        exitCode: z.int().optional(),
        policy: z
          .custom<PolicyInput>(isRecord, "must be an object")
          .meta({ type: "object" })
          .optional()
          .describe("as createSpillway takes it; the policy in force where it is left out"),
        limits: limitsShape.optional().describe("for this output, over those of the policy"),
        strategy: z.string().optional().describe("for this output, instead of the policy's"),
      }),
      answers: z.strictObject({ text: z.string(), receipt: receiptShape, limits: z.looseObject({}) }),
      async answer({ body: { output, artifact, policy, ...about }, caller }) {
        if ((output === undefined) === (artifact === undefined)) {
          throw new Refusal(400, "bad-input", "give either output or artifact");
        }
        const saved = artifact === undefined ? null : await spillway.openRead(artifact, caller);
        const tried = await trial(policy ?? inForce ?? {}, saved);
        const before = saved === null ? {} : await asItCame(saved);
        const whole = saved?.stream() ?? output ?? "";
        const { text, receipt } = await tried.admit({
          tool: "run_command",
          ...before,
          ...about,
          output: whole,
          explain: true,
        });
        return { text, receipt, limits: receipt.limits };
      },
    }),
    route({
      method: "GET",
      path: "/api/artifacts/{id}/view",
      role: "read",
      summary: "What the model read of a saved output, made again from it, and why each part was kept or not.",
      query: z.strictObject({
        event: z.coerce
          .number()
          .int()
          .min(0)
          .optional()
          .describe("which time, if it came more than once; else the last"),
      }),
      answers: z.strictObject({
        text: z.string(),
        isSame: z.boolean().describe("it has the sizes that the receipt recorded, so that it is what the model read"),
        event: z.int().describe("the event that recorded the receipt"),
        atMs: z.number(),
        recorded: receiptShape,
        receipt: receiptShape.describe("of the text that was made again"),
      }),
      async answer({ named: { id = "" }, query: { event: asked }, caller }) {
        const saved = await spillway.openRead(id, caller);
        const event = await recordedAs(id, asked);
        if (event === null) throw new Refusal(404, "unknown-event", "no receipt of this output is recorded");
        const { reader: _reader, ...again } = await viewOf(saved, event);
        return { ...again, event: event.id, atMs: event.atMs, recorded: event.receipt };
      },
    }),
  ];
}

type Came = RecordedEvent & { receipt: Receipt };

/** What the names of our own tools may begin with: as the gateway adds them, and as others offer them. */
const TOOLS = ["spillway_", ""].map((prefix) => {
  const [recall = "", search = ""] = READ_BACK_TOOLS.map(({ name }) => prefix + name);
  return { by: "tool" as const, recall, search };
});
/** How a marker may have told its reader to read on. No receipt says which it was, but the sizes do. */
const READERS = [{ by: "operator" as const }, ...TOOLS, { by: "shell" as const }];
/** Larger outputs are read once only. */
const MOST_READ_OFTEN_BYTES = 32 * 1024 * 1024;

/** The text that a model got of a saved output, by the limits and the strategy of its receipt. */
async function makeAgain(saved: WholeArtifact, recorded: Receipt, policy: PolicyInput) {
  const { tool, limits, exitCode } = recorded;
  const strategy = recorded.summarized ? undefined : recorded.strategy;
  const tried = await trial(policy, saved);
  const made: { text: string; receipt: Receipt; reader: (typeof READERS)[number] }[] = [];
  for (const reader of READERS) {
    const about = { tool, limits, strategy, exitCode, ...savedMade(saved.command) };
    const { text, receipt } = await tried.admit({ ...about, reader, output: saved.stream(), explain: true });
    const { bytes, chars, lines } = recorded.shown;
    const isSame = receipt.shown.bytes === bytes && receipt.shown.chars === chars && receipt.shown.lines === lines;
    if (isSame) return { text, receipt, isSame, reader };
    made.push({ text, receipt, reader });
    if (saved.bytes > MOST_READ_OFTEN_BYTES) break;
  }
  return { ...(made[0] as (typeof made)[0]), isSame: false };
}

/** A Spillway that keeps nothing once it is forgotten. Its markers read as if the output were saved, or name the artifact. */
async function trial(policy: PolicyInput, artifact: Artifact | null) {
  const [{ memoryStore }, { memoryLedger }] = await Promise.all([
    import("../../storage/stores/memory.ts"),
    import("../../storage/ledgers/memory.ts"),
  ]);
  const memory = memoryStore({ maxArtifactBytes: NUMBERS.memoryStoreBytes.default });
  const store = artifact === null ? memory : savedAs(artifact, memory);
  return openSpillway({ store, ledger: memoryLedger(), policy, env: {}, retention: "off" });
}

/** A store in which every output is the one that is saved elsewhere already. */
function savedAs(artifact: Artifact, { keepNow: _now, ...store }: Store): Store {
  return { ...store, begin: async () => ({ add() {}, end: async () => artifact, abandon: async () => {} }) };
}
