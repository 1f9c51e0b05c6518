"""The sender in each package's README.md, under "Send", in 15 lines or a few more, and the clients of Docs/Provider.md:
they send to a local APNs, and a phone opens what arrived. With the Python of `make setup PART=senders`.

    senders_test.py        LANGUAGES in the environment names fewer
"""
import asyncio, json, os, re, ssl, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "../../.."))
LANGUAGES = os.environ.get("LANGUAGES", "python javascript java go").split()
sys.path.insert(0, os.path.join(ROOT, "Sources/Languages/python/src"))
import aioapns  # noqa: E402
import jwt  # noqa: E402
from clients import Aioapns, Answer, Httpx, Local, compact, widest  # noqa: E402

from pushcrypt import ProviderKey, Sealer, StoredDevice  # noqa: E402
from pushcrypt.testing import DeviceKey, open_push  # noqa: E402

TOPIC, MOST_LINES = "com.example.app", 17
PROVIDER, PHONE = ProviderKey.generate(), DeviceKey.generate()
EXAMPLES = {}
for language in ("python", "javascript", "java", "go"):
    with open(os.path.join(ROOT, f"Sources/Languages/{language}/README.md"), encoding="utf-8") as file:
        EXAMPLES.update(re.findall(r"<!-- sender: (\S+) -->\n```\w+\n(.*?)```", file.read(), re.DOTALL))

MAIN = {
    "main.mjs": """import fs from "node:fs";
import http2 from "node:http2";
import { ProviderKey, Sealer } from "pushcrypt";
import { send } from "./send.mjs";
const [address, authority, jwt, secret, publicKey, token] = process.argv.slice(2);
const session = http2.connect(`https://${address}`, { ca: fs.readFileSync(authority) });
const device = { device: "phone1", topic: "com.example.app", publicKey, generation: 1, user: null, token, environment: "production" };
console.log(await send(session, new Sealer({ key: ProviderKey.parse(secret), topic: "com.example.app" }), device, { aps: { alert: "javascript" } }, "n", jwt));
session.close();
""",
    "Main.java": """import com.example.pushcrypt.*;
import java.net.URI;
import java.net.http.*;
import java.nio.file.*;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.List;
import javax.net.ssl.*;

class Main {
    static String address;

    static String at(String url) {
        return url.replace("api.push.apple.com", address);
    }

    %s

    public static void main(String[] own) throws Exception {
        address = own[0];
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setCertificateEntry("a", CertificateFactory.getInstance("X.509").generateCertificate(Files.newInputStream(Path.of(own[1]))));
        TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
        trusted.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trusted.getTrustManagers(), null);
        DevicePublicKey key = DevicePublicKey.parse(own[4]);
        DeviceRecord record = new DeviceRecord("phone1", key, List.of(1), "com.example.app", 1, null, null, null, null, own[5], "production", null, null, null);
        Sealer sealer = new Sealer(ProviderKey.parse(own[3]), "com.example.app");
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(context).build();
        System.out.println(send(client, sealer, new StoredDevice(record, null, false), "{\\"aps\\":{\\"alert\\":\\"java\\"}}", "n", own[2]));
    }
}
""",
    "main.go": """package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"strings"

	"example.com/pushcrypt/Sources/Languages/go"
)

func at(url string) string { return strings.Replace(url, "api.push.apple.com", os.Args[1], 1) }

%s
func main() {
	pem, _ := os.ReadFile(os.Args[2])
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	key, _ := pushcrypt.ParseProviderKey(os.Args[4])
	sealer, _ := pushcrypt.NewSealer(key, "com.example.app")
	public, _ := pushcrypt.ParseDevicePublicKey(os.Args[5])
	device := &pushcrypt.StoredDevice{DeviceRecord: pushcrypt.DeviceRecord{
		Device: "phone1", Topic: "com.example.app", PublicKey: public, Generation: 1, Token: os.Args[6], Environment: "production"}}
	fmt.Println(send(client, sealer, device, []byte(`{"aps":{"alert":"go"}}`), "n", os.Args[3]))
}
""",
}


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **more)
    assert done.returncode == 0, f"{command[0]}: {done.stderr[-2000:]}{done.stdout[-500:]}"
    return done.stdout


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def javascript(folder, *given):
    os.makedirs(os.path.join(folder, "node_modules"))
    os.symlink(os.path.join(ROOT, "Sources/Languages/javascript"), os.path.join(folder, "node_modules/pushcrypt"))
    write(folder, "send.mjs", EXAMPLES["send.mjs"])
    write(folder, "main.mjs", MAIN["main.mjs"])
    return run("node", "main.mjs", *given, cwd=folder)


def java(folder, *given):
    write(folder, "Main.java", MAIN["Main.java"] % EXAMPLES["Send.java"].replace("push.url()", "at(push.url())"))
    sources = run("find", os.path.join(ROOT, "Sources/Languages/java/src/main/java"), "-name", "*.java").split()
    run("javac", "-d", folder, *sources, cwd=folder)
    return run("java", "-cp", folder, "Main.java", *given, cwd=folder)


