/** The engine's side of a user's queue handler: its input and its result. */
import { OrbError } from "../../../base/errors.ts";
import type { Handled, TaskArtifact } from "../../../domain/run/outcome.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";
import type { HandlerContext } from "../handler.ts";
import type { HandlerProcess } from "./process.ts";
import type { FetchOptions, HandlerItem, StoredFile } from "./protocol.ts";
import type { HandlerServices } from "./services.ts";

export async function executeItem(
  process: HandlerProcess,
  services: HandlerServices,
  handler: { name: string; timeoutSeconds: number },
  task: ClaimedTask,
  { signal, log }: HandlerContext,
): Promise<Handled> {
  const artifacts: TaskArtifact[] = [];
  const keep = (file: TaskArtifact, wanted: AbortSignal): StoredFile => {
    wanted.throwIfAborted();
    artifacts.push(file);
    return { hash: file.hash, size: file.size, content_type: file.contentType, url: file.url };
  };
  const end = await process.execute({
    begin: { kind: "run", handler: handler.name, item: toItem(task) },
    timeoutSeconds: handler.timeoutSeconds,
    signal,
    log: log.with({ handler: handler.name, task: task.id }),
    serve: async (name, [subject, argument], wanted) => {
      const options = (argument ?? {}) as FetchOptions & { content_type?: string };
      switch (name) {
        case "fetch":
          return services.fetch(String(subject), options, wanted);
        case "download": {
          const { headers = {} } = options;
          // Only the item's own URL resumes a partial transfer: several downloads of one item must not share it.
          const part = subject === (task.nextUrl ?? task.url) ? { partKey: task.id } : {};
          return keep(await services.download(String(subject), { headers, ...part }, wanted), wanted);
        }
        case "save":
          return keep(await services.save(subject as Uint8Array, options.content_type ?? null, task.url ?? ""), wanted);
        default:
          throw new OrbError("handler_failed", `context.${name} is not available in a handler`);
      }
    },
  });
  if (end.kind === "skip") return { kind: "skipped", why: end.why };
  return { kind: "completed", artifacts, results: end.value === undefined ? [] : [end.value] };
}

function toItem(task: ClaimedTask): HandlerItem {
  return {
    artifact_id: task.key,
    url: task.nextUrl ?? task.url ?? "",
    concurrency_key: task.resolver,
    resolver: task.resolver,
    priority: task.priority,
    payload: task.payload,
    attempt: task.tries + 1,
  };
}
