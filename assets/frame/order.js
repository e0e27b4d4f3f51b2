// Events reach the server, and their answers the page, in the order of the clicks, and none is lost.
// Gradio (6.31) sends every event as a request of its own, and hears all answers through one stream. Two faults:
// 1. Two requests that travel together may overtake each other; and an answer that comes before its request was
//    acknowledged waits, while a later one is already drawn. So each request leaves once the one before it is
//    acknowledged, which takes a few milliseconds; the work itself is not awaited. Acknowledged means read: the
//    headers alone say nothing to Gradio.
// 2. The server ends the stream when no event is left. An event sent meanwhile is acknowledged while Gradio believes
//    the stream open; then it hears of the end, and its answer never comes. So the end is passed on only when nothing
//    is awaited (else the stream is taken up again), and no request leaves until Gradio has heard of it.
(() => {
  const send = window.fetch;
  const END = 'close_stream';
  const awaited = new Set(); // events acknowledged, whose last answer is still to come
  const early = new Set(); // events whose last answer came before their acknowledgement was read
  let acknowledged = Promise.resolve(); // every request that left so far
  let ended = Promise.resolve(); // Gradio has heard of the last stream's end

  // Three seconds, in steps: a page that was busy meanwhile, as while plotly arrives, has not waited.
  const patience = async () => {
    for (let step = 0; step < 10; step += 1) await new Promise((done) => setTimeout(done, 300));
  };

  const note = async (response) => {
    const event = (await response.clone().json()).event_id;
    if (event && !early.delete(event)) awaited.add(event);
    await new Promise((done) => setTimeout(done)); // Gradio's turn to take note
  };

  const join = (request) => {
    const answer = acknowledged.then(() => ended).then(request);
    // A request that fails, or hangs on a bad network, must not hold up the next.
    acknowledged = Promise.race([answer.then(note).catch(() => {}), patience()]);
    return answer;
  };

  const messages = async function* (body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const whole = (rest + read.value).split('\n\n');
      rest = whole.pop();
      yield* whole;
    }
  };

  const followed = (response, request, signal) => {
    const encoder = new TextEncoder();
    const pass = async (out) => {
      for (let from = response; from?.ok; ) {
        let end = null;
        for await (const message of messages(from.body)) {
          const said = JSON.parse(message.replace(/^data: */, ''));
          if (said.msg === 'process_completed' && !awaited.delete(said.event_id)) early.add(said.event_id);
          if (said.msg === END) end = message;
          else out.enqueue(encoder.encode(`${message}\n\n`));
        }
        await acknowledged;
        if (end && !awaited.size) {
          const heard = new Promise((done) => signal.addEventListener('abort', done));
          ended = Promise.race([heard, patience()]);
          out.enqueue(encoder.encode(`${end}\n\n`));
        }
        from = end && awaited.size ? await request() : null;
      }
      out.close();
    };
    const forget = () => { awaited.clear(); early.clear(); };
    const start = (out) => { pass(out).catch((error) => { forget(); out.error(error); }); };
    return new Response(new ReadableStream({ start }), { status: response.status, headers: response.headers });
  };

  window.fetch = function (resource, options) {
    const address = String(resource?.url ?? resource);
    const request = () => send.call(this, resource?.clone?.() ?? resource, options);
    if (address.includes('/queue/join')) return join(request);
    const signal = resource?.signal ?? options?.signal;
    if (!address.includes('/queue/data') || !signal) return send.call(this, resource, options);
    return request().then((response) => (response.ok ? followed(response, request, signal) : response));
  };
})();
