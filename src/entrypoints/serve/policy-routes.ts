import { z } from "zod";
import type { PolicyInput } from "../../contract/policy.ts";
import { openSpillway } from "../../open-spillway.ts";
import type { Spillway } from "../../spillway.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import { isRecord } from "../../values.ts";
import { Refusal } from "./answer.ts";
import { type Route, route } from "./route.ts";
import { receiptShape } from "./shapes.ts";

const policyShape = z.looseObject({ profile: z.string() });

/** Reads the policy, and tries another one. `inForce` is what the policy was made of. */
export function policyRoutes(
  spillway: Pick<Spillway, "policy" | "resolve" | "artifact">,
  inForce: PolicyInput | undefined,
): Route[] {
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
        tool: z.string().default("run_command"),
        output: z.string().optional().describe("the output"),
        artifact: z.string().optional().describe("or the id of a saved one"),
        command: z.string().optional(),
        exitCode: z.int().optional(),
        policy: z
          .custom<PolicyInput>(isRecord, "must be an object")
          .meta({ type: "object" })
          .optional()
          .describe("as createSpillway takes it; the policy in force where it is left out"),
      }),
      answers: z.strictObject({ text: z.string(), receipt: receiptShape, limits: z.looseObject({}) }),
      async answer({ body: { output, artifact, tool, command, exitCode, policy } }) {
        if ((output === undefined) === (artifact === undefined)) {
          throw new Refusal(400, "bad-input", "give either output or artifact");
        }
        const tried = await trial(policy ?? inForce ?? {});
        const admitted = await tried.admit({
          tool,
          ...(command !== undefined && { command }),
          ...(exitCode !== undefined && { exitCode }),
          output: output ?? (await spillway.artifact(artifact ?? "")).stream(),
          explain: true,
        });
        return { text: admitted.text, receipt: admitted.receipt, limits: tried.resolve(tool).limits };
      },
    }),
  ];
}

/** A Spillway that keeps nothing once it is forgotten. Its markers read as if the output were saved. */
async function trial(policy: PolicyInput) {
  const [{ memoryStore }, { memoryLedger }] = await Promise.all([
    import("../../storage/stores/memory.ts"),
    import("../../storage/ledgers/memory.ts"),
  ]);
  const store = memoryStore({ maxArtifactBytes: NUMBERS.memoryStoreBytes.default });
  return openSpillway({ store, ledger: memoryLedger(), policy, env: {}, retention: "off" });
}
