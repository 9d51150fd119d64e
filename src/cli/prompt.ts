/** Prompts at the terminal. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";

export interface Prompt {
  /** Somebody can answer. */
  readonly available: boolean;
  /** null: they would rather not (Ctrl-D). */
  line(question: string): Promise<string | null>;
  /** Like `line`, without showing what is typed. */
  secret(question: string): Promise<string | null>;
  /** The first line of standard input, when it is not a terminal. */
  piped(): Promise<string>;
}

export function createPrompt(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Prompt {
  const ask = (question: string, hidden: boolean) =>
    new Promise<string | null>((resolve) => {
      // On a terminal readline shows what is typed by itself: a secret goes nowhere.
      const echo = hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : output;
      const reader = createInterface({ input, output: echo, terminal: true, historySize: 0, prompt: question });
      reader.prompt();
      // Only now: until the reader is there, the terminal itself would show what a quick hand types.
      if (hidden) output.write(question);
      let answer: string | null = null;
      reader.once("line", (text) => {
        answer = text;
        reader.close();
      });
      // Ctrl-C means the same here as everywhere else.
      reader.once("SIGINT", () => {
        reader.close();
        process.kill(process.pid, "SIGINT");
      });
      reader.once("close", () => {
        if (hidden || answer === null) output.write("\n");
        resolve(answer);
      });
    });
  return {
    available: input.isTTY === true && output.isTTY === true,
    line: (question) => ask(question, false),
    secret: (question) => ask(question, true),
    piped: async () => {
      let text = "";
      for await (const chunk of input.setEncoding("utf8")) {
        text += String(chunk);
        if (text.includes("\n") || text.length > LONGEST) break;
      }
      return text.split(/\r?\n/, 1)[0] ?? "";
    },
  };
}

const LONGEST = 64 * 1024;
