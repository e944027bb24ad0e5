export { type ConfigSource, type LoadConfigOptions, type LoadedConfig, loadConfig } from "./load-config.ts";
export type { UserOptions } from "./to-user-options.ts";
