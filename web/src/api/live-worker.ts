/**
 * One stream for all tabs of a browser, which opens only six connections to a server: with one stream each, the seventh
 * tab would show nothing. A tab joins and leaves by a message.
 */
import { LiveStream } from "./live-stream.ts";

const tabs = new Set<MessagePort>();

const stream = new LiveStream((news) => {
  for (const tab of tabs) tab.postMessage(news);
  // A page joins again after login.
  if ("refused" in news) tabs.clear();
});

addEventListener("connect", (event) => {
  const [tab] = (event as MessageEvent).ports;
  if (tab === undefined) return;
  tab.addEventListener("message", ({ data }) => {
    if (data === "join") {
      tabs.add(tab);
      stream.open();
      tab.postMessage({ state: stream.state });
    } else {
      tabs.delete(tab);
      if (tabs.size === 0) stream.close();
    }
  });
  tab.start();
});
