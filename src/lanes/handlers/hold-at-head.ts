import type { Clock } from "../../base/clock.ts";
import { classifyStatus, holdsSite } from "../../domain/run/classify.ts";
import { parseRetryAfter } from "../../domain/lane/retry-after.ts";
import type { PageOrder } from "../../pages/get-page.ts";
import type { HandlerContext } from "./handler.ts";

/**
 * Holds the site as soon as the head of a 429 or 503 arrives: its body may take long, and no other request may start
 * before it is read. Through a proxy it does not: that answer may be the proxy's. A browser is only tried after the answer
 * was read.
 */
export function holdAtHead(context: HandlerContext, clock: Clock): Pick<PageOrder, "onHead" | "beforeBrowser"> {
  const { refused, refusalRead, leaveSlot, via } = context;
  const beforeBrowser = () => {
    refusalRead();
    leaveSlot();
  };
  if (via !== undefined) return { beforeBrowser };
  return {
    beforeBrowser,
    onHead: (status, headers) => {
      const failure = classifyStatus(status, parseRetryAfter(headers["retry-after"] ?? "", clock.now()));
      if (failure !== null && holdsSite(failure)) refused();
    },
  };
}
