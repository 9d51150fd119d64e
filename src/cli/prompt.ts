/** Prompts at the terminal. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";

export interface Prompt {
  /** Input is a terminal. */
  readonly available: boolean;
  /** Null: cancelled with Ctrl-D. */
  line(question: string): Promise<string | null>;
  /** Like `line`, without showing what is typed. */
  secret(question: string): Promise<string | null>;
  /** The first line of standard input, when it is not a terminal. */
  piped(): Promise<string>;
}

export function createPrompt(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Prompt {
  const ask = (question: string, hidden: boolean) =>
    new Promise<string | null>((resolve) => {
      // On a terminal readline echoes input itself: discard the echo of a secret.
      const echo = hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : output;
      const reader = createInterface({ input, output: echo, terminal: true, historySize: 0, prompt: question });
      reader.prompt();
      // Only after readline has started: until then the terminal itself would echo early keystrokes.
      if (hidden) output.write(question);
      let answer: string | null = null;
      reader.once("line", (text) => {
        answer = text;
        reader.close();
      });
      // Readline swallows Ctrl-C: raise it as a signal again.
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
