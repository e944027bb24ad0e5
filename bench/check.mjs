import { LIMITS } from "./options.mjs";

const ACCOUNTS = ["kept", "folded", "redacted", "omitted"];

/** Lines as Spillway counts them: a break at the very end adds none, empty text has none. */
export function countLines(text) {
  if (text === "") {
    return 0;
  }
  let breaks = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    breaks++;
  }
  return text.endsWith("\n") ? breaks : breaks + 1;
}

/** What is wrong with a text that should be within the limits and not empty. */
export function faultsOfText(text, limits = LIMITS) {
  const bytes = Buffer.byteLength(text);
  const lines = countLines(text);
  return [
    ...(text === "" ? ["gave an empty text"] : []),
    ...(bytes > limits.maxBytes ? [`gave ${bytes} bytes, limit ${limits.maxBytes}`] : []),
    ...(lines > limits.maxLines ? [`gave ${lines} lines, limit ${limits.maxLines}`] : []),
  ];
}

/** Lists what is wrong with a receipt, given the input's true size. A fault that Spillway recovered from counts too. */
export function faultsOfReceipt(receipt, input) {
  const faults = (receipt.faults ?? []).map((fault) => `recovered from: ${fault}`);
  for (const unit of ["bytes", "lines"]) {
    const total = receipt.total[unit];
    const sum = ACCOUNTS.reduce((soFar, account) => soFar + receipt[account][unit], 0);
    if (total !== input[unit]) {
      faults.push(`reports ${total} ${unit}, true ${input[unit]}`);
    }
    if (sum !== total) {
      faults.push(`accounts for ${sum} of ${total} ${unit}`);
    }
  }
  return faults;
}