def go(folder, *given):
    write(folder, "main.go", MAIN["main.go"] % EXAMPLES["send.go"].replace("push.URL()", "at(push.URL())"))
    module, proxy = "example.com/pushcrypt/Sources/Languages/go", os.path.join(folder, "proxy")
    run(sys.executable, "-B", "Sources/Packaging/go-proxy.py", proxy, "--needed", cwd=ROOT)
    offline = {**os.environ, "GOPROXY": f"file://{proxy}", "GOSUMDB": "off", "GOFLAGS": "-mod=mod -modcacherw", "GOMODCACHE": os.path.join(folder, "modules")}
    place = os.path.join(folder, "main")
    os.makedirs(place)
    os.rename(os.path.join(folder, "main.go"), os.path.join(place, "main.go"))
    package = os.path.join(folder, "package")
    run("cp", "-R", os.path.join(ROOT, "Sources/Languages/go"), package)
    # The sums of go.sum are those of the public modules, and the folder has Debian's.
    os.remove(os.path.join(package, "go.sum"))
    run("go", "mod", "init", "example.com/sender", cwd=place, env=offline)
    run("go", "mod", "edit", f"-replace={module}={package}", cwd=place, env=offline)
    run("go", "get", module, cwd=place, env=offline)
    return run("go", "run", ".", *given, cwd=place, env=offline).replace(" <nil>", "")


def python(folder, address, authority, *given):
    scope = {"aioapns": aioapns, "json": json, "time": time}
    exec(EXAMPLES["send.py"], scope)

    async def once():
        context = ssl.create_default_context(cafile=authority)
        context.set_alpn_protocols(["h2"])
        with open(os.path.join(os.path.dirname(authority), "AuthKey_ABC123DEFG.p8")) as file:
            client = aioapns.APNs(key=file.read(), key_id="ABC123DEFG", team_id="TEAM123456", topic=TOPIC, ssl_context=context)
        client.pool.protocol_class = type("Local", (Local,), {"APNS_PORT": int(address.rpartition(":")[2])})
        device = StoredDevice(device="phone1", topic=TOPIC, public_key=PHONE.public_key, generation=1, token=given[-1], environment="production")
        return await scope["send"](client, Sealer(PROVIDER, topic=TOPIC), device, {"aps": {"alert": "python"}}, "n")

    return str(asyncio.run(once()))


async def recipes(folder, port):
    """Sends with each client of Docs/Provider.md. Returns the payload and expiration of each device token."""
    login, sealer, sent = ("ABC123DEFG", "AuthKey_ABC123DEFG.p8"), Sealer(PROVIDER, topic=TOPIC), {}
    ways = (Aioapns(folder, port, key=login, topic=TOPIC), Aioapns(folder, port, certificate=TOPIC),
            Httpx(folder, port, compact, key=login), Httpx(folder, port, widest, certificate=TOPIC))
    for number, client in enumerate(ways):
        token, payload = f"{number + 100:064x}", {"aps": {"alert": f"Zoë {number} 🎁"}}
        device = StoredDevice(device="phone1", topic=TOPIC, public_key=PHONE.public_key, generation=1, token=token,
                              environment="production")
        request = sealer.request(sealer.seal(payload, device, message_id="n"))
        names = ("token", "topic", "push_type", "priority", "expiration", "collapse_id")
        line = {name: getattr(request, name) for name in names} | {"payload": json.loads(request.payload)}
        answer = await client.send(line)
        assert answer == Answer(200), (number, answer)
        await client.close()
        sent[token] = payload, request.expiration
    return sent


def check_opened(folder, token, payload):
    """A phone opens the bytes that arrived for a device token. Returns what arrived."""
    with open(os.path.join(folder, "accepted")) as file:
        [line] = [line for line in map(json.loads, file) if line["token"] == token]
    opened = open_push(json.dumps(line["payload"]), topic=TOPIC, device=PHONE, provider=PROVIDER.public_key)
    assert json.loads(opened.payload) == payload, opened
    return line


def main():
    with tempfile.TemporaryDirectory() as folder:
        apns = os.path.join(folder, "apns")
        mock = subprocess.Popen(["/usr/bin/python3", os.path.join(HERE, "../Send/serve.py"), apns], stdout=subprocess.PIPE, text=True)
        try:
            address = mock.stdout.readline().strip()
            with open(os.path.join(apns, "AuthKey_ABC123DEFG.p8")) as file:
                login = jwt.encode({"iss": "TEAM123456", "iat": int(time.time())}, file.read(), "ES256", {"kid": "ABC123DEFG"})
            for number, language in enumerate(LANGUAGES, 1):
                place, token = os.path.join(folder, language), f"{number:064x}"
                os.makedirs(place)
                given = (address, os.path.join(apns, "authority.pem"), login, PROVIDER.secret_text(), str(PHONE.public_key), token)
                said = globals()[language](place, *given).strip()
                assert said == "200", f"{language}: {said}"
                check_opened(apns, token, {"aps": {"alert": language}})
            for token, (payload, expiration) in asyncio.run(recipes(apns, int(address.rpartition(":")[2]))).items():
                line = check_opened(apns, token, payload)
                assert abs(line["expiration"] - expiration) <= 60, line
        finally:
            mock.terminate()
    for name in ("send.py", "send.mjs", "Send.java", "send.go"):
        assert len(EXAMPLES[name].splitlines()) <= MOST_LINES, name
    print(f"packages: senders: {' '.join(LANGUAGES)}")


main()
