import { StringDecoder } from "node:string_decoder";

export interface Line {
  number: number;
  text: string;
  /** The line was longer than allowed; `text` is its beginning. */
  cut: boolean;
}

/** Lines of a byte stream, in bounded memory and linear time. */
export async function* readLines(stream: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<Line> {
  const decoder = new StringDecoder("utf8");
  let text = "";
  let number = 0;
  let cut = false;
  const append = (piece: string) => {
    // The rest of an overlong line is skipped.
    if (cut) return;
    text += piece;
    if (text.length <= maxLength) return;
    cut = true;
    text = text.slice(0, maxLength);
  };
  const finish = (): Line => {
    number += 1;
    const line = { number, text: text.endsWith("\r") ? text.slice(0, -1) : text, cut };
    text = "";
    cut = false;
    return line;
  };
  for await (const chunk of stream) {
    const piece = decoder.write(Buffer.from(chunk));
    let start = 0;
    for (let end = piece.indexOf("\n"); end !== -1; end = piece.indexOf("\n", start)) {
      append(piece.slice(start, end));
      start = end + 1;
      yield finish();
    }
    append(piece.slice(start));
  }
  append(decoder.end());
  if (text !== "" || cut) yield finish();
}
