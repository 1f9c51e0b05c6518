// A registry of one package on this machine, so that `npm install pushcrypt` works as it stands. Prints its port.
// Usage: node registry.mjs TARBALL
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const tarball = readFileSync(process.argv[2]), version = /-([0-9].*)\.tgz$/.exec(process.argv[2])[1];
const server = createServer((request, response) => {
    if (request.url.endsWith(".tgz")) {
        response.end(tarball);
    } else if (request.url === "/pushcrypt") {
        const dist = { tarball: `http://127.0.0.1:${server.address().port}/pushcrypt.tgz`, integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}` };
        response.end(JSON.stringify({ name: "pushcrypt", "dist-tags": { latest: version }, versions: { [version]: { name: "pushcrypt", version, dist } } }));
    } else {
        response.writeHead(404).end();
    }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
