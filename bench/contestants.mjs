import { pathToFileURL } from "node:url";
import { peerCalls } from "./peers.mjs";

/** Spillway's own calls in the shape of a peer's. */
function ownCalls(stagesFile) {
  const own = (strategy) => ({
    id: `spillway ${strategy}`,
    label: `spillway clampText ${strategy}`,
    note: "",
    installed: true,
    own: true,
    async load() {
      const { clampText } = await import(pathToFileURL(stagesFile).href);
      return (text, limits) => {
        const clamped = clampText(text, limits, { strategy });
        return { text: clamped.text, totalLines: clamped.receipt.total.lines };
      };
    },
  });
  return [own("head-tail"), own("tail")];
}

/** Everyone who is measured on whole texts, Spillway first. */
export function contestants(stagesFile) {
  return [...ownCalls(stagesFile), ...peerCalls.filter(({ isTimed }) => isTimed)];
}
