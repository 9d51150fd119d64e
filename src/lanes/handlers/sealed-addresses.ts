import type { Seal } from "../../base/seal.ts";
import { openAddress, openAddresses } from "../../domain/text/sealed-text.ts";
import type { ClaimedTask } from "../../store/ports/port.ts";
import type { TaskHandler } from "./handler.ts";
import { opened } from "./opened.ts";

/** Tasks are stored with sealed credentials in their URLs: the handler gets them in clear text. */
export function withOpenedAddresses(seal: Seal, handler: TaskHandler): TaskHandler {
  const { strategy } = handler;
  return {
    strategy,
    run: async (task, context) => handler.run(openedTask(seal, task), context),
    ...(handler.retryRules === undefined ? {} : { retryRules: (usual) => handler.retryRules!(usual) }),
    ...(handler.onFailed === undefined ? {} : { onFailed: (task, failure) => handler.onFailed!(task, failure) }),
    ...(handler.onWritten === undefined ? {} : { onWritten: (settled) => handler.onWritten!(settled) }),
  };
}

function openedTask(seal: Seal, task: ClaimedTask): ClaimedTask {
  const open = (url: string | null) => (url === null ? null : openAddress(seal, url));
  return opened(() => ({
    ...task,
    url: open(task.url),
    nextUrl: open(task.nextUrl),
    payload: openAddresses(seal, task.payload),
  }));
}
