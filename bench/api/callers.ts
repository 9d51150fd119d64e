/** Callers in a separate process: they start runs sequentially and report the latency of each response. */
import { Agent, request } from "undici";

process.once("message", async (order: { url: string; jobId: string; posts: number; callers: number }) => {
  const { url, jobId, posts, callers } = order;
  const dispatcher = new Agent({ connections: callers, pipelining: 1 });
  const times: number[] = [];
  let left = posts;
  const caller = async () => {
    while (left-- > 0) {
      const begun = performance.now();
      const answer = await request(`${url}/jobs/${jobId}/runs`, { method: "POST", dispatcher });
      const text = await answer.body.text();
      if (answer.statusCode !== 201) throw new Error(`${answer.statusCode} ${text}`);
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  await dispatcher.destroy();
  process.send?.(times, () => process.disconnect());
});
