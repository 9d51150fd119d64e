import type { Clock } from "../../base/clock.ts";
import { classifyStatus, holdsSite } from "../../domain/classify.ts";
import { parseRetryAfter } from "../../domain/retry-after.ts";
import type { HandlerContext } from "./handler.ts";

/** Whoever asks for patience does so with the first line of the answer: its body may take long, and no other request begins meanwhile. */
export function holdAtHead(
  { refused }: Pick<HandlerContext, "refused">,
  clock: Clock,
): (status: number, headers: Readonly<Record<string, string>>) => void {
  return (status, headers) => {
    const failure = classifyStatus(status, parseRetryAfter(headers["retry-after"] ?? "", clock.now()));
    if (failure !== null && holdsSite(failure)) refused();
  };
}
