/** How much of one line is shown; the download has the rest. */
export const LINE_BYTES = 10_000;
/** Lines that are asked for together. */
export const BLOCK = 100;
