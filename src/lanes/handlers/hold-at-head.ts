import type { Clock } from "../../base/clock.ts";
import { classifyStatus, holdsSite } from "../../domain/classify.ts";
import { parseRetryAfter } from "../../domain/retry-after.ts";
import type { PageOrder } from "../../pages/get-page.ts";
import type { HandlerContext } from "./handler.ts";

/**
 * Whoever asks for patience does so with the first line of the answer: its body may take long, and no other request begins
 * meanwhile. What is said to a proxy says nothing of the site; and if a browser is to try it, the answer has been read.
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
