/** Doctypes that trigger quirks mode, which allows a table inside a paragraph (HTML standard, 13.2.6.4.1). */

/** Prefixes of public identifiers, by owner, in lower case. */
const OLD: Readonly<Record<string, readonly string[]>> = {
  "+//silmaril//dtd ": ["html pro v0r11 19970101//"],
  "-//as//dtd ": ["html 3.0 aswedit + extensions//"],
  "-//advasoft ltd//dtd ": ["html 3.0 aswedit + extensions//"],
  "-//ietf//dtd html": [
    ...["//", " 2.0//", " 2.1e//", " 3.0//", " 3.2 final//", " 3.2//", " 3//", " strict//", " 2.0 strict//"],
    ...[0, 1, 2, 3].flatMap((level) => [` level ${level}//`, ` strict level ${level}//`]),
    ...[1, 2].flatMap((level) => [` 2.0 level ${level}//`, ` 2.0 strict level ${level}//`]),
  ],
  "-//metrius//dtd ": ["metrius presentational//"],
  "-//microsoft//dtd internet explorer ": [2, 3].flatMap((version) =>
    ["html strict", "html", "tables"].map((kind) => `${version}.0 ${kind}//`),
  ),
  "-//netscape comm. corp.//dtd ": ["html//", "strict html//"],
  "-//o'reilly and associates//dtd html ": ["2.0//", "extended 1.0//", "extended relaxed 1.0//"],
  "-//sq//dtd ": ["html 2.0 hotmetal + extensions//"],
  "-//softquad software//dtd hotmetal pro ": ["6.0::19990601::extensions to html 4.0//"],
  "-//softquad//dtd hotmetal pro ": ["4.0::19971010::extensions to html 4.0//"],
  "-//spyglass//dtd ": ["html 2.0 extended//"],
  "-//sun microsystems corp.//dtd hotjava ": ["html//", "strict html//"],
  "-//w3c//dtd ": [
    ...["3 1995-03-24", "3.2 draft", "3.2 final", "3.2", "3.2s draft", "4.0 frameset", "4.0 transitional"].map(
      (version) => `html ${version}//`,
    ),
    ...["html experimental 19960712//", "html experimental 970421//", "w3 html//"],
  ],
  "-//w3o//dtd ": ["w3 html 3.0//"],
  "-//webtechs//dtd ": ["mozilla html 2.0//", "mozilla html//"],
};

const EXACT: ReadonlySet<string> = new Set([
  "-//w3o//dtd w3 html strict 3.0//en//",
  "-/w3c/dtd html 4.0 transitional/en",
  "html",
]);

const WITHOUT_ADDRESS = /^-\/\/w3c\/\/dtd html 4\.01 (?:frameset|transitional)\/\//;
const IBM = "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd";

/** A name, and one or two identifiers. Anything may follow a system identifier; elsewhere it is malformed. */
const DOCTYPE =
  /^\s*html\s*(?:(?<=\s)public\s*("[^"]*"|'[^']*')\s*(?:("[^"]*"|'[^']*')[^]*)?|(?<=\s)system\s*("[^"]*"|'[^']*')[^]*)?$/;

/** `doctype` is the text after `<!doctype`. */
export function isQuirks(doctype: string): boolean {
  const match = DOCTYPE.exec(doctype.toLowerCase());
  if (match === null) return true;
  const [publicId, systemId] = [match[1], match[2] ?? match[3]].map((quoted) => quoted?.slice(1, -1));
  if (systemId === IBM) return true;
  if (publicId === undefined) return false;
  if (EXACT.has(publicId) || (systemId === undefined && WITHOUT_ADDRESS.test(publicId))) return true;
  return Object.entries(OLD).some(
    ([owner, names]) => publicId.startsWith(owner) && names.some((name) => publicId.startsWith(name, owner.length)),
  );
}
