/** Reads text/event-stream as the standard has it. */

export interface Frame {
  /** The last that was named, in this frame or before; null: none was yet. */
  id: string | null;
  event: string;
  data: string;
}

interface FrameOptions {
  /** How long a client waits before it reconnects, as the stream requests. */
  onRetry?: (ms: number) => void;
}

export async function* framesOf(
  chunks: AsyncIterable<Uint8Array>,
  { onRetry }: FrameOptions = {},
): AsyncGenerator<Frame, void> {
  let id: string | null = null;
  let event = "";
  let data: string[] = [];
  for await (const line of linesOf(chunks)) {
    if (line === "") {
      if (data.length > 0) yield { id, event: event === "" ? "message" : event, data: data.join("\n") };
      event = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id" && !value.includes("\0")) id = value;
    else if (name === "retry" && /^\d+$/.test(value)) onRetry?.(Number(value));
  }
  // What was not ended by an empty line was cut off: it comes again.
}

/** Lines end with \n, \r\n or \r; what is behind the last end is not whole. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A \r at the end may be half of an end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
