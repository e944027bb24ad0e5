/** A case may be tried this often to make it smaller. */
const MOST_TRIES = 300;

/** The smallest case found that breaks the same promise, in words. Commands take too long for this: they only name the case. */
export async function shrink(given, promise, through) {
  const { limits, strategy, fold, exitCode, tool, shape } = given;
  const about = (output) => JSON.stringify({ tool, limits, strategy, fold, exitCode, shape, ...output });
  if (through.length > 1 || given.bytes === undefined) return about({ kind: given.kind, blocks: given.blocks?.length });
  let tries = 0;
  const isBroken = async (bytes) => {
    if (++tries > MOST_TRIES) return false;
    const found = await through({ ...given, bytes }).catch(() => [{ promise: "never in the way" }]);
    return found.some((one) => one.promise === promise);
  };
  let pieces = linesOf(given.bytes);
  for (let size = Math.ceil(pieces.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < pieces.length; ) {
      const rest = [...pieces.slice(0, at), ...pieces.slice(at + size)];
      if (rest.length < pieces.length && (await isBroken(Buffer.concat(rest)))) pieces = rest;
      else at += size;
    }
  }
  const bytes = Buffer.concat(pieces);
  const text = bytes.toString();
  return about(
    Buffer.from(text).equals(bytes)
      ? { output: text.slice(0, 1000) }
      : { base64: bytes.toString("base64").slice(0, 1000) },
  );
}

function linesOf(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at) + 1 || bytes.length;
    lines.push(bytes.subarray(at, end));
    at = end;
  }
  return lines;
}
