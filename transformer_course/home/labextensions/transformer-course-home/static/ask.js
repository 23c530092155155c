// Questions to the server extension (`server.py`), as JSON.

/**
 * @param lab JupyterLab's own classes, of which `ServerConnection` and `URLExt` are used.
 * @returns A function that posts a question and returns the answer; it throws an Error with the server's words.
 */
export function makeAsk({ ServerConnection, URLExt }) {
  return async function ask(what, question) {
    const settings = ServerConnection.makeSettings();
    const address = URLExt.join(settings.baseUrl, 'transformer-course', what);
    const request = { method: 'POST', body: JSON.stringify(question) };
    const response = await ServerConnection.makeRequest(address, request, settings);
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(answer.message || answer.reason || `the server answers ${response.status}`);
    return answer;
  };
}
