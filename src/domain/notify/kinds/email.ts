import { type ChannelKind, textIn } from "../channel-kind.ts";
import { textOf } from "../message.ts";
import { defused, oneLine } from "../text.ts";

/** One address, without a display name: nothing to escape, and nothing to smuggle a header in. */
const ADDRESS = /^[^\s@<>,;:"()[\]\\\p{C}]+@[^\s@<>,;:"()[\]\\\p{C}]+$/u;
const HOST = /^[\p{L}\p{N}._-]+$|^\[?[0-9a-f:.]+\]?$/iu;

/** Plain text: no markup that foreign text could use. Mail programs make links of addresses in the text, not in the subject. */
export const emailKind: ChannelKind = {
  kind: "email",
  label: "E-mail",
  about: "by SMTP, with STARTTLS or TLS",
  fields: {
    host: {
      type: "text",
      label: "SMTP server",
      about: "host name",
      required: true,
      destination: true,
      maxLength: 253,
      pattern: HOST,
      expected: "a host name, such as smtp.example.com",
      example: "smtp.example.com",
    },
    port: {
      type: "integer",
      label: "Port",
      about: "usually 587 for starttls, 465 for tls",
      destination: true,
      minimum: 1,
      maximum: 65_535,
      default: 587,
    },
    security: {
      type: "choice",
      label: "Encryption",
      about: "starttls: required before anything is sent; tls: from the start; none: only without a password",
      choices: ["starttls", "tls", "none"],
      default: "starttls",
    },
    user: { type: "text", label: "User name", about: "without it, nobody signs in", maxLength: 300 },
    password: { type: "text", label: "Password", about: "of the user", secret: true, maxLength: 1000 },
    from: {
      type: "text",
      label: "From",
      about: "sender address",
      required: true,
      maxLength: 320,
      pattern: ADDRESS,
      expected: "an e-mail address, such as orb@example.com",
      example: "orb@example.com",
    },
    to: {
      type: "list",
      label: "To",
      about: "addresses of the receivers",
      required: true,
      most: 50,
      pattern: ADDRESS,
      expected: "e-mail addresses, such as ops@example.com",
      example: "ops@example.com",
    },
  },
  check(settings) {
    const { security } = settings;
    if (security === "none" && textIn(settings, "password") !== null)
      return { path: "security", message: "a password is not sent without encryption: use starttls or tls" };
    if ((textIn(settings, "user") === null) !== (textIn(settings, "password") === null))
      return { path: "password", message: "user and password belong together: set both or none" };
    return null;
  },
  target: ({ to }) => (to as readonly string[]).join(", "),
  render(settings, message) {
    return {
      via: "smtp",
      host: settings["host"] as string,
      port: settings["port"] as number,
      security: settings["security"] as "starttls" | "tls" | "none",
      user: textIn(settings, "user"),
      password: textIn(settings, "password"),
      from: settings["from"] as string,
      to: settings["to"] as readonly string[],
      subject: oneLine(message.title),
      text: `${textOf(message, defused)}\n`,
      priority: message.severity === "error" ? "high" : "normal",
    };
  },
};
