/** What `orb config` prints: every option with its effective value and where that came from, secrets masked. */
import type { ConfigSource, LoadedConfig } from "./load.ts";
import { masked } from "./mask.ts";
import { CONFIG_KEYS, OPTIONS } from "./options.ts";
import type { Option } from "./option.ts";

export interface ConfigRow {
  name: string;
  /** Null: not set, without a default. */
  value: string | null;
  /** Null: not set. */
  source: ConfigSource | null;
  about: string;
}

export function configRows({
  config,
  sources,
}: Pick<LoadedConfig, "config"> & Partial<Pick<LoadedConfig, "sources">>): ConfigRow[] {
  return CONFIG_KEYS.map((key) => {
    const option = OPTIONS[key] as Option<unknown>;
    const value: unknown = config[key];
    return {
      name: option.name,
      value: value === null ? null : masked(option, option.type.format(value as NonNullable<unknown>)),
      source: sources?.[key] ?? null,
      about: option.about,
    };
  });
}
