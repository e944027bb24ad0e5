import manifest from "../../../package.json" with { type: "json" };

/** This package's version. It is read when the command is built, since reading it at run time takes longer than most commands. */
export const VERSION: string = manifest.version;
