// A transcriber with OpenAI's API that understands the same whatever is said: the first utterance
// as the first argument, the next ones as the second, and so on; the last argument is repeated.
//
//	node transcriber.mjs 'How are webhooks signed?' 'Stop, that is enough.'
//
// It prints its base URL, for PARLANCE_STT_BASE_URL, and serves until it is stopped.
import http from 'node:http';

const texts = process.argv.slice(2);

const server = http.createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    if (!request.url.endsWith('/audio/transcriptions')) return response.writeHead(404).end();
    const text = texts.length > 1 ? texts.shift() : texts[0];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ text, language: 'english' }));
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
