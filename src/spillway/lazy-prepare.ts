import type { PreparePorts } from "../prepare/ports.ts";
import type { Prepare } from "../prepare/prepare.ts";
import { checkPrepare } from "./check-options.ts";

/** Prepares requests, loaded with the first one. */
export function lazyPrepare(ports: Omit<PreparePorts, "sha256" | "seal">): Prepare {
  let loading: Promise<Prepare> | undefined;
  const load = async () => {
    const [{ newPrepare }, { createHash, hash }, { seal }] = await Promise.all([
      import("../prepare/prepare.ts"),
      import("node:crypto"),
      import("./seal.ts"),
    ]);
    // The short way makes no object for each text; the first releases of Node 20 do not have it.
    const sha256 = (text: string) => hash?.("sha256", text) ?? createHash("sha256").update(text).digest("hex");
    return newPrepare({ ...ports, sha256, seal });
  };
  return async (messages, options) => {
    checkPrepare(options);
    return (await (loading ??= load()))(messages, options);
  };
}
