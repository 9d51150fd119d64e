/** Runs a handler on one queue item, in the worker thread. */
import { type Channel, isSkip, toJson } from "./channel.ts";
import type { Handler } from "./define.ts";
import type { HandlerCalls, HandlerItem } from "./protocol.ts";

export async function runItem(
  channel: Channel,
  run: Handler,
  item: HandlerItem,
  signal: AbortSignal,
): Promise<{ value: unknown } | { skip: string }> {
  const call = <Name extends keyof HandlerCalls>(name: Name, ...args: Parameters<HandlerCalls[Name]>) =>
    channel.call(name, args) as Promise<ReturnType<HandlerCalls[Name]>>;
  const value = await run(item, {
    signal,
    log: channel.log(),
    fetch: (url, options = {}) => call("fetch", url, options),
    download: (url = item.url, options = {}) => call("download", url, options),
    save: (bytes, options = {}) => call("save", bytes, options),
  });
  if (isSkip(value)) return value;
  return { value: value === undefined || value === null ? undefined : JSON.parse(toJson("the result", value)) };
}
