export { type ConfigSource, type LoadConfigOptions, type LoadedConfig, loadConfig } from "./load-config.ts";
export type { KeepingOptions } from "./to-keeping.ts";
