import manifest from "../../../package.json" with { type: "json" };

/** This package's version: read when the command is built, since looking for it takes longer than most commands. */
export const VERSION: string = manifest.version;
