import { StringDecoder } from "node:string_decoder";

export interface Line {
  number: number;
  text: string;
  /** The line was longer than allowed; `text` is its beginning. */
  cut: boolean;
}

/** Lines of a stream of bytes, with bounded memory whatever the lines are. */
export async function* readLines(stream: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<Line> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let number = 0;
  let cut = false;
  const finish = (text: string): Line => {
    number += 1;
    const line = { number, text: text.endsWith("\r") ? text.slice(0, -1) : text, cut };
    cut = false;
    return line;
  };
  for await (const chunk of stream) {
    rest += decoder.write(Buffer.from(chunk));
    let start = 0;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n", start)) {
      const text = rest.slice(start, end);
      start = end + 1;
      if (text.length > maxLength) cut = true;
      yield finish(text.slice(0, maxLength));
    }
    rest = rest.slice(start);
    if (rest.length > maxLength) {
      // What comes until the end of this line is only skipped.
      cut = true;
      rest = rest.slice(0, maxLength);
    }
  }
  rest += decoder.end();
  if (rest !== "" || cut) yield finish(rest);
}
