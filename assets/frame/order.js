// Events reach the server, and their answers the page, in the order of the clicks.
// Gradio sends every event as a request of its own. Two that travel together may overtake each other; and an answer
// that comes before its request was acknowledged waits, while a later one is already drawn (Gradio 6.31). So each
// request leaves once the one before it is acknowledged, which takes a few milliseconds; the work itself is not awaited.
// Acknowledged means read: the headers alone say nothing to Gradio, and on a busy page the next request would overtake
// the body. It is read here beside Gradio, who has its turn to take note before the next request leaves.
(() => {
  const send = window.fetch;
  let before = Promise.resolve();
  const read = async (response) => {
    await response.clone().text();
    await new Promise((done) => setTimeout(done));
  };
  window.fetch = function (resource, options) {
    const address = String(resource?.url ?? resource);
    if (!address.includes('/queue/join')) return send.call(this, resource, options);
    const answer = before.then(() => send.call(this, resource, options));
    // A request that fails, or hangs on a bad network, must not hold up the next.
    before = Promise.race([answer.then(read).catch(() => {}), new Promise((done) => setTimeout(done, 3000))]);
    return answer;
  };
})();
