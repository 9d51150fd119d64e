const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** A fetched page as HTML to show: JSON as text. */
export const pageHtml = ({ isJson, html }: { isJson: boolean; html: string }) =>
  isJson ? `<pre>${escaped(html)}</pre>` : html;
