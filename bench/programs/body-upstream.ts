import { createServer } from 'node:net';
import { sendBody } from './send-body.ts';
import { createWitness } from './witness.ts';

// The service behind the peers when bodies are measured: it sends and takes them as cheaply as Node can. A GET of
// `…/body` is answered with so many bytes, any other GET with 1 KiB, whatever has a length with 204 once it has come.

const [port, bodyBytes] = process.argv.slice(2).map(Number) as [number, number];
const headEnd = '\r\n\r\n';
const bodyHead = `HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: ${bodyBytes}${headEnd}`;
const item = JSON.stringify({ data: 'x'.repeat(1024 - JSON.stringify({ data: '' }).length) });

const witness = createWitness();

createServer({ noDelay: true }, (socket) => {
  let text = '';
  let owed = 0;
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    if (owed === 0) {
      text += chunk.toString('latin1');
      const end = text.indexOf(headEnd);
      if (end < 0) return;
      const head = text.slice(0, end);
      const seen = witness.see(head);
      const came = text.length - end - headEnd.length;
      text = '';
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (length > 0) owed = length - came;
      else if (seen !== undefined) socket.write(seen, 'latin1');
      else if (/^GET \S+\/body /.test(head)) {
        socket.write(bodyHead);
        sendBody(socket, bodyBytes);
      } else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${item.length}${headEnd}${item}`);
      if (length === 0) return;
    } else owed -= chunk.length;
    if (owed === 0) socket.write(`HTTP/1.1 204 No Content${headEnd}`);
  });
}).listen(port, '127.0.0.1', 1024);
