/** `--notify channel:types` of jobs. */
export interface NotifyFlag {
  channel: string;
  types?: readonly string[];
}

/** Commander passes true after `--no-notify` was declared and nothing was given. */
export function addNotify(text: string, before: NotifyFlag[] | boolean | undefined): NotifyFlag[] {
  const list = Array.isArray(before) ? before : [];
  const at = text.lastIndexOf(":");
  if (at < 0) return [...list, { channel: text }];
  const types = text
    .slice(at + 1)
    .split(",")
    .map((type) => type.trim())
    .filter((type) => type !== "");
  return [...list, { channel: text.slice(0, at), types }];
}

export const notifyText = ({ channel, types }: NotifyFlag) =>
  types === undefined ? channel : `${channel}: ${types.join(", ")}`;
