//! Signed statements: DSSE envelopes with Ed25519 signatures, and the keys for them.
//!
//! Must not know what is signed.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature as RawSignature, Signer, SigningKey, VerifyingKey};
use helix_store::Key;
use serde::{Deserialize, Serialize};

/// What is in the envelopes: a statement of in-toto.
pub(super) const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Largest envelope that is read or made, in bytes.
pub(super) const MAX_ENVELOPE: usize = 64 << 20;

/// Most signatures of an envelope.
const MAX_SIGNATURES: usize = 16;

/// How keys are called in OpenSSH's files.
const KEY_TYPE: &str = "ssh-ed25519";

/// The key that a state directory signs evidence with.
pub struct EvidenceKey(SigningKey);

impl EvidenceKey {
    /// Its file in the state directory.
    pub const FILE: &str = "evidence.key";

    pub fn new(key: &Key) -> Self {
        Self(SigningKey::from_bytes(key))
    }

    /// What others check its signatures with.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// A payload with this key's signature: the text of an envelope, one line.
    pub(super) fn seal(&self, payload: &[u8]) -> serde_json::Result<String> {
        let signature = self.0.sign(&pre_authentication(PAYLOAD_TYPE, payload)).to_bytes();
        Envelope {
            payload: STANDARD.encode(payload),
            payload_type: PAYLOAD_TYPE.to_owned(),
            signatures: vec![Signature { keyid: self.public().to_string(), sig: STANDARD.encode(signature) }],
        }
        .text()
    }
}

/// The public half of a key, in OpenSSH's form: `ssh-ed25519 AAAA…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut wire = Vec::new();
        for part in [KEY_TYPE.as_bytes(), self.0.as_bytes()] {
            // Both are far below the limit.
            wire.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
            wire.extend_from_slice(part);
        }
        write!(f, "{KEY_TYPE} {}", STANDARD.encode(wire))
    }
}

/// Reads exactly the form that is written.
impl FromStr for PublicKey {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "it is not an Ed25519 key in OpenSSH's form (`ssh-ed25519 AAAA…`)";
        let encoded = text.strip_prefix(KEY_TYPE).and_then(|rest| rest.strip_prefix(' ')).ok_or(FORM)?;
        let wire = STANDARD.decode(encoded).map_err(|_| FORM)?;
        let bytes: &[u8; 32] = wire.last_chunk().ok_or(FORM)?;
        let key = Self(VerifyingKey::from_bytes(bytes).map_err(|_| FORM)?);
        if key.to_string() == text { Ok(key) } else { Err(FORM) }
    }
}

/// The keys of a text: a public key, a file of them (`id_ed25519.pub`), or a file of allowed signers as `ssh-keygen` reads it. Lines
/// with options (`cert-authority`, `valid-before="…"`) are not taken, nor keys of other kinds.
pub fn public_keys(text: &str) -> Vec<PublicKey> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_principals @ .., kind, key] = words.get(..=words.iter().position(|word| *word == KEY_TYPE)? + 1)?
            else {
                return None;
            };
            if _principals.len() > 1 { None } else { format!("{kind} {key}").parse().ok() }
        })
        .collect()
}

/// An envelope of DSSE.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: String,
    signatures: Vec<Signature>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signature {
    /// The public key: a hint, as DSSE has it; whether it is trusted is for the reader.
    keyid: String,
    sig: String,
}

impl Envelope {
    fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|text| text + "\n")
    }
}

/// What was signed, and by which keys. Every signature is valid.
pub(super) struct Opened {
    pub(super) payload: Vec<u8>,
    pub(super) signers: Vec<PublicKey>,
}

/// Why an envelope is not opened.
#[derive(Debug)]
pub(super) enum Unopened {
    /// It is no envelope, or not in the one form in which it is written.
    Form(String),
    /// A signature is not valid.
    Signature(String),
}

/// Checks the form and all signatures of an envelope.
pub(super) fn open(text: &[u8]) -> Result<Opened, Unopened> {
    let form = |why: &str| Unopened::Form(why.to_owned());
    if text.len() > MAX_ENVELOPE {
        return Err(Unopened::Form(format!("it is larger than {} MiB", MAX_ENVELOPE >> 20)));
    }
    let envelope: Envelope = serde_json::from_slice(text).map_err(|error| Unopened::Form(error.to_string()))?;
    // One text for one content: nothing can hide in a second spelling, a field that is there twice, or after the end.
    if envelope.text().map_err(|error| Unopened::Form(error.to_string()))?.as_bytes() != text {
        return Err(form("it is not written as Helix writes it: fields, order, spaces or the end differ"));
    }
    if envelope.payload_type != PAYLOAD_TYPE {
        return Err(Unopened::Form(format!(
            "its payload is of the type {:?}, not {PAYLOAD_TYPE}",
            envelope.payload_type
        )));
    }
    let payload = STANDARD.decode(&envelope.payload).map_err(|_| form("its payload is not in base 64"))?;
    if envelope.signatures.is_empty() || envelope.signatures.len() > MAX_SIGNATURES {
        return Err(Unopened::Signature(format!(
            "it has {} signatures, not 1 to {MAX_SIGNATURES}",
            envelope.signatures.len()
        )));
    }
    let signed = pre_authentication(PAYLOAD_TYPE, &payload);
    let mut signers = Vec::new();
    for Signature { keyid, sig } in &envelope.signatures {
        let wrong = |why: &str| Unopened::Signature(format!("the signature of {keyid:?}: {why}"));
        let key: PublicKey = keyid.parse().map_err(wrong)?;
        let sig = STANDARD.decode(sig).map_err(|_| wrong("it is not in base 64"))?;
        let sig = RawSignature::from_slice(&sig).map_err(|_| wrong("it has not 64 bytes"))?;
        key.0.verify_strict(&signed, &sig).map_err(|_| wrong("it is not one of this key over this payload"))?;
        if signers.contains(&key) {
            return Err(wrong("this key has signed twice"));
        }
        signers.push(key);
    }
    Ok(Opened { payload, signers })
}

/// What is signed: DSSE's pre-authentication encoding of type and payload.
fn pre_authentication(kind: &str, payload: &[u8]) -> Vec<u8> {
    let mut all = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len()).into_bytes();
    all.extend_from_slice(payload);
    all
}

#[cfg(test)]
#[path = "envelope_test.rs"]
mod tests;
