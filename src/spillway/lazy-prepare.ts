import type { PreparePorts } from "../prepare/ports.ts";
import type { Preparing } from "../prepare/prepare.ts";
import { checkPrepare } from "./check-options.ts";

/** Prepares requests, loaded with the first one. */
export function lazyPreparing(ports: Omit<PreparePorts, "sha256" | "seal">): Preparing {
  let loading: Promise<Preparing> | undefined;
  const load = async () => {
    const [{ newPreparing }, { createHash, hash }, { seal }] = await Promise.all([
      import("../prepare/prepare.ts"),
      import("node:crypto"),
      import("./seal.ts"),
    ]);
    // The short way makes no object for each text; the first releases of Node 20 do not have it.
    const sha256 = (text: string) => hash?.("sha256", text) ?? createHash("sha256").update(text).digest("hex");
    return newPreparing({ ...ports, sha256, seal });
  };
  return {
    async prepare(messages, options) {
      checkPrepare(options);
      return (await (loading ??= load())).prepare(messages, options);
    },
    open: async (messages, options) => (await (loading ??= load())).open(messages, options),
  };
}
