import { EXPORTERS } from "../exporters/registry.ts";

interface OutOptions {
  out?: string;
  format?: string;
}

/** `--out prices.csv` means `--format csv`, unless another format is named. */
export function withFormatOfFile<Options extends OutOptions>(options: Options, more: readonly string[] = []): Options {
  const { out, format } = options;
  if (out === undefined || format !== undefined) return options;
  const known = [...EXPORTERS, ...more.map((name) => ({ name, extension: name }))];
  const found = known.find(({ extension }) => out.toLowerCase().endsWith(`.${extension}`));
  return found === undefined ? options : { ...options, format: found.name };
}
