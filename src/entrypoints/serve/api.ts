import { z } from "zod";
import type { PolicyInput } from "../../contract/policy.ts";
import { within } from "../../deadline.ts";
import type { Spillway } from "../../spillway.ts";
import { NUMBERS } from "../../stages/policy/defaults.ts";
import type { Spool } from "../../storage/remote/remote-store.ts";
import { Refusal, sendText } from "./answer.ts";
import { artifactRoutes, newReads } from "./artifact-routes.ts";
import { dashboardRoutes } from "./dashboard-routes.ts";
import { ledgerRoutes } from "./ledger-routes.ts";
import type { Metrics } from "./metrics.ts";
import { openApi } from "./open-api.ts";
import { policyRoutes } from "./policy-routes.ts";
import { type Route, route } from "./route.ts";

/** What the API reads. */
export interface ApiPorts {
  spillway: Pick<Spillway, "store" | "ledger" | "scope" | "policy" | "resolve" | "artifact" | "search">;
  policy: PolicyInput | undefined;
  version: string;
  metrics: Metrics;
  /** What waits for its upload, where outputs are kept in a bucket. */
  spool?: Spool | undefined;
  /** Aborts when the server is told to stop. */
  stopping: AbortSignal;
}

const okShape = z.strictObject({ ok: z.boolean() });

/** Everything that can be asked besides the gateway's routes. */
export function apiRoutes({ spillway, policy, version, metrics, spool, stopping }: ApiPorts): Route[] {
  const { store, ledger, scope } = spillway;
  const openRead = newReads(spillway);
  const routes: Route[] = [
    route({
      method: "GET",
      path: "/healthz",
      role: null,
      summary: "Whether the process answers.",
      answers: okShape,
      answer: async () => ({ ok: true }),
    }),
    route({
      method: "GET",
      path: "/readyz",
      role: null,
      summary: "Whether store and ledger answer too. 503 while they do not, and once the server was told to stop.",
      answers: okShape,
      async answer() {
        if (stopping.aborted) throw new Refusal(503, "stopping", "the server is about to stop");
        // The rows of a bucket's outputs stand in the ledger's database.
        const asked = { store: spool?.reach() ?? store?.list({ scope, max: 1 }), ledger: ledger?.sessions({ max: 1 }) };
        const silent = Object.entries(asked).map(async ([name, answer]) => {
          const fails = within(Promise.resolve<unknown>(answer), NUMBERS.spillDeadlineMs.default, "reading");
          return fails.then(
            () => [],
            () => [`the ${name} does not answer`],
          );
        });
        const faults = (await Promise.all(silent)).flat();
        if (faults.length > 0) throw new Refusal(503, "store-unavailable", faults.join(", and "));
        return { ok: true };
      },
    }),
    route({
      method: "GET",
      path: "/metrics",
      role: "read",
      summary: "Counters in Prometheus's text form.",
      answers: "text/plain; version=0.0.4",
      async answer(_asked, response) {
        sendText(response, 200, await metrics.text(ledger, spool), { "content-type": "text/plain; version=0.0.4" });
      },
    }),
    route({
      method: "GET",
      path: "/api/openapi.json",
      role: "read",
      summary: "This document.",
      answers: z.looseObject({ openapi: z.string() }),
      answer: async () => openApi(routes, version),
    }),
    ...(ledger === null ? [] : ledgerRoutes(ledger, stopping)),
    ...(store === null ? [] : artifactRoutes({ store, scope, search: spillway.search, openRead })),
    ...policyRoutes({ ...spillway, openRead }, policy),
    ...dashboardRoutes(),
  ];
  return routes;
}
