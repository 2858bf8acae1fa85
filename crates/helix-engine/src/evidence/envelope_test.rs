use super::{EvidenceKey, PAYLOAD_TYPE, Unopened, open, pre_authentication, public_keys};

fn key(seed: u8) -> EvidenceKey {
    EvidenceKey::new(&[seed; 32])
}

#[test]
fn what_is_signed_is_encoded_as_dsse_has_it() {
    let signed = pre_authentication("http://example.com/HelloWorld", b"hello world");
    assert_eq!(signed, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}

#[test]
fn an_envelope_opens_with_its_payload_and_signer_and_not_with_another_byte() {
    let text = key(1).seal(b"{}").unwrap();
    let opened = open(text.as_bytes()).ok().unwrap();
    assert_eq!((opened.payload.as_slice(), opened.signers.as_slice()), (&b"{}"[..], &[key(1).public()][..]));
    let other = text.replace(PAYLOAD_TYPE, "application/json");
    assert!(matches!(open(other.as_bytes()), Err(Unopened::Form(why)) if why.contains("application/json")));
    let more = format!("{text} ");
    assert!(matches!(open(more.as_bytes()), Err(Unopened::Form(_))));
    let stolen = text.replace(&key(1).public().to_string(), &key(2).public().to_string());
    assert!(matches!(open(stolen.as_bytes()), Err(Unopened::Signature(_))));
}

#[test]
fn keys_are_read_as_openssh_writes_them() {
    let (one, two) = (key(1).public(), key(2).public());
    let text = format!(
        "# allowed signers\nana@example.org {one} of Ana\nssh-rsa AAAAB3NzaC1yc2E=\n{two}\n\
         old@example.org valid-before=\"20200101\" {}\nssh-ed25519 AAAA\nssh-ed25519\n",
        key(3).public()
    );
    assert_eq!(public_keys(&text), [one, two]);
    assert!(public_keys("").is_empty());
}
