// Source: docs/webhooks.md and examples/receivers.

const node = `import { createHmac, timingSafeEqual } from 'node:crypto';

/** Throws unless the request is signed with the secret, and not an old one. body is the raw body, a Buffer. */
export function verify(headers, body, secret, nowSeconds = Date.now() / 1000) {
  const stamp = headers['webhook-timestamp'] ?? '';
  if (!/^\\d+$/.test(stamp) || Math.abs(nowSeconds - Number(stamp)) > 300) throw new Error('too old');
  const signed = Buffer.concat([Buffer.from(\`\${headers['webhook-id'] ?? ''}.\${stamp}.\`), body]);
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const want = createHmac('sha256', key).update(signed).digest();
  for (const one of (headers['webhook-signature'] ?? '').split(' ')) { // two while a secret is rotated
    const got = Buffer.from(one.replace(/^v1,/, ''), 'base64');
    if (got.length === want.length && timingSafeEqual(got, want)) return;
  }
  throw new Error('wrong signature');
}`;

const python = `import base64, hashlib, hmac, time

def verify(headers, body, secret, now=None):
    """Raises unless the request is signed with the secret, and not an old one. body is the raw body, bytes."""
    stamp = headers["webhook-timestamp"]
    if abs((now or time.time()) - int(stamp)) > 300:
        raise ValueError("too old")
    signed = f"{headers['webhook-id']}.{stamp}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    want = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    if not any(hmac.compare_digest(one, want) for one in headers["webhook-signature"].split()):
        raise ValueError("wrong signature")`;

const go = `// verify returns an error unless the request is signed with the secret, and not an old one.
func verify(h http.Header, body []byte, secret string, now time.Time) error {
	seconds, err := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("too old")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", h.Get("webhook-id"), h.Get("webhook-timestamp"), body)
	for one := range strings.FieldsSeq(h.Get("webhook-signature")) {
		got, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(one, "v1,"))
		if err == nil && hmac.Equal(got, mac.Sum(nil)) {
			return nil
		}
	}
	return errors.New("wrong signature")
}`;

const java = `import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Webhooks {
  /** Throws unless the request is signed with the secret, and not an old one. body is the raw body. */
  static void verify(String id, String timestamp, String signatures, byte[] body, String secret, Instant now)
      throws GeneralSecurityException {
    long age = now.getEpochSecond() - Long.parseLong(timestamp);
    if (Math.abs(age) > 300) throw new SecurityException("too old");
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.replaceFirst("^whsec_", "")), "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
    byte[] want = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
    for (String one : signatures.split(" ")) // two while a secret is rotated
      if (MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), want)) return;
    throw new SecurityException("wrong signature");
  }
}`;

/** How a request is verified, by language. */
export const verifiers = [
  { language: 'Node', note: 'Only what Node has. headers is request.headers.', code: node },
  {
    language: 'Python',
    note: 'Only the standard library. headers takes names in any case, as those of http.server and Flask do.',
    code: python,
  },
  { language: 'Go', note: 'Only the standard library; Go 1.24 or newer.', code: go },
  {
    language: 'Java',
    note: 'Only the standard library. The three texts are the headers webhook-id, webhook-timestamp and webhook-signature.',
    code: java,
  },
];
