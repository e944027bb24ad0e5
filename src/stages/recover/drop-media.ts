import { cuttingRung, type Rung } from "./rung.ts";

/** Puts a text in place of images, audio and files inside results, the oldest first; elsewhere only if the caller said so. */
export const dropMedia: Rung = cuttingRung(
  { name: "drop-media", firstFor: ["payload-too-large"] },
  function* (request, pressure) {
    for (const item of request.items) {
      if (!pressure.isOver) return;
      if (!item.fixed && item.media.bytes > 0) yield { item, to: "without-media", frees: item.media };
    }
    for (const { message, weight } of request.outsideMedia) {
      if (!pressure.isOver) return;
      yield { message, to: "without-media", frees: weight };
    }
  },
);
