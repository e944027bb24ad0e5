/** A visible line longer than this is passed on as it stands. */
export const MAX_LINE_BYTES = 65_536;

/** A line longer than this is not compared by shape: a run holds a few lines back until it is long enough. */
export const MAX_SHAPE_LINE_BYTES = 8_192;

/** An escape sequence longer than this is text. */
export const MAX_SEQUENCE_BYTES = 4_096;

/** Lines of one shape before the middle is left out; repeats before a run is settled as one of repeats. */
export const MIN_RUN_LINES = 8;

/** No terminal is wider: a cursor sent further right stops here unless the line is longer. */
export const MAX_COLUMNS = 1_024;
