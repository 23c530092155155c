// Sends questions to the server extension (`server.py`) as JSON.

/**
 * @param lab JupyterLab's classes, of which `ServerConnection` and `URLExt` are used.
 * @returns A function that posts a question and returns the answer, or throws an Error with the server's message.
 */
export function makeAsk({ ServerConnection, URLExt }) {
  return async function ask(endpoint, question) {
    const settings = ServerConnection.makeSettings();
    const address = URLExt.join(settings.baseUrl, 'transformer-course', endpoint);
    const request = { method: 'POST', body: JSON.stringify(question) };
    const response = await ServerConnection.makeRequest(address, request, settings);
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(answer.message || answer.reason || `the server responded with ${response.status}`);
    return answer;
  };
}
