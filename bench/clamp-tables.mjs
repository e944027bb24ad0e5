// How the figures of clamp.mjs are laid out.
const US = "spillway head-tail";

function milli(ms) {
  return ms >= 1 ? ms.toFixed(1) : ms >= 0.001 ? ms.toFixed(4) : "<0.001";
}

function times(ratio) {
  return ratio < 0.01 ? "<0.01x" : `${ratio.toFixed(ratio < 10 ? 2 : 0)}x`;
}

function cellsOf(results, id, format) {
  return results.map((result) => (id in result.medians ? format(result) : "-"));
}

function lead(result, id) {
  return result.medians[id] / result.medians[US];
}

/** How much faster we are than the fastest peer that counts what it drops, against what we must reach. */
function goal(result) {
  const rivals = Object.keys(result.tells).filter((id) => result.tells[id] && !id.startsWith("spillway "));
  if (result.target === undefined || rivals.length === 0) {
    return "";
  }
  const reached = Math.min(...rivals.map((id) => lead(result, id))) >= result.target;
  return `${reached ? "" : "MISSED: "}>= ${result.target}x`;
}

/** Milliseconds of each contestant on each text. */
export function timeTable(everyone, results) {
  return {
    title: "Whole texts: milliseconds a call (medians)",
    columns: ["contestant", ...results.map(({ label }) => label)],
    rows: everyone.map(({ id, label }) => [label, ...cellsOf(results, id, ({ medians }) => milli(medians[id]))]),
  };
}

/** The same as ratios to our own time, with what each contestant tells. */
export function ratioTable(everyone, results, notes) {
  const told = ({ id, note }) => {
    const seen = results[0].tells[id];
    return seen === undefined ? "not installed" : `${seen ? "yes" : "no"}${note && `; ${note}`}`;
  };
  return {
    title: "Whole texts: time / time of spillway head-tail (above 1x: slower than spillway)",
    columns: ["contestant", ...results.map(({ label }) => label), "tells total lines"],
    rows: [
      ...everyone.map((contestant) => {
        const cells = cellsOf(results, contestant.id, (result) => times(lead(result, contestant.id)));
        return [contestant.label, ...cells, told(contestant)];
      }),
      ["must reach, beside the fastest peer that tells total lines", ...results.map(goal), ""],
    ],
    notes,
  };
}

/** Memory of each contestant alone. */
export function memoryTable(everyone, memory) {
  const rows = everyone.map(({ id, label }) => {
    const seen = memory.find((entry) => entry.id === id);
    return [label, seen?.extraMb.toFixed(0) ?? "-", seen?.peakMb.toFixed(0) ?? "-"];
  });
  return {
    title: "Memory for one clamp of 100 MB, each in a process of its own",
    columns: ["contestant", "MB on top of the text", "peak RSS MB"],
    rows,
  };
}
